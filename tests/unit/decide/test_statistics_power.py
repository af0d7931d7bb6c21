"""What can be seen: the table of detectable effects, variances within cases, and the fewest broken cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.statistics.power import (
    Variance,
    fewest_broken_cases,
    minimum_detectable_effect,
    within_case_variance,
)
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse


@pytest.mark.parametrize(("trials", "points"), [(1, 18.3), (3, 10.6), (5, 8.2)])
def test_detectable__table_of_37_cases(trials: int, points: float) -> None:
    effect = minimum_detectable_effect(37, trials, trials, 0.10, 0.10)
    assert effect is not None
    assert effect * 100 == pytest.approx(points, abs=0.05)


def test_detectable__unequal_sides_and_impossible_ones() -> None:
    # (1.644854 + 0.841621)·√((0.1/10 + 0.2/1)/50)
    assert minimum_detectable_effect(50, 10, 1, 0.1, 0.2) == pytest.approx(0.161141, abs=1e-6)
    assert minimum_detectable_effect(0, 5, 5, 0.1, 0.1) is None
    assert minimum_detectable_effect(37, 0, 5, 0.1, 0.1) is None
    assert minimum_detectable_effect(1, 1, 1, 0.25, 0.25) == 1.0


@given(st.integers(1, 200), st.integers(1, 20), st.floats(0.001, 0.25))
def test_detectable__more_cases_or_trials_see_no_less(n: int, trials: int, variance: float) -> None:
    effect = minimum_detectable_effect(n, trials, trials, variance, variance)
    more = minimum_detectable_effect(n + 1, trials, trials + 1, variance, variance)
    assert effect is not None
    assert more is not None
    assert 0 < more <= effect <= 1


def test_variance__is_assumed_where_nothing_tells_it() -> None:
    single = within_case_variance([CaseTrials(1, 1, 0, 1)] * 37)
    assert single.before == single.now == Variance(0.10, assumed=True)
    assert within_case_variance([]).before == Variance(0.10, assumed=True)


def test_variance__is_the_unbiased_one_with_one_more_typical_case() -> None:
    found = within_case_variance([CaseTrials(1, 2, 1, 1), CaseTrials(5, 5, 1, 1), CaseTrials(3, 5, 0, 1)])
    assert found.before.value == pytest.approx((0.5 + 0 + 5 / 4 * 0.24 + 0.10) / 4)
    assert not found.before.assumed
    assert found.now == Variance(0.10, assumed=True)


def test_variance__cases_that_never_flipped_are_no_proof() -> None:
    found = within_case_variance([CaseTrials(5, 5, 5, 5)] * 39)
    assert found.before.value == found.now.value == pytest.approx(0.0025)


@pytest.mark.parametrize(
    ("baseline", "fresh", "fewest"),
    [([5] * 37, 4, 1), ([1] * 37, 4, 2), ([1] * 37, 1, 5), ([1] * 4, 1, None), ([], 4, None), ([3] * 9, 0, None)],
)
def test_fewest_broken__worked_examples(baseline: list[int], fresh: int, fewest: int | None) -> None:
    assert fewest_broken_cases(baseline, fresh) == fewest


@given(st.lists(st.integers(0, 8), max_size=12), st.integers(0, 6), st.sampled_from([0.1, 0.05, 0.01, 0.001]))
def test_fewest_broken__is_what_the_exact_test_says(baseline: list[int], fresh: int, alpha: float) -> None:
    most = sorted(baseline, reverse=True)
    convicts = [
        number
        for number in range(1, len(most) + 1)
        if stratified_worse([CaseTrials(trials, trials, 0, fresh) for trials in most[:number]]) <= alpha
    ]
    assert fewest_broken_cases(baseline, fresh, alpha) == (convicts[0] if convicts else None)
