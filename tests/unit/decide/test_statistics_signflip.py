"""The exact sign-flip test, against enumeration and scipy."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from evalward.decide.statistics.signflip import sign_flip_worse
from evalward.decide.statistics.stratified import mcnemar_worse

THOUSANDTHS = st.lists(st.integers(-3000, 3000).map(lambda units: units / 1000), min_size=1, max_size=9)


def enumerated(differences: list[float]) -> float:
    """All signs, one after the other, in whole thousandths."""
    units = [round(difference * 1000) for difference in differences]
    sums = [sum(signed) for signed in itertools.product(*((unit, -unit) for unit in units))]
    return sum(value <= sum(units) for value in sums) / len(sums)


@given(THOUSANDTHS)
def test_sign_flip__equals_enumeration(differences: list[float]) -> None:
    assert sign_flip_worse(differences) == pytest.approx(enumerated(differences), rel=1e-12, abs=0)


@settings(deadline=None, max_examples=25)
@given(THOUSANDTHS.filter(lambda differences: len(differences) > 1))
def test_sign_flip__equals_scipys_permutation_test(differences: list[float]) -> None:
    oracle = permutation_test(
        (np.round(np.array(differences) * 1000),),
        np.sum,
        permutation_type="samples",
        alternative="less",
        n_resamples=np.inf,
    )
    assert sign_flip_worse(differences) == pytest.approx(oracle.pvalue, rel=1e-9, abs=0)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60))
def test_sign_flip__of_single_trials_is_mcnemars(differences: list[float]) -> None:
    lost, gained = differences.count(-1.0), differences.count(1.0)
    assert sign_flip_worse(differences) == pytest.approx(mcnemar_worse(lost, gained), rel=1e-12, abs=0)


@given(st.lists(st.floats(-2, 2), max_size=30), st.randoms())
def test_sign_flip__takes_any_order_and_ignores_zeros(differences: list[float], dice: random.Random) -> None:
    p = sign_flip_worse(differences)
    assert 0 < p <= 1
    assert sign_flip_worse([*dice.sample(differences, len(differences)), 0.0, 0.0]) == p
    assert p + sign_flip_worse([-difference for difference in differences]) >= 1  # the observed sum is in both


def test_sign_flip__small_worked_examples() -> None:
    assert sign_flip_worse([]) == sign_flip_worse([0.0, 0.0]) == 1.0
    assert sign_flip_worse([-0.2] * 5) == 1 / 32
    assert sign_flip_worse([-0.3, -0.2, 0.1]) == 2 / 8  # −0.6 and −0.4 of the eight sums
    assert sign_flip_worse([0.5]) == 1.0


def test_sign_flip__what_rounds_to_nothing_is_nothing() -> None:
    assert sign_flip_worse([0.1 + 0.2 - 0.3, -0.0004] * 20) == 1.0
    assert sign_flip_worse([-0.0004] * 5, step=0.0001) == 1 / 32


@pytest.mark.parametrize("count", [190, 191, 192, 193, 300])
def test_sign_flip__counts_cut_to_128_bits_equal_the_binomial(count: int) -> None:
    lost = count // 2 + 12
    differences = [-0.25] * lost + [0.25] * (count - lost)
    assert sign_flip_worse(differences) == pytest.approx(mcnemar_worse(lost, count - lost), rel=1e-12, abs=0)


def test_sign_flip__a_table_cut_several_times_keeps_neighbours_apart() -> None:
    dice = random.Random(3)
    units = [dice.randint(-9, 9) for _ in range(400)]
    ways = {0: 1}
    for unit in units:  # the same in whole numbers, cell by cell
        grown: dict[int, int] = {}
        for value, count in ways.items():
            for reached in (value - unit, value + unit):
                grown[reached] = grown.get(reached, 0) + count
        ways = grown
    exact = sum(count for value, count in ways.items() if value <= sum(units)) / 2**400
    assert sign_flip_worse([unit / 1000 for unit in units]) == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e9])
def test_sign_flip__large_values_get_a_wider_step_and_nearly_the_same_p(scale: float) -> None:
    dice = random.Random(5)
    differences = [dice.gauss(-0.05, 1) for _ in range(1000)]
    z = sum(differences) / math.sqrt(math.fsum(each * each for each in differences))
    assert sign_flip_worse([each * scale for each in differences]) == pytest.approx(norm.cdf(z), abs=2e-3)


def test_sign_flip__the_wider_step_is_exact_where_it_loses_nothing() -> None:
    apart = [-1e6] * 7 + [3e6] * 2
    assert sign_flip_worse([*apart, -2e6 - 0.001]) == enumerated([*(each / 1e6 for each in apart), -2.0])


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_sign_flip__wants_finite_numbers(wrong: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        sign_flip_worse([0.5, wrong])
