"""What to do about a rule that doesn't hold: mend, accept, change the policy, or measure more."""

from __future__ import annotations

from evalward.decide.staleness import FEW_TRIALS
from evalward.records.codes import Statement
from evalward.records.codes.advice import Advice, ChangeLimit, LookAgainstBase, LookAtCases, LookOrAccept, MoreTrials
from evalward.records.codes.arms import ArmUnproven
from evalward.records.comparison import RunComparison
from evalward.records.evidence import Evidence
from evalward.records.policy import Confirm
from evalward.records.verdict import RuleOutcome

MOST_FRESH = 20
"""Retrials of a case that a configuration may ask for (`Confirm.trials`)."""


def remedies(outcome: RuleOutcome, run: RunComparison | None, confirm: Confirm | None) -> list[Statement]:
    """What to do about a rule's failure or doubt. `run` is the one that it was applied to."""
    if outcome.stage == "arm":
        return _of_arm(outcome)
    broken = run is not None and bool(run.of("broken"))
    if outcome.status == "fail" and outcome.stage == "limit":
        return [_of_limit(outcome)]
    if outcome.status == "fail":
        based = run is not None and run.base_now is not None
        return [LookAgainstBase(broken=broken) if based else LookOrAccept(broken=broken)]
    more = _more(outcome.evidence, run, confirm)
    return [LookAtCases(broken=broken), *([more] if more else [])]


def _of_limit(outcome: RuleOutcome) -> ChangeLimit:
    """A limit is the policy's: no baseline changes it."""
    rule = outcome.rule
    above = rule.floor is None or _above(outcome)
    return ChangeLimit(limit="ceiling" if above else "floor", metric=rule.metric if outcome.default else None)


def _of_arm(outcome: RuleOutcome) -> list[Statement]:
    """No baseline changes what the other arm gave: only what is evaluated, its cases, or more trials of them do."""
    unproven = next((each for each in outcome.statements if isinstance(each, ArmUnproven)), None)
    has = unproven.trials // unproven.cases if unproven else 0
    if unproven is None or has >= FEW_TRIALS:
        return [Advice(code="advice.look_at_arms")]
    cost = (FEW_TRIALS - has) * unproven.cases
    return [Advice(code="advice.look_at_arms"), MoreTrials(of="planned", trials=FEW_TRIALS, has=has, cost=cost)]


def _above(outcome: RuleOutcome) -> bool:
    value, ceiling = outcome.value, outcome.rule.ceiling
    return value is not None and value.value is not None and ceiling is not None and value.value > ceiling


def _more(evidence: Evidence | None, run: RunComparison | None, confirm: Confirm | None) -> Statement | None:
    """Which trials would tell more, and how many they are. Never those that there are already."""
    if evidence is None:
        return Advice(code="advice.more_samples")
    if evidence.beside:
        return _more_beside(run, confirm)
    before, now = round(evidence.trials_before), round(evidence.trials_now)
    if before < FEW_TRIALS:
        cost = (FEW_TRIALS - before) * evidence.cases
        return MoreTrials(of="baseline", trials=FEW_TRIALS, has=before, cost=cost)
    if not evidence.confirmed and now < FEW_TRIALS:
        cost, harness = (FEW_TRIALS - now) * evidence.cases, run is not None and run.harness
        return MoreTrials(of="planned", trials=FEW_TRIALS, has=now, cost=cost, harness=harness)
    failed = len(run.confirmation.cases) if run is not None and run.confirmation else 0
    if evidence.confirmed and confirm is not None and failed and confirm.trials < MOST_FRESH:
        tries = min(2 * confirm.trials, MOST_FRESH)
        return MoreTrials(of="fresh", trials=tries, has=confirm.trials, cost=(tries - confirm.trials) * failed)
    return None


def _more_beside(run: RunComparison | None, confirm: Confirm | None) -> MoreTrials | None:
    """Where both sides were measured: more of the same."""
    cases = len(run.beside.cases) if run is not None and run.beside is not None else 0
    if confirm is None or not cases or confirm.base_trials >= MOST_FRESH:
        return None
    each = min(2 * confirm.base_trials, MOST_FRESH)
    cost = 2 * (each - confirm.base_trials) * cases
    return MoreTrials(of="both_sides", trials=each, has=confirm.base_trials, cost=cost)
