"""What a permutation test deals out: parts of a share, factors of an amount; fair with any numbers of trials."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from evalward.decide.portions import NONE, Portion, portion_of, relative, residuals
from evalward.decide.statistics.permutation import CaseValues, permutation_tails
from evalward.records.metric import Metric

CASES = 12
Drawn = Callable[[random.Random, int], list[Portion]]


def test_a_trial_s_part_is_what_its_own_metric_says() -> None:
    share = Metric(value=0.75, numerator=3.0, denominator=4.0, unit="ratio", better="higher")
    assert portion_of(share) == Portion(3.0, 4.0)
    assert portion_of(Metric(value=120.0, unit="tokens", better="lower")) == Portion(120.0)
    assert portion_of(None) is portion_of(Metric(value=None, unit="tokens", better="lower", reason="unknown")) is None


def test_the_parts_of_a_share_say_by_how_much_each_trial_is_above_or_below_the_case_s_own() -> None:
    values = residuals([Portion(2.0, 2.0), NONE], [Portion(1.0, 4.0)])  # 3 of 6 in all
    assert (values.before, values.now) == ([1.0, 0.0], [-1.0])


def test_amounts_are_factors_and_a_case_without_any_is_in_units_of_its_own() -> None:
    values = relative([Portion(100.0)], [Portion(200.0), Portion(50.0)])
    assert values.now[0] - values.before[0] == pytest.approx(math.log(2))
    assert values.before[0] - values.now[1] == pytest.approx(math.log(2))
    assert relative([Portion(0.0)], [Portion(3.0)]) == CaseValues([0.0], [2.0])
    assert relative([Portion(0.0)], [Portion(0.0)]) == CaseValues([0.0], [0.0])


def tokens(more: float) -> Drawn:
    def drawn(dice: random.Random, count: int) -> list[Portion]:
        return [Portion(1000 * more * math.exp(dice.gauss(0, 0.8))) for _ in range(count)]

    return drawn


def calls(dice: random.Random, count: int) -> list[Portion]:
    """Tool calls: one trial in seven goes astray, and makes more and worse ones."""
    return [Portion(3.0, 9.0) if dice.random() < 0.15 else Portion(3.0, 3.0) for _ in range(count)]


def convicted(values: Callable[..., CaseValues], before: Drawn, now: Drawn, sides: tuple[int, int], low: bool) -> float:
    """How often a dozen cases show a change at the 5 % level."""
    dice, checks = random.Random(f"{sides}"), 150
    found = 0
    for _ in range(checks):
        tails = permutation_tails([values(before(dice, sides[0]), now(dice, sides[1])) for _ in range(CASES)])
        found += (tails.low if low else tails.high) <= 0.05
    return found / checks


@pytest.mark.parametrize("sides", [(1, 3), (1, 5), (5, 1)])
def test_unequal_numbers_of_trials_convict_no_more_often(sides: tuple[int, int]) -> None:
    """Skewed amounts and shares that fall with what they are shares of: the seed is fixed."""
    assert convicted(relative, tokens(1.0), tokens(1.0), sides, low=False) <= 0.1
    assert convicted(residuals, calls, calls, sides, low=True) <= 0.1


def test_one_trial_against_a_baseline_of_five_sees_a_rise() -> None:
    assert convicted(relative, tokens(1.0), tokens(2.0), (5, 1), low=False) >= 0.7
