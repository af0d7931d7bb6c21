"""Trials of several reports, and of a report and a baseline, put together: all of them, never the best ones.

A trial is counted once. A report whose trials are in the baseline is known by its digest; where a later report holds
an earlier one's trials again (a run that was resumed with more of them), those passes are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from evalward.records.base import digest
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun, BaselineTrial, baseline_case, baseline_trial
from evalward.records.policy import Policy
from evalward.records.problem import InputError, Place, Problem
from evalward.records.report import Report, Run
from evalward.records.result import NOT_RUN, Result, Status, by_case

MOST_TRIALS = 20
"""Trials of a case that pooling keeps, the newest: more make no verdict sharper, and the file longer."""
_MOST_NAMES = 5

Key = tuple[str, str, str]


class NamedReport(Struct, frozen=True, dict=True):
    """A report and its file's name, for messages."""

    report: Report
    file: str

    @cached_property
    def digest(self) -> str:
        """What identifies its trials."""
        return report_digest(self.report)


def run_key(run: Run | BaselineRun) -> Key:
    """What makes two runs the same: suite, target and kind."""
    return run.suite, run.target, run.kind


def report_digest(report: Report) -> str:
    """What identifies a report's trials: all that was measured, and nothing of when or how the file was written."""
    runs = [
        [
            *run_key(run),
            run.subject.hash,
            [_identity(result) for result in sorted(run.cases, key=_order) if result.valid],
        ]
        for run in sorted(report.runs, key=run_key)
    ]
    return digest(runs)


def _identity(result: Result) -> list[str | int]:
    trial = baseline_trial(result).model_dump_json(exclude_defaults=True)
    return [result.id, result.definition, result.trial, trial]


def _order(result: Result) -> tuple[str, int]:
    return result.id, result.trial


# --- what could not be run ------------------------------------------------------------------------------------------


def without_skipped(report: Report, previous: Baseline | None, policy: Policy) -> tuple[Report, list[str]]:
    """The report without the skipped trials that stand in nobody's way, and what was left out, in sentences.

    They may go where the policy waives the case, and where the baseline doesn't know it. A run of which nothing would
    be left stays as it is, unless it is waived, or another harness skipped it: it says itself whom it evaluates.
    """
    known = {run_key(run): {case.id for case in run.cases} for run in previous.runs} if previous else {}
    runs: list[Run] = []
    notes: list[str] = []
    for run in report.runs:
        waived = policy.waiver(run.suite, run.target, run.name) is not None
        old = known.get(run_key(run), set())
        gone = [r for r in run.cases if _may_go(r) and (waived or r.id not in old or policy.waiver(r.id))]
        if not gone or (len(gone) == len(run.cases) and not waived and not run.subject.measured_by_harness):
            runs.append(run)
            continue
        notes.append(f"{run.name}: left out, because it could not be run: {_some(r.id for r in gone)}")
        if len(gone) < len(run.cases):
            kept = [result for result in run.cases if result not in gone]
            runs.append(run.model_copy(update={"cases": kept, "planned": max(0, run.planned - len(gone))}))
    return report.model_copy(update={"runs": runs}), notes


def _may_go(result: Result) -> bool:
    return result.status is Status.SKIPPED and result.reason != NOT_RUN


def _some(names: Iterable[str]) -> str:
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
    return ", ".join(every[:_MOST_NAMES]) + more


# --- several reports ------------------------------------------------------------------------------------------------


def combine(measured: Sequence[NamedReport]) -> Report:
    """The reports as one, whatever their order: the newest with the trials of all. A single one stays as it is.

    Runs of targets that always do the same are the newest report's: more trials of them say nothing. Raises
    `InputError` unless all have the same runs, subjects, cases and definitions.
    """
    if len(measured) == 1:
        return measured[0].report
    ordered = sorted(measured, key=lambda one: (one.report.created_at, one.digest))
    problems = [problem for one in ordered[:-1] for problem in _differences(one, ordered[-1])]
    if problems:
        raise InputError(problems)
    newest = ordered[-1].report
    by_key = [{run_key(run): run for run in one.report.runs} for one in ordered]
    return newest.model_copy(
        update={"runs": [_combined([runs[run_key(run)] for runs in by_key]) for run in newest.runs]}
    )


def _differences(one: NamedReport, newest: NamedReport) -> list[Problem]:
    ours, theirs = ({run_key(run): run for run in side.report.runs} for side in (one, newest))
    remedy = "Pool reports of one and the same thing, or update with each of them in turn."
    found = [
        f"{(ours.get(key) or theirs[key]).name} is in only one of this report and {newest.file}"
        for key in sorted(ours.keys() ^ theirs.keys())
    ]
    for key in sorted(ours.keys() & theirs.keys()):
        if ours[key].subject.hash != theirs[key].subject.hash:
            parts = changed_parts(ours[key], theirs[key])
            found.append(f"{ours[key].name} measured a different subject than {newest.file} (differing: {parts})")
        elif _definitions(ours[key]) != _definitions(theirs[key]):
            found.append(f"{ours[key].name} has different cases than {newest.file}")
    return [Problem(place=Place(file=one.file), message=message, remedy=remedy) for message in found]


def _definitions(run: Run) -> dict[str, str]:
    return {result.id: result.definition for result in run.cases}


def changed_parts(before: Run | BaselineRun, now: Run | BaselineRun) -> str:
    """The names of the subject's parts that differ: `bashkit, system`."""
    ours, theirs = before.subject.parts, now.subject.parts
    return ", ".join(sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))) or "the hashes"


def _combined(runs: Sequence[Run]) -> Run:
    newest = runs[-1]
    if not newest.random:
        return newest
    pooled: dict[str, list[Result]] = defaultdict(list)
    for run in runs:
        known = {case_id: [baseline_trial(result) for result in results] for case_id, results in pooled.items()}
        for result in sorted(fresh(run.cases, known), key=_order):
            pooled[result.id].append(result)
    cases = [
        result.model_copy(update={"trial": number})
        for results in pooled.values()
        for number, result in enumerate(results[-MOST_TRIALS:], 1)
    ]
    most = max(Counter(result.id for result in cases).values(), default=0)
    return newest.model_copy(update={"cases": cases, "planned": len(cases), "trials": most})


def fresh(results: Sequence[Result], known: Mapping[str, Sequence[BaselineTrial]]) -> list[Result]:
    """The results of the passes that aren't known as a whole: every trial of a pass, to its duration."""
    passes: dict[int, list[Result]] = defaultdict(list)
    for result in results:
        passes[result.trial].append(result)
    old = {
        number
        for number, trials in passes.items()
        if all(baseline_trial(result) in known.get(result.id, ()) for result in trials)
    }
    return [result for result in results if result.trial not in old]


# --- report and baseline --------------------------------------------------------------------------------------------


def pooled_run(run: Run, old: BaselineRun | None) -> tuple[list[BaselineCase] | None, list[str]]:
    """The cases of both sides with all their trials, and what was replaced instead, in sentences.

    `None` when the run replaces the baseline's: it is new, its subject changed, or its target always does the same.
    """
    if old is None or not run.random or run_key(run) != run_key(old):
        return None, []
    if run.subject.hash != old.subject.hash:
        return None, [f"{run.name}: replaced, not pooled: its subject changed ({changed_parts(old, run)})"]
    definitions = _definitions(run)
    same = {case.id: case for case in old.cases if definitions.get(case.id) == case.definition}
    new = fresh(run.cases, {case_id: case.trials for case_id, case in same.items()})
    added = by_case(new)
    cases = [
        _pooled_case(results, added.get(case, ()), same.get(case))
        for case, results in sorted(by_case(run.cases).items())
    ]
    redefined = [case.id for case in old.cases if case.id in definitions and case.id not in same]
    notes = [f"{run.name}: replaced, not pooled, because redefined: {_some(redefined)}"] if redefined else []
    if len(new) < len(run.cases):
        known = len(run.cases) - len(new)
        are = "is" if known == 1 else "are"
        notes.append(f"{run.name}: {known} of {len(run.cases)} trials {are} in the baseline already")
    return cases, notes


def kept_run(run: Run, old: BaselineRun | None, moved: Collection[str] | None) -> tuple[list[BaselineCase], list[str]]:
    """The cases with every trial that was made, fresh ones too, and what was left out, in sentences.

    Cases that did as before keep their earlier trials beside the new ones; those that `moved` have the new ones only,
    and so has every case where `moved` is `None`. A case without a valid trial keeps what the baseline has of it.
    """
    known = {case.id: case for case in old.cases} if old else {}
    pools = moved is not None and run.random and old is not None
    cases: list[BaselineCase] = []
    lost: list[str] = []
    for case_id, results in _made(run).items():
        same = known.get(case_id)
        same = same if same is not None and same.definition == results[0].definition else None
        new = [baseline_trial(result) for result in results if result.valid]
        earlier = same.trials if same and (not new or (pools and case_id not in (moved or ()))) else []
        trials = [*earlier, *new][-MOST_TRIALS:]
        if trials:
            shown = results[0]
            cases.append(BaselineCase(id=case_id, category=shown.category, definition=shown.definition, trials=trials))
        if not new:
            lost.append(case_id)
    notes = [f"{run.name}: nothing new, because no trial was valid: {_some(lost)}"] if lost else []
    return sorted(cases, key=lambda case: case.id), notes


def _made(run: Run) -> dict[str, list[Result]]:
    """All results of each case: the planned ones, then the fresh ones that ask the same."""
    found = by_case(sorted(run.cases, key=_order))
    for result in sorted(run.confirmation, key=_order):
        if result.id in found and found[result.id][0].definition == result.definition:
            found[result.id].append(result)
    return found


def _pooled_case(results: Sequence[Result], new: Sequence[Result], same: BaselineCase | None) -> BaselineCase:
    made = baseline_case(results[0], sorted(new, key=_order))
    kept = [*same.trials, *made.trials][-MOST_TRIALS:] if same else made.trials
    return made.model_copy(update={"trials": kept})
