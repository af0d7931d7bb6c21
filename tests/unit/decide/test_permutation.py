"""The exact permutation test: by hand, as the tests that it generalises, and valid whatever the values."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from evalward.decide.statistics.permutation import CaseValues, least_two_sided, permutation_tails
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from support.exact import mcnemar_worse, stratified_better

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


def flipped(differences: Sequence[float]) -> float:
    """The test of one trial a side: every difference could as well have had the other sign."""
    return permutation_tails([CaseValues([0.0], [difference]) for difference in differences]).low


def enumerated(differences: Sequence[float]) -> float:
    """The same by all signs, one after the other, in whole thousandths."""
    units = [round(difference * 1000) for difference in differences]
    sums = [sum(signed) for signed in itertools.product(*((unit, -unit) for unit in units))]
    return sum(value <= sum(units) for value in sums) / len(sums)


thousandths = st.lists(st.integers(-1000, 1000).map(lambda units: units / 1000), min_size=1, max_size=4)


@given(thousandths)
def test_one_trial_a_side_is_a_flip_of_signs(differences: list[float]) -> None:
    assert flipped(differences) == pytest.approx(enumerated(differences), rel=1e-12, abs=0)


@settings(deadline=None, max_examples=25)
@given(thousandths.filter(lambda differences: len(differences) > 1))
def test_one_trial_a_side_is_scipys_test(differences: list[float]) -> None:
    units = (np.round(np.array(differences) * 1000),)
    oracle = permutation_test(units, np.sum, permutation_type="samples", alternative="less", n_resamples=np.inf)
    assert flipped(differences) == pytest.approx(oracle.pvalue, rel=1e-9, abs=0)


@pytest.mark.parametrize("count", [0, 1, 60, 191, 192, 193, 400])
def test_one_trial_a_side_of_yes_or_no_is_mcnemars_however_many(count: int) -> None:
    lost = count // 2 + count // 20
    differences = [-0.25] * lost + [0.25] * (count - lost)
    assert flipped(differences) == pytest.approx(mcnemar_worse(lost, count - lost), rel=1e-12, abs=0)


def test_one_trial_a_side_by_hand() -> None:
    assert flipped([]) == flipped([0.0, 0.0]) == flipped([0.5]) == 1.0
    assert flipped([-0.2] * 5) == 1 / 32
    assert flipped([-0.3, -0.2, 0.1]) == 2 / 8  # −0.6 and −0.4 of the eight sums


@settings(deadline=None)
@given(st.lists(st.floats(-2, 2), max_size=20), st.randoms())
def test_any_order_and_cases_that_say_nothing_change_nothing(differences: list[float], dice: random.Random) -> None:
    p = flipped(differences)
    assert 0 < p <= 1
    assert flipped([*dice.sample(differences, len(differences)), 0.0, 0.0]) == pytest.approx(p)
    assert p + flipped([-difference for difference in differences]) >= 1 - 1e-12  # the observed sum is in both


@pytest.mark.parametrize(("before", "now", "scale"), [(1, 1, 1e-3), (5, 1, 1.0), (1, 5, 1e9), (5, 5, 1.0)])
def test_many_cases_are_what_the_normal_distribution_says(before: int, now: int, scale: float) -> None:
    """The mean and the variance of the sum under all deals are known: Cochran, Sampling Techniques, 2.5."""
    dice = random.Random(f"{before} {now}")
    cases = [
        CaseValues(
            [dice.gauss(0, scale) for _ in range(before)], [dice.gauss(-0.05 * scale, scale) for _ in range(now)]
        )
        for _ in range(1000)
    ]
    every = [np.array([*case.before, *case.now]) for case in cases]
    mean = sum(now * values.mean() for values in every)
    spread = math.sqrt(sum(before * now / (before + now) * values.var(ddof=1) for values in every))
    expected = norm.cdf((sum(sum(case.now) for case in cases) - mean) / spread)
    assert permutation_tails(cases).low == pytest.approx(expected, abs=0.01)


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
