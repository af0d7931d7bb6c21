"""The baseline that a report is accepted into: every trial that was paid for, and no fewer than before."""

from __future__ import annotations

from msgspec import Struct

from evalward.commands.pipeline import decide_report, kinds_of
from evalward.decide.baseline import NO_POLICY, BaselineUpdate, Moved, update_baseline
from evalward.decide.pooling import NamedReport
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, Comparison
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.verdict import Verdict


class UpdateOutcome(Struct, frozen=True):
    """What an update comes to, and the verdict of the report against it."""

    update: BaselineUpdate
    verdict: Verdict


def kept_baseline(
    measured: NamedReport, previous: Baseline | None, policy: Policy = NO_POLICY, comparison: Comparison | None = None
) -> UpdateOutcome:
    """The update by all trials of the report, fresh ones too; cases that did as before keep their earlier trials.

    A run that its own new baseline would still call worse has moved as a whole (more tokens, say): of it the new
    trials alone stay. `comparison` is the report's with `previous`, where it is made already. Raises `InputError` for a
    report that can't be a baseline.
    """
    report = measured.report
    if comparison is None and previous is not None:
        comparison = decide_report(report, previous, policy).comparison
    moved = _moved(comparison) if comparison is not None and previous is not None else {}
    kept = _updated(measured, previous, policy, moved)
    left = _left(kept.verdict, moved)
    return kept if left == moved else _updated(measured, previous, policy, left)


def _updated(measured: NamedReport, previous: Baseline | None, policy: Policy, moved: Moved) -> UpdateOutcome:
    report = measured.report
    update = update_baseline([measured], previous, kinds_of(report), keep=moved, policy=policy)
    verdict = decide_report(report, update.baseline, policy).verdict
    alone = _without_the_base(report, verdict, policy)
    return UpdateOutcome(update, verdict if alone is report else decide_report(alone, update.baseline, policy).verdict)


def _without_the_base(report: Report, verdict: Verdict, policy: Policy) -> Report:
    """Without the base beside the runs that look worse: what they lost against it is taken, the new baseline has it.

    It stays where it excuses a run (a provider that drifted), and in suites that are compared with the base, accepted
    or not.
    """
    worse = _worse(verdict)
    taken = [
        r.beside is not None and (r.suite, r.target) in worse and r.suite not in policy.with_base for r in report.runs
    ]
    if not any(taken):
        return report
    runs = [
        run.model_copy(update={"beside": None}) if out else run for run, out in zip(report.runs, taken, strict=True)
    ]
    return report.model_copy(update={"runs": runs})


def _moved(comparison: Comparison) -> Moved:
    """Of each random run that the baseline knows, the cases that got worse or better for good."""
    known = [run for run in comparison.runs if run.random and not run.added and not run.missing]
    return {(r.suite, r.target, r.kind): frozenset(case.id for case in r.cases if _has_moved(case)) for r in known}


def _has_moved(case: CaseChange) -> bool:
    """It broke, or passes and never did. What fails now and then did as before."""
    if case.change == "broken":
        return not case.excused
    return case.change == "fixed" and case.before is not None and case.before.passed == 0


def _left(verdict: Verdict, moved: Moved) -> Moved:
    """The runs without those that still look worse."""
    worse = _worse(verdict)
    return {key: cases for key, cases in moved.items() if key[:2] not in worse}


def _worse(verdict: Verdict) -> set[tuple[str | None, str | None]]:
    return {(reason.suite, reason.target) for reason in verdict.reasons if reason.stage == "drop"}
