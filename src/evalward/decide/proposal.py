"""What a proposed change must not pass by its own word: rules that only it has, and cases that it asks anew.

The verdict says what was measured. Here is what it has to do to a pull request's check where the change itself decided
what could be compared: then "can't be told" blocks, unless the workflow says otherwise.
"""

from __future__ import annotations

from evalward.decide.rules import judged
from evalward.records.codes.advice import Advice
from evalward.records.codes.reasons import NoRules
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.policy import FailOn, Policy
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict


def as_proposed(judgement: Judgement, policy: Policy, *, unjudged: bool, fail_on: FailOn | None) -> Judgement:
    """The judgement of a pull request's change. `unjudged`: no rules but the change's own were there.

    `fail_on` is the workflow's own word on what fails the check, which always holds for redefined cases; of a change
    that nothing judged it holds when it says that nothing fails.
    """
    verdict = judgement.verdict
    if unjudged:
        verdict = _without_rules(verdict, fail_on)
    if fail_on is None and policy.fail_on == "regression":
        verdict = _redefined(verdict, judgement.comparison, policy)
    return judgement.model_copy(update={"verdict": verdict})


def _without_rules(verdict: Verdict, fail_on: FailOn | None) -> Verdict:
    """At best inconclusive. What fails or can't be judged stays what it is, whatever the change's own policy says."""
    reason = Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        statements=[NoRules()],
        advice=[Advice(code="advice.bootstrap")],
    )
    worse = [each for each in verdict.reasons if each.outcome in {Outcome.ERROR, Outcome.FAIL}]
    others = [each for each in verdict.reasons if each not in worse]
    update = {
        "reasons": [*worse, reason, *others],
        "passing": [],
        "outcome": verdict.outcome if worse else Outcome.INCONCLUSIVE,
        "fail_on": "never" if fail_on == "never" else "inconclusive",
    }
    return verdict.model_copy(update=update)


def _redefined(verdict: Verdict, comparison: Comparison, policy: Policy) -> Verdict:
    """An inconclusive verdict blocks where most known cases of a run were redefined: edits could hide what broke."""
    hidden = {(run.suite, run.target) for run in comparison.runs if mostly_redefined(run, policy)}
    if not hidden or verdict.outcome is not Outcome.INCONCLUSIVE:
        return verdict
    reasons = [_blocking(reason) if _about(reason, hidden) else reason for reason in verdict.reasons]
    return verdict.model_copy(update={"reasons": reasons, "fail_on": "inconclusive"})


def _about(reason: Reason, runs: set[tuple[str, str]]) -> bool:
    return reason.stage == "validity" and (reason.suite, reason.target) in runs


def _blocking(reason: Reason) -> Reason:
    return reason.model_copy(update={"advice": [Advice(code="advice.redefined_blocks")]})


def mostly_redefined(run: RunComparison, policy: Policy) -> bool:
    """More than half of the cases that the baseline knows ask something else now, and nobody waived that."""
    if not judged(run) or run.added:
        return False
    redefined = run.of("redefined")
    unwaived = [case for case in redefined if not policy.waiver(case.id, case.category)]
    return 2 * len(unwaived) > run.comparable + len(redefined)
