"""What broke instead of giving a result: no failure, no proof that all is well, and never silent."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.sentences import some_of
from evalward.records.comparison import CaseChange, RunComparison
from evalward.records.metric import EPSILON
from evalward.records.policy import Limits, Policy
from evalward.records.verdict import Outcome, Reason

_LOOK = "Look at why they broke, and run it again: what breaks its own trial may have been failing."


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
    known = run.comparable + len(ids)
    tried = ", also when tried again" if run.again else ""
    why = next((f": {case.note}" for case in lost if case.note), "")
    message = f"{run.name}: {len(ids)} of {known} known cases gave no result{tried} ({some_of(ids)}){why}"
    return _reason(run, message, ids)


def _too_often(run: RunComparison, limits: Limits) -> list[Reason]:
    """Trials of the confirm stage, and of both sides, count towards the limit that planned ones have."""
    broke, made = run.errors - run.judge_errors + run.again_errors, run.planned + run.again
    if not run.again_errors or broke / made <= limits.max_error_rate + EPSILON:
        return []
    message = (
        f"{run.name}: {run.again_errors} of {run.again} fresh trials broke; of all {made} trials it were {broke} "
        f"({broke / made:.1%}), at most {limits.max_error_rate:.0%} may"
    )
    return [_reason(run, message, [])]


def _reason(run: RunComparison, message: str, cases: Sequence[str]) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        message=message,
        remedy=_LOOK,
        suite=run.suite,
        target=run.target,
        cases=list(cases),
    )


def noticed(run: RunComparison, since: str | None) -> list[str]:
    """What decides nothing: fresh trials that stand for planned ones, and a base that did worse than its baseline."""
    told = []
    if run.confirmation and run.confirmation.stand_ins:
        ids = run.confirmation.stand_ins
        every = "every planned trial" if run.trials > 1 else "the planned trial"
        of = some_of(ids) if len(ids) == 1 else f"{len(ids)} cases ({some_of(ids)})"
        told.append(f"{run.name}: {every} of {of} broke; a fresh one stands for it")
    if run.beside and run.beside.unusable:
        told.append(f"{run.name}: the base was not measured beside the head: {run.beside.unusable}")
    elif run.beside and run.beside.note:
        told.append(f"{run.name}: not everything in doubt was measured on both sides: {run.beside.note}")
    if run.beside and run.beside.drifted:
        told.append(_drifted(run, since))
    return told


def _drifted(run: RunComparison, since: str | None) -> str:
    beside = run.beside
    passed = f" ({beside.base_passed} of {beside.base_trials} trials passed)" if beside else ""
    when = f" of {since[:10]}" if since else ""
    return (
        f"{run.name}: the base itself does worse now than in the baseline{when}{passed}, which no pull request did: "
        "the provider or the environment changed since. Renew the baseline"
    )
