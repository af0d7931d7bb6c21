"""What broke instead of giving a result: no failure, no proof that all is well, and never silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.codes import Statement
from evalward.records.codes.advice import Advice
from evalward.records.codes.base import FIRST
from evalward.records.codes.notices import BaseDrifted, BaseIncomplete, BaseUnusable, StandIns
from evalward.records.codes.reasons import FreshErrors, NoResult
from evalward.records.comparison import CaseChange, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Limits, Policy
from evalward.records.verdict import Outcome, Reason


def unmeasured(run: RunComparison, policy: Policy) -> list[Reason]:
    """Known cases without any valid trial, also after the confirm stage, and fresh trials that broke too often.

    A target that makes its trial unreadable would gain by it, so a check that knows nothing of a case is no pass.
    """
    lost = [case for case in run.of("not_valid") if _unknown(case) and not policy.waiver(case.id, case.category)]
    reasons = [_without_result(run, lost)] if lost else []
    return reasons + _too_often(run, policy.limits)


def _unknown(case: CaseChange) -> bool:
    """Cases that were left out on purpose are missing; those that a judge could not judge have a limit of their own."""
    return case.before is not None and not case.skipped and not case.unjudged


def _without_result(run: RunComparison, lost: Sequence[CaseChange]) -> Reason:
    ids = [case.id for case in lost]
    found = NoResult(
        suite=run.suite,
        target=run.target,
        count=len(ids),
        first=tuple(ids[:FIRST]),
        known=run.comparable + len(ids),
        again=bool(run.again),
        why=next((case.note for case in lost if case.note), None),
    )
    return _reason(run, found, ids)


def _too_often(run: RunComparison, limits: Limits) -> list[Reason]:
    """Trials of the confirm stage, and of both sides, count towards the limit that planned ones have."""
    broke, made = run.errors - run.judge_errors + run.again_errors, run.planned + run.again
    if not run.again_errors or broke / made <= limits.max_error_rate + EPSILON:
        return []
    found = FreshErrors(
        suite=run.suite,
        target=run.target,
        again_errors=run.again_errors,
        again=run.again,
        errors=broke,
        trials=made,
        limit=limits.max_error_rate,
    )
    return [_reason(run, found, [])]


def _reason(run: RunComparison, found: Statement, cases: Sequence[str]) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        statements=[found],
        advice=[Advice(code="advice.look_at_errors")],
        suite=run.suite,
        target=run.target,
        cases=list(cases),
    )


def error_notices(run: RunComparison, since: str | None) -> Iterator[Statement]:
    """What decides nothing: fresh trials that stand for planned ones, and a base that did worse than its baseline."""
    suite, target, sides = run.suite, run.target, run.beside
    if run.confirmation and run.confirmation.stand_ins:
        ids = run.confirmation.stand_ins
        yield StandIns(suite=suite, target=target, count=len(ids), first=tuple(ids[:FIRST]), each=run.trials)
    if sides and sides.unusable:
        yield BaseUnusable(suite=suite, target=target, why=sides.unusable)
    elif sides and sides.note:
        yield BaseIncomplete(suite=suite, target=target, why=sides.note)
    if sides and sides.drifted:
        passed, trials = sides.base_passed, sides.base_trials
        yield BaseDrifted(suite=suite, target=target, passed=passed, trials=trials, since=since)
