"""The exact permutation test: by hand, as the tests that it generalises, and valid whatever the values."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.statistics.permutation import CaseValues, least_two_sided, permutation_tails
from evalward.decide.statistics.signflip import sign_flip_worse
from evalward.decide.statistics.stratified import CaseTrials, stratified_better, stratified_worse

bits = st.lists(st.integers(0, 1), max_size=5)
numbers = st.lists(st.integers(-3, 7), min_size=1, max_size=4)


def brute(before: list[int], now: list[int]) -> tuple[float, float]:
    """Both tails, by dealing the values out in every way."""
    values = before + now
    sums = [sum(chosen) for chosen in itertools.combinations(values, len(now))]
    observed = sum(now)
    return sum(s <= observed for s in sums) / len(sums), sum(s >= observed for s in sums) / len(sums)


def test_by_hand() -> None:
    tails = permutation_tails([CaseValues([3, 4, 5], [0, 1, 2])])
    assert (tails.low, tails.high) == (1 / 20, 1.0)
    assert tails.two_sided == 0.1


@given(st.lists(st.tuples(bits, bits), max_size=4))
def test_yes_and_no_give_the_stratified_test(cases: list[tuple[list[int], list[int]]]) -> None:
    tails = permutation_tails([CaseValues(before, now) for before, now in cases])
    counts = [CaseTrials(sum(before), len(before), sum(now), len(now)) for before, now in cases]
    assert math.isclose(tails.low, stratified_worse(counts))
    assert math.isclose(tails.high, stratified_better(counts))


@given(numbers, numbers)
def test_any_whole_numbers_as_by_dealing_them_out(before: list[int], now: list[int]) -> None:
    tails = permutation_tails([CaseValues(before, now)])
    assert (tails.low, tails.high) == pytest.approx(brute(before, now))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_one_trial_a_side_gives_the_sign_flip_test(pairs: list[tuple[int, int]]) -> None:
    tails = permutation_tails([CaseValues([before], [now]) for before, now in pairs])
    assert tails.low == pytest.approx(sign_flip_worse([now - before for before, now in pairs], step=1))


def test_many_more_trials_on_one_side_don_t_spill_over() -> None:
    before, now = [0] * 3, [1] * 20
    assert permutation_tails([CaseValues(before, now)]).high == pytest.approx(1 / math.comb(23, 3))


def test_fractions_are_rounded_to_steps_that_keep_order() -> None:
    before, now = [0.001 * n + 1 / 3 for n in range(10)], [0.001 * n + 2 / 3 for n in range(10)]
    assert permutation_tails([CaseValues(before, now)]).high == pytest.approx(1 / math.comb(20, 10))
    assert permutation_tails([CaseValues([1e9, 3e9], [2e9, 4e9])]).high == pytest.approx(2 / 6)


def test_cases_without_both_sides_say_nothing() -> None:
    tails = permutation_tails([CaseValues([], [1]), CaseValues([1], [])])
    assert (tails.low, tails.high, tails.two_sided) == (1.0, 1.0, 1.0)
    assert permutation_tails([CaseValues([1, 1], [1, 1])]).two_sided == 1.0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        permutation_tails([CaseValues([1.0], [value])])


def test_the_least_p_that_so_few_trials_can_give() -> None:
    assert least_two_sided([(1, 1)]) == 1.0
    assert least_two_sided([(3, 3)]) == 2 / 20
    assert least_two_sided([(3, 3), (3, 3), (0, 4)]) == 2 / 400
