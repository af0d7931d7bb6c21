"""Suites that are compared with the base commit, measured now: their side of it stands in for the committed baseline.

Where the base could not be measured, nothing was compared: that is inconclusive, and never a pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from evalward.decide.kinds import UNKNOWN, Kinds
from evalward.decide.sentences import some_of
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, baseline_trial
from evalward.records.comparison import BaseNow, Comparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Policy
from evalward.records.report import MeasuredBase, Report, Run
from evalward.records.result import Result, Status
from evalward.records.verdict import Outcome, Reason, Verdict

_BY_NAME = "the base is measured under its own names"
_RENAMED = (
    "Keep the old name beside the new one in this pull request and remove it in the next; or waive it in the config, "
    "with a reason: a pull request is judged by its base's."
)
_REMEDY = (
    "Measure it where the base commit is: check out with `fetch-depth: 2` or more, or name it with "
    "`evalward check --base COMMIT`. Or compare the suite with a committed baseline: `compare_with: baseline`."
)
_NO_BASE = "this report holds no measurement of the base"


def judged_against(
    report: Report, committed: Baseline | None, suites: Collection[str], kinds: Kinds
) -> Baseline | None:
    """The baseline that judges a report: the committed one, but of `suites` what was measured of the base now."""
    if not suites:
        return committed
    kept = [run for run in committed.runs if run.suite not in suites] if committed else []
    found = report.base or MeasuredBase()
    made = [_baseline_run(run, kinds) for run in found.runs if run.suite in suites]
    if not made and committed is None:
        return None
    provenance = committed.provenance if committed else _provenance(report, found)
    return Baseline(provenance=provenance, runs=sorted([*kept, *made], key=lambda run: (run.suite, run.target)))


def _provenance(report: Report, found: MeasuredBase) -> BaselineProvenance:
    return BaselineProvenance(created_at=report.created_at, commit=found.commit, evalward=report.tool.version)


def _baseline_run(run: Run, kinds: Kinds) -> BaselineRun:
    by_case: dict[str, list[Result]] = defaultdict(list)
    for result in run.cases:
        by_case[result.id].append(result)
    measurement = kinds.get(run.kind, UNKNOWN).measure([result for result in run.cases if result.valid])
    return BaselineRun(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        trials=run.trials,
        random=run.random,
        subject=run.subject,
        metrics=measurement.metrics,
        categories=measurement.categories,
        cases=[_case(results) for _, results in sorted(by_case.items())],
    )


def _case(results: Sequence[Result]) -> BaselineCase:
    first = results[0]
    trials = [baseline_trial(result) for result in results if result.status is not Status.SKIPPED]
    return BaselineCase(id=first.id, category=first.category, definition=first.definition, trials=trials)


def committed_only(baseline: Baseline | None, suites: Collection[str]) -> Baseline | None:
    """The baseline without the suites that were measured now: it is no fault of theirs to be old or thin."""
    if baseline is None:
        return None
    return baseline.model_copy(update={"runs": [run for run in baseline.runs if run.suite not in suites]})


def with_base_named(comparison: Comparison, report: Report, suites: Collection[str]) -> Comparison:
    """The comparison, whose runs say where they were compared with the base commit."""
    found = report.base or MeasuredBase()
    known = {(run.suite, run.target, run.kind): _base_now(run, found.commit) for run in found.runs}
    runs = [
        run.model_copy(update={"base_now": known.get((run.suite, run.target, run.kind))})
        if run.suite in suites
        else run
        for run in comparison.runs
    ]
    return comparison.model_copy(update={"runs": runs})


def _base_now(run: Run, commit: str | None) -> BaseNow:
    made = [result for result in run.cases if result.status is not Status.SKIPPED]
    costs = [result.usage.cost_usd for result in made if result.valid]
    known = [cost for cost in costs if cost is not None]
    return BaseNow(commit=commit, trials=len(made), cost_usd=sum(known) if len(known) == len(costs) else None)


def with_baseline(report: Report, policy: Policy) -> Report:
    """The report without the suites that have no committed baseline."""
    return report.model_copy(update={"runs": [run for run in report.runs if run.suite not in policy.with_base]})


def baseless(report: Report, policy: Policy) -> list[str]:
    """What is left out of a baseline, in sentences."""
    names = dict.fromkeys(run.suite for run in report.runs if run.suite in policy.with_base)
    return [f"{name}: left out, as it is compared with the base commit and needs no baseline" for name in names]


def with_unmeasured_base(verdict: Verdict, report: Report, policy: Policy) -> Verdict:
    """The verdict, and what could not be compared because the base was not, or not well enough, measured."""
    verdict = verdict.model_copy(update={"warnings": [*verdict.warnings, *_warnings(report)]})
    return verdict.with_reasons([*_reasons(report, policy), *_evaded(verdict, report, policy)])


def _reasons(report: Report, policy: Policy) -> Iterator[Reason]:
    found = report.base
    told: set[str] = set()
    for run in report.runs:
        if run.suite not in policy.with_base or run.not_measured is not None:
            continue
        names = {run.name, run.suite}
        why = _NO_BASE if found is None else next((n for key, n in found.notes.items() if key in names), None)
        if why is not None:
            told |= names
            yield _inconclusive(f"{run.name} was not compared with the base: {why}", run)
    for name, why in (found.notes if found else {}).items():
        if name not in told:
            yield _inconclusive(f"{name} was not compared with the base: {why}", None)
    for run in found.runs if found else []:
        yield from _broken(run, policy)


def _evaded(verdict: Verdict, report: Report, policy: Policy) -> Iterator[Reason]:
    """The base's runs that are gone and have a successor: it was compared with nothing, so a new name is no way out.

    On the base's side only what has the same name is measured.
    """
    here = {(run.suite, run.target) for run in report.runs}
    told = {(reason.suite, reason.target) for reason in verdict.reasons if reason.stage == "missing"}
    for run in report.base.runs if report.base and not report.partial else []:
        known = (run.suite, run.target) in here | told or run.suite not in policy.with_base
        if known or policy.waiver(run.suite, run.target, run.name):
            continue
        yield Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            message=f"{run.name} has another name now, so it was compared with nothing: {_BY_NAME}",
            remedy=_RENAMED,
            suite=run.suite,
            target=run.target,
        )


def _broken(run: Run, policy: Policy) -> Iterator[Reason]:
    """The base's trials that broke leave cases without anything to compare them with."""
    tried = [result for result in run.cases if result.status is not Status.SKIPPED]
    valid = {result.id for result in tried if result.valid}
    lost = sorted({result.id for result in tried} - valid)
    errors = sum(result.status is Status.ERROR for result in tried)
    if lost and errors > policy.limits.max_error_rate * len(tried) + EPSILON:
        message = f"{run.name}: {errors} of {len(tried)} trials of the base broke, so {some_of(lost)} can't be compared"
        yield _inconclusive(message, run, "Not the target's fault. Run it again.", lost)


def _warnings(report: Report) -> list[str]:
    """Cases of which no trial of the base is valid: they are compared with nothing."""
    told = []
    for run in report.base.runs if report.base else []:
        valid = {result.id for result in run.cases if result.valid}
        lost = sorted({result.id for result in run.cases if result.status is Status.ERROR} - valid)
        if lost:
            told.append(f"{run.name}: no trial of the base is valid of {some_of(lost)}: compared with nothing")
    return told


def _inconclusive(message: str, run: Run | None, remedy: str = _REMEDY, cases: Sequence[str] = ()) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        message=message,
        remedy=remedy,
        suite=run.suite if run else None,
        target=run.target if run else None,
        cases=list(cases),
    )
