"""Suites that are compared with the base commit, measured now: their side of it stands in for the committed baseline.

Where the base could not be measured, nothing was compared: that is inconclusive, and never a pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from evalward.decide.kinds import UNKNOWN, Kinds
from evalward.decide.pooling import Key, run_key
from evalward.records.baseline import (
    Baseline,
    BaselineCase,
    BaselineProvenance,
    BaselineRun,
    baseline_case,
    baseline_run,
)
from evalward.records.codes import Statement
from evalward.records.codes import advice as to_do
from evalward.records.codes.base import FIRST
from evalward.records.codes.notices import BaseCasesLost
from evalward.records.codes.reasons import BaseErrors, BaseNotMeasured, RenamedRun
from evalward.records.comparison import BaseNow
from evalward.records.metric import EPSILON
from evalward.records.policy import Policy
from evalward.records.report import MeasuredBase, Report, Run
from evalward.records.result import Result, Status, by_case
from evalward.records.texts import MOST_IN_REPORT, texts_of
from evalward.records.verdict import Outcome, Reason, Verdict


def compared_with(report: Report, committed: Baseline | None, suites: Collection[str], kinds: Kinds) -> Baseline | None:
    """The baseline that judges a report: the committed one, but of `suites` what was measured of the base now."""
    if not suites:
        return committed
    kept = [run for run in committed.runs if run.suite not in suites] if committed else []
    found = report.base or MeasuredBase()
    made = [_baseline_run(run, kinds) for run in found.runs if run.suite in suites]
    if not made and committed is None:
        return None
    provenance = committed.provenance if committed else _provenance(report, found)
    runs = sorted([*kept, *made], key=lambda run: (run.suite, run.target))
    texts = texts_of(runs, [committed.texts if committed else {}, report.texts], MOST_IN_REPORT)
    return Baseline(provenance=provenance, runs=runs, texts=texts)


def _provenance(report: Report, found: MeasuredBase) -> BaselineProvenance:
    return BaselineProvenance(created_at=report.created_at, commit=found.commit, evalward=report.tool.version)


def _baseline_run(run: Run, kinds: Kinds) -> BaselineRun:
    measured = kinds.get(run.kind, UNKNOWN).measure([result for result in run.cases if result.valid])
    return baseline_run(run, [_case(results) for _, results in sorted(by_case(run.cases).items())], measured)


def _case(results: Sequence[Result]) -> BaselineCase:
    return baseline_case(results[0], [result for result in results if result.status is not Status.SKIPPED])


def bases_now(report: Report, suites: Collection[str]) -> Mapping[Key, BaseNow]:
    """What each run of `suites` was compared with where that is the base commit, measured now."""
    found = report.base or MeasuredBase()
    return {run_key(run): _base_now(run, found.commit) for run in found.runs if run.suite in suites}


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
    verdict = verdict.noting(*_lost_cases(report))
    return verdict.with_reasons([*_reasons(report, policy), *_gone_from_base(verdict, report, policy)])


def _reasons(report: Report, policy: Policy) -> Iterator[Reason]:
    found = report.base
    explained: set[str] = set()
    for run in report.runs:
        if run.suite not in policy.with_base or run.not_measured is not None:
            continue
        names = {run.name, run.suite}
        why = next((n for key, n in found.notes.items() if key in names), None) if found else None
        if found is None or why is not None:
            explained |= names
            yield _inconclusive(BaseNotMeasured(name=run.name, why=why), run)
    for name, why in (found.notes if found else {}).items():
        if name not in explained:
            yield _inconclusive(BaseNotMeasured(name=name, why=why), None)
    for run in found.runs if found else []:
        yield from _broken(run, policy)


def _gone_from_base(verdict: Verdict, report: Report, policy: Policy) -> Iterator[Reason]:
    """The base's runs that are gone and have a successor: it was compared with nothing, so a new name is no way out.

    On the base's side only what has the same name is measured.
    """
    here = {(run.suite, run.target) for run in report.runs}
    missing = {(reason.suite, reason.target) for reason in verdict.reasons if reason.stage == "missing"}
    for run in report.base.runs if report.base and not report.partial else []:
        known = (run.suite, run.target) in here | missing or run.suite not in policy.with_base
        if known or policy.waiver(run.suite, run.target, run.name):
            continue
        yield Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            statements=[RenamedRun(suite=run.suite, target=run.target)],
            advice=[to_do.Advice(code="advice.keep_old_name")],
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
        broke = BaseErrors(
            suite=run.suite,
            target=run.target,
            count=len(lost),
            first=tuple(lost[:FIRST]),
            errors=errors,
            trials=len(tried),
        )
        yield _inconclusive(broke, run, "advice.base_errors", lost)


def _lost_cases(report: Report) -> Iterator[Statement]:
    """Cases of which no trial of the base is valid: they are compared with nothing."""
    for run in report.base.runs if report.base else []:
        valid = {result.id for result in run.cases if result.valid}
        lost = sorted({result.id for result in run.cases if result.status is Status.ERROR} - valid)
        if lost:
            yield BaseCasesLost(suite=run.suite, target=run.target, count=len(lost), first=tuple(lost[:FIRST]))


def _inconclusive(
    found: Statement, run: Run | None, advice: to_do.Plain = "advice.measure_base", cases: Sequence[str] = ()
) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        statements=[found],
        advice=[to_do.Advice(code=advice)],
        suite=run.suite if run else None,
        target=run.target if run else None,
        cases=list(cases),
    )
