from __future__ import annotations

import pytest

from evalward.decide.proposal import as_proposed
from evalward.records.codes.reasons import NoRules
from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.policy import FailOn, Policy, Waiver
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict

STAGES = {Outcome.ERROR: "validity", Outcome.FAIL: "drop", Outcome.INCONCLUSIVE: "validity"}


def judgement(outcome: Outcome, redefined: int = 0, comparable: int = 4, fail_on: FailOn = "regression") -> Judgement:
    reasons = []
    if outcome is not Outcome.PASS:
        reasons = [Reason.model_validate({"stage": STAGES[outcome], "outcome": outcome, "message": "m", "remedy": "r"})]
    reasons = [reason.model_copy(update={"suite": "s", "target": "t"}) for reason in reasons]
    cases = [CaseChange(id=f"c{n}", category="c", change="redefined") for n in range(redefined)]
    run = RunComparison(
        suite="s",
        kind="bash",
        target="t",
        random=False,
        baseline_trials=1,
        trials=1,
        comparable=comparable,
        total=comparable + redefined,
        errors=0,
        planned=comparable + redefined,
        cases=cases,
    )
    verdict = Verdict(outcome=outcome, headline="m", reasons=reasons, fail_on=fail_on)
    return Judgement(comparison=Comparison(baseline="b", runs=[run]), verdict=verdict)


@pytest.mark.parametrize(
    ("outcome", "fail_on", "said", "code"),
    [
        (Outcome.PASS, "regression", Outcome.INCONCLUSIVE, 1),
        (Outcome.PASS, "never", Outcome.INCONCLUSIVE, 1),
        (Outcome.INCONCLUSIVE, "never", Outcome.INCONCLUSIVE, 1),
        (Outcome.FAIL, "never", Outcome.FAIL, 1),
        (Outcome.ERROR, "never", Outcome.ERROR, 3),
    ],
)
def test_without_rules__the_changes_own_say_nothing(
    outcome: Outcome, fail_on: FailOn, said: Outcome, code: int
) -> None:
    found = as_proposed(judgement(outcome, fail_on=fail_on), Policy(fail_on=fail_on), unjudged=True, fail_on=None)
    assert (found.verdict.outcome, found.verdict.exit_code) == (said, code)
    assert [NoRules()] in [reason.statements for reason in found.verdict.reasons]
    assert (found.verdict.reasons[0].statements == [NoRules()]) is (said is Outcome.INCONCLUSIVE)


def test_without_rules__the_workflow_may_say_that_nothing_fails() -> None:
    found = as_proposed(judgement(Outcome.FAIL), Policy(fail_on="never"), unjudged=True, fail_on="never")
    assert (found.verdict.outcome, found.verdict.exit_code) == (Outcome.FAIL, 0)


@pytest.mark.parametrize(("redefined", "comparable", "code"), [(0, 4, 0), (1, 4, 0), (2, 2, 0), (3, 2, 1), (4, 0, 1)])
def test_redefined__most_of_them_block(redefined: int, comparable: int, code: int) -> None:
    given = judgement(Outcome.INCONCLUSIVE, redefined, comparable)
    assert as_proposed(given, Policy(), unjudged=False, fail_on=None).verdict.exit_code == code


@pytest.mark.parametrize("asked", ["regression", "never"])
def test_redefined__the_workflow_has_the_last_word(asked: FailOn) -> None:
    given = judgement(Outcome.INCONCLUSIVE, 4, 0)
    assert as_proposed(given, Policy(fail_on=asked), unjudged=False, fail_on=asked) == given


def test_redefined__the_bases_never_and_its_waivers_hold() -> None:
    given = judgement(Outcome.INCONCLUSIVE, 4, 0, "never")
    assert as_proposed(given, Policy(fail_on="never"), unjudged=False, fail_on=None) == given
    waived = Policy(waive=[Waiver(id=f"c{n}", reason="new words") for n in range(2)])
    given = judgement(Outcome.INCONCLUSIVE, 4, 0)
    assert as_proposed(given, waived, unjudged=False, fail_on=None) == given
    assert as_proposed(given, Policy(), unjudged=False, fail_on=None) != given


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.FAIL, Outcome.ERROR])
def test_redefined__other_verdicts_stay(outcome: Outcome) -> None:
    given = judgement(outcome, 4, 0)
    assert as_proposed(given, Policy(), unjudged=False, fail_on=None) == given
