"""What a pass means, in one short sentence at any size, and what it did not compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.codes import passing as codes
from evalward.records.unchanged import day_of
from evalward.render.numbers import plural
from evalward.render.sentences.dispatch import says

_RUNS = 3  # that a sentence names


@says.register
def _(found: codes.FirstRun) -> str:
    failing = f"{found.failing:,} of {plural(found.cases, 'case')} {'fails' if found.failing == 1 else 'fail'}"
    parts = [
        "there is no baseline yet",
        *(["every floor and ceiling is met"] if found.limited else []),
        *([failing] if found.failing else []),
    ]
    return "; ".join(parts)


@says.register
def _(_found: codes.NothingCompared) -> str:
    return "nothing could be compared: no case is in the baseline yet"


@says.register
def _(found: codes.NothingWorse) -> str:
    lost, count = ("broke", found.broke) if found.broke else ("got worse", found.worse)
    parts = [f"{_count(count, found)} {lost}{_in_runs(found)}"] if count else []
    parts += [f"{plural(found.flaky, 'flaky case')} failed"] if found.flaky and not count else []
    parts += (
        [f"{found.fixed:,} got fixed" if count else f"{plural(found.fixed, 'case')} got fixed"] if found.fixed else []
    )
    meaning = "nothing got worse by more than the policy allows" if found.within else "nothing got worse"
    return f"{meaning}{': ' if found.within else ', '}{' and '.join(parts)}" if parts else meaning


def _count(count: int, found: codes.NothingWorse) -> str:
    """`57 of 5,000 cases`; with several runs `4 cases`."""
    return f"{count:,} of {plural(found.cases, 'case')}" if found.runs == 1 else plural(count, "case")


def _in_runs(found: codes.NothingWorse) -> str:
    return "" if found.runs == 1 else f" in {found.lost_in} of {found.runs} runs"


@says.register
def _(found: codes.StandsUnchanged) -> str:
    if found.all:
        return f"nothing was measured: the change touches nothing that the suites depend on ({_baseline_of(found)})"
    return f"not measured, unchanged since the baseline: {', '.join(_named(found.runs))}"


@says.register
def _(found: codes.CasesStand) -> str:
    of_all = f"{found.cases:,} of {plural(found.total, 'case')}"
    return f"not measured, unchanged since the baseline of {day_of(found.since)}: {of_all}"


def _baseline_of(found: codes.StandsUnchanged) -> str:
    return f"the baseline of {day_of(found.since)} stands"


@says.register
def _(found: codes.NotCompared) -> str:
    return f"not compared: {', '.join([*_whole_runs(found), *_cases(found)])}"


def _whole_runs(found: codes.NotCompared) -> Iterator[str]:
    """Runs that only one side has, or that were not measured."""
    yield from _named([_new(run) for run in found.new_runs])
    yield from _named([f"{run} (missing)" for run in found.missing_runs])
    yield from _named([f"{run} (not measured)" for run in found.unmeasured_runs])


def _named(runs: Sequence[str]) -> Iterator[str]:
    if runs:
        yield ", ".join(runs[:_RUNS]) + (f" and {len(runs) - _RUNS} more" if len(runs) > _RUNS else "")


def _new(run: codes.NewRun) -> str:
    fail = "fails" if run.failing == 1 else "fail"
    how = f"; {run.failing:,} of {plural(run.cases, 'case')} {fail}" if run.failing else ""
    return f"{run.run} (new{how})"


def _cases(found: codes.NotCompared) -> Iterator[str]:
    """Cases of the runs that both sides have, and how many cases a selection left out."""
    if found.added:
        yield plural(found.added, "new case") + _failing(found)
    if found.redefined:
        yield plural(found.redefined, "redefined case")
    if found.not_valid:
        yield f"{plural(found.not_valid, 'case')} without a valid trial"
    if found.missing:
        yield plural(found.missing, "missing case")
    if found.not_chosen:
        yield f"{plural(found.not_chosen, 'case')} not selected"


def _failing(found: codes.NotCompared) -> str:
    """` (fails)`, ` (all fail)` or ` (2 fail)`, of the new cases."""
    if not found.failing:
        return ""
    some = "all " if found.failing == found.added else f"{found.failing:,} "
    return f" ({'' if found.added == 1 else some}{'fails' if found.failing == 1 else 'fail'})"
