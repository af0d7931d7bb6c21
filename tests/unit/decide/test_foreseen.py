"""What a plan says that it could show: the numbers of the tests that decide, on worked examples."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalward.decide.foresee import PlanJudging, foreseen
from evalward.decide.statistics.power import fewest_broken_cases
from evalward.decide.statistics.stratified import case_trials, stratified_worse
from evalward.records.plan import Sight
from evalward.records.policy import Policy
from support.plans import baseline_of, measured, outlined


def judging(max_drop: float = 0.02, *, compares: bool = True, **more: object) -> PlanJudging:
    policy = {"rules": [{"metric": "pass_rate", "max_drop": max_drop}], **more}
    return PlanJudging(policy=Policy.model_validate(policy), compares=compares)


def seen(cases: int, trials: int, before: int, *, base: bool = False, by: PlanJudging | None = None) -> Sight:
    """What so many cases, tried so often, against so many trials in the baseline could show."""
    names = [f"c{number}" for number in range(cases)]
    (known,) = baseline_of(dict.fromkeys(names, [measured()] * before)).runs
    found = foreseen(outlined(dict.fromkeys(names, trials)), known, by or judging(), base=base)
    assert isinstance(found, Sight)
    return found


def test_twenty_cases_one_trial_each__a_drop_of_fewer_than_three_is_no_proof() -> None:
    found = seen(20, 1, 1)
    assert (found.convicting, found.allowed, found.fewest) == (3, 0, 3)  # four fresh trials each: (1/5)³ ≤ 0.025


def test_baseline_of_five__one_broken_case_can_be_proof() -> None:
    assert seen(20, 1, 5).fewest == 1  # 1/126 ≤ 0.025


def test_base_beside_the_head__one_broken_case_can_be_proof_without_any_baseline_to_speak_of() -> None:
    assert seen(20, 1, 1, base=True).fewest == 1  # eight trials on either side: 1/12870


def test_few_cases__neither_stage_has_all_its_trials() -> None:
    assert seen(1, 1, 1, base=True).fewest is None  # two trials on either side: 1/6


def test_a_rule_that_allows_more__cases_within_it_are_no_drop() -> None:
    found = seen(20, 1, 5, by=judging(0.10))
    assert (found.convicting, found.allowed, found.fewest) == (1, 2, 3)


def test_run_alone__only_the_planned_trials_can_show_anything() -> None:
    assert seen(20, 1, 1, by=judging(compares=False)).fewest == 5  # (1/2)⁵ ≤ 0.05
    assert seen(20, 1, 1, by=judging(confirm=None)).fewest == 5


def test_rule_that_takes_the_bare_difference__counts_every_case() -> None:
    policy = Policy.model_validate({"rules": [{"metric": "pass_rate", "max_drop": 0.02, "test": "off"}]})
    found = seen(20, 1, 1, by=PlanJudging(policy=policy))
    assert (found.fewest, found.detectable) == (1, None)


def test_drop_over_all_cases__smaller_with_more_trials() -> None:
    one, five = seen(37, 1, 5).detectable, seen(37, 5, 5).detectable
    assert one is not None
    assert five is not None
    assert 0.02 < five < one < 1


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([{"metric": "pass_rate", "floor": 0.9}], "no_drop_rule"),
        ([{"metric": "total_input_tokens", "max_rise": 10}], "no_drop_rule"),
        ([{"metric": "pass_rate", "max_drop": 0.1, "suite": "others"}], "no_drop_rule"),
    ],
)
def test_nothing_can_be_said(rules: list[dict[str, object]], why: str) -> None:
    (known,) = baseline_of({"a": [measured()]}).runs
    by = PlanJudging(policy=Policy.model_validate({"rules": rules}))
    assert foreseen(outlined(["a"]), known, by, base=False) == why


def test_nothing_in_common() -> None:
    (known,) = baseline_of({"a": [measured()]}).runs
    assert foreseen(outlined(["b"]), known, judging(), base=False) == "no_common_case"
    assert foreseen(outlined(["a"]), None, judging(), base=False) == "not_in_baseline"


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 10), st.integers(1, 5))
def test_fewer_than_said__the_exact_test_convicts_on_none_of_the_looks(cases: int, before: int, trials: int) -> None:
    found = seen(cases, trials, before)
    broken = (found.convicting or cases + 1) - 1
    planned = [case_trials(before, before, 0, trials)] * broken
    fresh = [case_trials(before, before, 0, 4)] * broken
    assert not broken or stratified_worse(planned) > 0.05
    assert not broken or stratified_worse(fresh) > 0.025 or 4 * broken > max(broken, cases * trials)


@given(st.integers(5, 40), st.integers(1, 10))
def test_it_is_what_reports_say_of_thin_baselines(cases: int, before: int) -> None:
    """Where the confirm stage has all its trials, the number is the one that a report's advice gives."""
    found = seen(cases, 1, before, by=judging(confirm={"trials": 4, "at_most": 10}))
    thin = fewest_broken_cases([before] * cases, 4, 0.025)
    assert found.convicting == (thin if thin is None else min(thin, _planned(cases, before) or thin))


def _planned(cases: int, before: int) -> int | None:
    return fewest_broken_cases([before] * cases, 1, 0.05)
