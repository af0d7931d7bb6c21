"""All cases of all runs, a row each: how it ended, what changed, how often it passed, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.comparison import CaseChange, RunComparison, Tally
from evalward.records.report import Run
from evalward.records.result import NOT_RUN, Result, Status, by_case
from evalward.render.anchors import case_anchor
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.changes import UNKNOWN, mean
from evalward.render.html.sides import RunTrials
from evalward.render.names import spoken
from evalward.render.view import MISSING, RESULTS, Badge

_NOT_RUN = Badge("–", "not run", "dim", "–")


@dataclass(frozen=True)
class ListedCase:
    """One case. `anchor` is the row's id where it is the place of the case, `link` the fragment where it isn't."""

    id: str
    category: str
    anchor: str
    link: str
    badge: Badge
    change: str
    before: str
    now: str
    cost: str


@dataclass(frozen=True)
class RunCases:
    """The cases of one run; `why` says why there are none."""

    suite: str
    target: str
    lines: list[ListedCase]
    why: str = ""


def compared_cases(run: RunComparison, trials: RunTrials, book: AnchorBook) -> RunCases:
    """All cases of a run that was compared, in the order of their ids."""
    lines = [_compared(case, run, trials, book) for case in run.cases]
    why = ""
    if not lines:
        why = f"Not measured: {run.not_measured}" if run.not_measured else "The judgement lists no case of this run."
    return RunCases(run.suite, run.target, lines, why)


def _compared(case: CaseChange, run: RunComparison, trials: RunTrials, book: AnchorBook) -> ListedCase:
    anchor = book.take(run.suite, run.target, case.id)
    return ListedCase(
        id=case.id,
        category=case.category,
        anchor=anchor,
        link="" if anchor else case_anchor(run.suite, run.target, case.id),
        badge=_badge(case),
        change="" if case.change == "same" else spoken(case.change),
        before=_passes(case.before),
        now=_passes(case.now),
        cost=mean([each.usage.cost_usd for each in trials.now.get(case.id, [])], "usd"),
    )


def _badge(case: CaseChange) -> Badge:
    if case.now is not None:
        return RESULTS[Status.PASSED if case.now.passes else Status.FAILED]
    if case.note == NOT_RUN:
        return _NOT_RUN
    if case.change == "missing":
        return MISSING
    return RESULTS[Status.SKIPPED if case.skipped else Status.ERROR]


def _passes(tally: Tally | None) -> str:
    return UNKNOWN if tally is None else f"{tally.passed:,} of {tally.trials:,}"


def measured_cases(run: Run, book: AnchorBook) -> RunCases:
    """All cases of a run that nothing was compared with."""
    cases = by_case(run.cases)
    lines = [_measured(name, results, run, book) for name, results in cases.items()]
    why = f"Not measured: {run.not_measured}" if run.not_measured else ""
    return RunCases(run.suite, run.target, lines, why or ("" if lines else "The report lists no case of this run."))


def _measured(name: str, results: Sequence[Result], run: Run, book: AnchorBook) -> ListedCase:
    tally = Tally.of(results)
    anchor = book.take(run.suite, run.target, name)
    return ListedCase(
        id=name,
        category=results[0].category,
        anchor=anchor,
        link="" if anchor else case_anchor(run.suite, run.target, name),
        badge=_ended(tally, results),
        change="",
        before=UNKNOWN,
        now=_passes(tally),
        cost=mean([each.usage.cost_usd for each in results], "usd"),
    )


def _ended(tally: Tally | None, results: Sequence[Result]) -> Badge:
    if tally is not None:
        return RESULTS[Status.PASSED if tally.passes else Status.FAILED]
    if all(result.reason == NOT_RUN for result in results):
        return _NOT_RUN
    return RESULTS[next((each.status for each in results if each.status is Status.ERROR), Status.SKIPPED)]
