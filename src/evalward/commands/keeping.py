"""The baseline that a report is accepted into: every trial that was paid for, and no fewer than before."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.commands.pipeline import judge_report, measures
from evalward.decide.baseline import NO_POLICY, Moved, Update, update_baseline
from evalward.decide.pooling import Measured
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, Comparison
from evalward.records.policy import Policy
from evalward.records.verdict import Verdict


def kept_baseline(measured: Sequence[Measured], previous: Baseline | None, policy: Policy = NO_POLICY) -> Update:
    """The update by all trials of the reports, fresh ones too; cases that did as before keep their earlier trials.

    A run that its own new baseline would still call worse has moved as a whole (more tokens, say): of it the new
    trials alone stay. Raises `InputError` for reports that can't be a baseline.
    """
    kinds = {name: measure for one in measured for name, measure in measures(one.report).items()}
    update = update_baseline(measured, previous, kinds, keep={}, policy=policy)
    if update.report is None or previous is None:
        return update
    moved = _moved(judge_report(update.report, previous, policy).comparison)
    update = update_baseline(measured, previous, kinds, keep=moved, policy=policy)
    if update.report is None:
        return update
    left = _left(judge_report(update.report, update.baseline, policy).verdict, moved)
    return update if left == moved else update_baseline(measured, previous, kinds, keep=left, policy=policy)


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
    worse = {(reason.suite, reason.target) for reason in verdict.reasons if reason.stage == "drop"}
    return {key: cases for key, cases in moved.items() if key[:2] not in worse}
