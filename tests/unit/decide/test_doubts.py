"""What is measured of both sides where a drop is in doubt, and what is decided on it."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.commands.pipeline import Criteria, decide_report, default_rules
from evalward.decide.doubts import to_settle
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse, stratified_worse_chosen
from evalward.records.baseline import Baseline
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.report import Beside, Report
from evalward.records.verdict import Judgement, Outcome
from evalward.render import sentences as english
from support.outcomes import DROP, known, measured, outcome_of, steady, trials
from support.results import result

FIVE = known(steady(37, "PPPPP"))
BROKEN = {"c1": "F", "c2": "F"}
AGAIN = {"c1": "FFFF", "c2": "FFFF"}


def settled(now: Report, before: Baseline | None = FIVE, *rules: Rule, **policy: Any) -> dict[str, int]:
    """What would be measured of both sides, in the only run."""
    asked = Policy(rules=list(rules or (DROP,)), **policy)
    compared = Criteria(before, asked).compared(now)
    found = to_settle(compared.comparison, compared.samples, asked, default_rules(now))
    assert all(retry.beside for retry in found)
    return dict(found[0].trials) if found else {}


def judged(
    now: Report, base: dict[str, str], head: dict[str, str], before: Baseline | None = FIVE, **more: Any
) -> Judgement:
    """The decision with these trials of both sides."""
    beside = Beside(commit="b" * 40, base=trials(base, 9), head=trials(head, 9), **more)
    runs = [now.runs[0].model_copy(update={"beside": beside})]
    return decide_report(now.model_copy(update={"runs": runs}), before, Policy(rules=[DROP]))


def broken(**others: str) -> Report:
    """Two broken cases, confirmed by the fresh trials."""
    return measured(steady(37, **BROKEN, **others), AGAIN | dict.fromkeys(others, "PPPF"))


# --- what is asked --------------------------------------------------------------------------------------------------


def test_a_drop_that_would_fail_or_stay_in_doubt__is_measured_on_both_sides() -> None:
    assert settled(broken()) == {"c1": 8, "c2": 8}
    doubt = measured(steady(37, c1="F"), {"c1": "PFPF"})
    assert decide_report(doubt, known(steady(37)), Policy(rules=[DROP])).verdict.outcome is Outcome.PASS
    assert settled(measured(steady(37, c1="F"), {"c1": "FFFF"}), known(steady(37))) == {"c1": 8}


def test_only_cases_that_did_worse_than_in_the_baseline__are_asked() -> None:
    before = known(steady(37, "PPPPP", c3="FFFFF", c4="PFFFF"))
    now = measured(steady(37, **BROKEN, c3="F", c4="F"), AGAIN | {"c3": "FFFF", "c4": "PPFF"})
    assert settled(now, before) == {"c1": 8, "c2": 8}  # c3 never passed, c4 passes in two of five, as often as before


def test_a_case_that_is_gone__is_asked_for_although_others_did_better_by_chance() -> None:
    luck = {f"c{number}": "PPFFF" for number in range(10, 14)}
    before = known(steady(37, "PPPPP", **luck))
    now = measured(steady(37, c1="F"), {"c1": "FFFF"} | dict.fromkeys(luck, ""))
    assert settled(now, before) == {"c1": 8}
    fresh = {"c1": "FFFF", "c10": "PPPP", "c11": "PPPP"}
    now = measured(steady(37, c1="F", c10="F", c11="F"), fresh)
    assert decide_report(now, before, Policy(rules=[DROP])).verdict.outcome is Outcome.PASS
    assert settled(now, before) == {"c1": 8}


@pytest.mark.parametrize(
    "policy",
    [{"confirm": None}, {"confirm": Confirm(base="off")}, {"rules": [DROP.model_copy(update={"confirm": False})]}],
)
def test_who_doesnt_want_it__gets_none(policy: dict[str, Any]) -> None:
    rules = policy.pop("rules", [DROP])
    quiet = [Rule(metric=name, goal=0.0) for name in ("overall_rate", "tool_call_success_rate")]
    assert settled(broken(), FIVE, *rules, *quiet, **policy) == {}


def test_nothing_in_doubt__or_chance_plays_no_part__or_done_already__nothing_is_asked() -> None:
    assert settled(measured(steady(37, c1="F"), {"c1": "PPPP"})) == {}
    assert settled(measured(steady(37, **BROKEN), random=False)) == {}
    assert settled(broken(), None) == {}
    assert settled(broken().model_copy(update={"interrupted": "stopped"})) == {}
    once = broken()
    done = [once.runs[0].model_copy(update={"beside": Beside(note="no base")})]
    assert settled(once.model_copy(update={"runs": done})) == {}


def test_trials__are_bounded_and_even() -> None:
    now = measured(steady(6, "PPPPP", c0="FFFFF", c1="FFFFF", c2="FFFFF"), {f"c{n}": "FFFF" for n in range(3)})
    assert settled(now, known(steady(6, "PPPPP")), confirm=Confirm(base_trials=20)) == {"c0": 20, "c1": 20, "c2": 20}
    now = measured(steady(6, c0="F", c1="F", c2="F"), {f"c{n}": "FFFF" for n in range(3)})
    assert settled(now, known(steady(6, "PPPPP"))) == {"c0": 4, "c1": 4, "c2": 4}  # twice the planned ones, a side
    assert settled(now, known(steady(6, "PPPPP")), confirm=Confirm(at_most=0.1)) == {"c0": 2, "c1": 2, "c2": 2}


def test_a_drop_over_all_cases__asks_for_those_that_fell_a_little_too() -> None:
    some = {f"c{number}": "PPPPF" for number in range(1, 20)}
    now = measured(steady(37, "PPPPP", c0="FFFPP", **some), {"c0": "PFPP"})
    assert set(settled(now)) == {"c0", *some}


# --- what is decided ------------------------------------------------------------------------------------------------


def test_head_against_base__alone_decides() -> None:
    found = judged(broken(), {"c1": "PPPPPPPP", "c2": "PPPPPPPP"}, {"c1": "FFFFFFFF", "c2": "FFFFFFPF"})
    evidence = outcome_of(found.verdict).evidence
    assert evidence is not None
    both = [CaseTrials(8, 8, 0, 8), CaseTrials(8, 8, 1, 8)]
    assert evidence.p == pytest.approx(stratified_worse(both), rel=1e-12)
    assert (evidence.beside, evidence.share) == (True, 1.0)
    assert evidence.delta == pytest.approx(-(1 + 7 / 8) / 37)
    assert english.headline(found.verdict) == (
        "pass_rate fell 5.1 pp against the base, measured alongside, more than the 2 pp allowed: in 2 of 37 "
        "cases, 1 of 16 trials passed here and 16 of 16 on the base, run side by side; chance would do that less than "
        "once in a million runs"
    )


def test_a_base_that_does_as_badly__convicts_nobody() -> None:
    """A provider's bad day: what the committed baseline would have failed."""
    assert decide_report(broken(), FIVE, Policy(rules=[DROP])).verdict.outcome is Outcome.FAIL
    same = {"c1": "FFFFPFFF", "c2": "FFFFFFFF"}
    found = judged(broken(), same, same)
    assert found.verdict.outcome is Outcome.PASS
    assert english.explanation(outcome_of(found.verdict)) == (
        "pass_rate fell 5.4 pp against the baseline, and is no worse than the base, measured alongside: in 2 of "
        "37 cases, 1 of 16 trials passed here and 1 of 16 on the base, run side by side"
    )


def test_it_looks_worse_and_may_be_chance__is_inconclusive() -> None:
    found = judged(broken(), {"c1": "PF", "c2": "PP"}, {"c1": "FF", "c2": "FP"})
    assert found.verdict.outcome is Outcome.INCONCLUSIVE
    assert "so it is not proof" in english.headline(found.verdict)


def test_errors__cost_only_their_own_case() -> None:
    now = broken(c3="F")
    base = {"c1": "PPPPPPPP", "c2": "PPPPPPPP", "c3": "PPPPPPPP"}
    found = judged(now, base, {"c1": "FFFFFFFE", "c2": "FFFFFFFF", "c3": "EEEEEEEE"})
    evidence = outcome_of(found.verdict).evidence
    assert evidence is not None
    assert evidence.p == pytest.approx(stratified_worse([CaseTrials(8, 8, 0, 7), CaseTrials(8, 8, 0, 8)]), rel=1e-12)
    assert found.verdict.outcome is Outcome.FAIL
    assert evidence.open == pytest.approx(-1 / 37)


def test_a_case_that_only_errs_now__is_no_pass() -> None:
    base = {"c1": "PPPPPPPP", "c2": "PPPPPPPP"}
    found = judged(broken(), base, {"c1": "PPPPPPPP", "c2": "EEEEEEEE"})
    assert found.verdict.outcome is Outcome.INCONCLUSIVE
    assert "c2 failed and could not be retried" in english.message(outcome_of(found.verdict))
    assert any("8 of 40 retrials ended in an error" in english.message(reason) for reason in found.verdict.reasons)


def test_head_that_breaks_its_trials_beside_the_base__is_judged_by_the_worst_case_too() -> None:
    now, base = broken(), trials({"c1": "PPPPPPPP", "c2": "PPPPPPPP"}, 9)
    hidden = [
        result(case, "passed" if number == 9 else "error", trial=number, reason="sandbox")
        for case in ("c1", "c2")
        for number in range(9, 17)
    ]
    runs = [now.runs[0].model_copy(update={"beside": Beside(base=base, head=hidden)})]
    found = decide_report(now.model_copy(update={"runs": runs}), FIVE, Policy(rules=[DROP])).verdict
    assert any(
        "14 trials ended in an error; had they failed, the verdict would be fail" in english.message(r)
        for r in found.reasons
    )


@pytest.mark.parametrize("head", [{}, {"c1": "EE", "c2": "EE"}])
def test_nothing_valid_of_it__leaves_the_first_decision_and_says_so(head: dict[str, str]) -> None:
    found = judged(broken(), {"c1": "PP", "c2": "PP"}, head, note="the budget was spent")
    evidence = outcome_of(found.verdict).evidence
    assert evidence is not None
    assert (found.verdict.outcome, evidence.beside) == (Outcome.FAIL, False)
    assert any(
        "was not measured alongside the head: the budget was spent" in told
        for told in english.warnings(found.verdict.notices)
    )


def test_part_of_it__is_evidence__and_why_it_is_a_part_is_said() -> None:
    note = "it ended early: budget: $5 is spent"
    found = judged(broken(), {"c1": "PP"}, {"c1": "FF"}, note=note)
    evidence = outcome_of(found.verdict).evidence
    assert evidence is not None
    assert evidence.beside
    assert any(
        f"not everything in doubt was measured on both sides: {note}" in each
        for each in english.warnings(found.verdict.notices)
    )


def test_trials_of_another_definition__are_no_evidence() -> None:
    other = trials({"c1": "PPPPPPPP"}, 9, definition="sha256:other")
    beside = Beside(base=other, head=other)
    now = broken()
    runs = [now.runs[0].model_copy(update={"beside": beside})]
    found = decide_report(now.model_copy(update={"runs": runs}), FIVE, Policy(rules=[DROP]))
    assert found.comparison.runs[0].beside is not None
    assert found.comparison.runs[0].beside.unusable == "no case has a valid trial on both sides"


# --- the summary, and drift -----------------------------------------------------------------------------------------


def test_summary__says_what_both_sides_gave() -> None:
    found = judged(broken(), {"c1": "PPPPPPPP", "c2": "PPPPPPPF"}, {"c1": "FFFFFFFF", "c2": "FFFEFFFP"})
    side = found.comparison.runs[0].beside
    assert side is not None
    assert (side.commit, side.cases, side.unusable, side.drifted) == ("b" * 40, ["c1", "c2"], None, False)
    assert (side.base_passed, side.base_trials, side.head_passed, side.head_trials) == (15, 16, 1, 15)


def test_a_base_far_below_its_baseline__means_that_something_else_changed() -> None:
    worse = {"c1": "FFFFPFFF", "c2": "FFFFFFFF"}
    told = english.warnings(judged(broken(), worse, {"c1": "FFFFFFFF", "c2": "FFFFFFFF"}).verdict.notices)
    assert any(
        text.startswith(
            "bash-tools × anthropic/model: the base itself does worse now than in the baseline of 2026-11-21 (1 of 16 "
            "trials passed); no pull request caused that"
        )
        for text in told
    )
    fine = {"c1": "PPPPPPPP", "c2": "PPPPPPPF"}
    assert not any("does worse now" in text for text in english.warnings(judged(broken(), fine, worse).verdict.notices))


def test_chosen_cases__that_were_lucky_before_are_no_drift() -> None:
    """A case that passed once in one trial was chosen because it had: its one pass says nothing."""
    lucky = [(CaseTrials(1, 1, 0, 8), 1)] * 9
    assert stratified_worse([case for case, _ in lucky]) < 0.001
    assert stratified_worse_chosen(lucky) == 1.0


def test_chosen_cases__by_no_condition_are_the_stratified_test() -> None:
    cases = [CaseTrials(4, 5, 3, 8), CaseTrials(5, 5, 7, 8), CaseTrials(2, 5, 0, 8)]
    assert stratified_worse_chosen([(case, 0) for case in cases]) == pytest.approx(stratified_worse(cases), rel=1e-12)
    with pytest.raises(ValueError, match="would not have been chosen"):
        stratified_worse_chosen([(CaseTrials(1, 5, 3, 8), 2)])


def test_chosen_cases__one_by_hand() -> None:
    # Five and eight trials, six passes, four of the five at least: C(5,4)·C(8,2) + C(5,5)·C(8,1) = 140 + 8 deals; one
    # pass now, or none, is the case in 8 of them.
    assert stratified_worse_chosen([(CaseTrials(5, 5, 1, 8), 4)]) == pytest.approx(8 / 148, rel=1e-12)


# --- cases that broke, and fresh trials that stand for them ---------------------------------------------------------


def test_a_fresh_trial__stands_for_planned_ones_that_broke() -> None:
    found = decide_report(measured(steady(37, c1="E"), {"c1": "PPPP"}), FIVE, Policy(rules=[DROP]))
    assert (found.verdict.outcome, found.comparison.runs[0].comparable) == (Outcome.PASS, 37)
    assert "bash-tools × anthropic/model: the planned trial of c1 ended in an error; a retrial counts in its place" in (
        english.warnings(found.verdict.notices)
    )


def test_a_fresh_trial_that_stands_for_a_planned_one__is_no_evidence_as_a_fresh_one() -> None:
    found = decide_report(measured(steady(37, c1="E"), {"c1": "FFFF"}), FIVE, Policy(rules=[DROP]))
    evidence = outcome_of(found.verdict).evidence
    assert evidence is not None
    assert evidence.confirmed
    assert evidence.p == pytest.approx(1 / 56)  # 5 of 5 against 0 of 3
    assert outcome_of(found.verdict).value is not None


def test_what_stays_without_a_result__is_named_and_no_pass() -> None:
    lost = {f"c{number}": "E" for number in range(5)}
    now = measured(steady(100, **lost), dict.fromkeys(lost, "EEEE"))
    found = decide_report(now, known(steady(100, "PPPPP")), Policy(rules=[DROP])).verdict
    assert found.outcome is Outcome.INCONCLUSIVE
    assert english.headline(found) == (
        "bash-tools × anthropic/model: 5 of 100 known cases gave no result, even when retried (c0, c1, c2, …): overload"
    )
    assert found.reasons[0].cases == sorted(lost)
