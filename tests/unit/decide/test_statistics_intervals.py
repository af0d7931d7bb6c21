"""Intervals: the worked examples, scipy and statsmodels, and where there is no interval."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evalward.decide.statistics.intervals import (
    ConfidenceInterval,
    bonett_price,
    mean_difference,
    paired_rate_difference,
    wilson,
)
from evalward.decide.statistics.stratified import CaseTrials
from evalward.decide.statistics.student import normal_above, student_quantile


def ends(interval: ConfidenceInterval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


@pytest.mark.parametrize(("k", "n", "low", "high"), [(37, 37, 0.906, 1), (33, 37, 0.753, 0.957), (0, 10, 0, 0.278)])
def test_wilson__worked_examples(k: int, n: int, low: float, high: float) -> None:
    assert ends(wilson(k, n)) == pytest.approx((low, high), abs=5e-4)


@given(st.integers(0, 2000), st.integers(1, 2000), st.floats(0.5, 0.999))
def test_wilson__equals_statsmodels(k: int, n: int, confidence: float) -> None:
    assume(k <= n)
    oracle = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
    assert ends(wilson(k, n, confidence)) == pytest.approx(oracle, abs=1e-9)


def test_wilson__nothing_of_nothing_is_unknown() -> None:
    assert wilson(0, 0) is None
    assert ends(wilson(0, 3))[0] == 0.0
    assert ends(wilson(3, 3))[1] == 1.0
    with pytest.raises(ValueError, match="not a rate"):
        wilson(4, 3)


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 10_000))
def test_student__quantiles_equal_scipys(p: float, freedom: int) -> None:
    assert student_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9, abs=1e-9)


def test_student__known_quantiles() -> None:
    assert student_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi), rel=1e-12, abs=0)
    assert student_quantile(0.5, 7) == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(1.0, 3)


@given(st.floats(-8, 30))
def test_normal__tail_equals_scipys(z: float) -> None:
    assert normal_above(z) == pytest.approx(stats.norm.sf(z), rel=1e-9, abs=0)


@given(st.lists(st.integers(-4000, 4000).map(lambda n: n / 1000), min_size=2, max_size=50))
def test_mean_difference__equals_scipys_t_interval(differences: list[float]) -> None:
    assume(len(set(differences)) > 1)
    oracle = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert ends(mean_difference(differences)) == pytest.approx((oracle.low, oracle.high), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("differences", [[], [0.5], [0.0] * 9, [0.3, 0.1 + 0.2]])
def test_mean_difference__claims_no_certainty(differences: list[float]) -> None:
    assert mean_difference(differences) is None


def test_bonett_price__worked_example() -> None:
    # p̃_b = 8/23, p̃_c = 2/23: −6/23 ± 1.959964·√((10/23 − 36/529)/23)
    half = 1.959963984540054 * math.sqrt((10 / 23 - 36 / 529) / 23)
    assert ends(bonett_price(7, 1, 21)) == pytest.approx((-6 / 23 - half, -6 / 23 + half), abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_bonett_price__is_the_formula_and_symmetric(lost: int, gained: int, same: int) -> None:
    n = lost + gained + same
    assume(n)
    b, c = (lost + 1) / (n + 2), (gained + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * math.sqrt((b + c - (c - b) ** 2) / (n + 2))
    assert ends(bonett_price(lost, gained, n)) == pytest.approx((max(-1, c - b - half), min(1, c - b + half)), abs=1e-9)
    low, high = ends(bonett_price(gained, lost, n))
    assert ends(bonett_price(lost, gained, n)) == pytest.approx((-high, -low), abs=1e-12)


def test_bonett_price__no_cases_and_impossible_ones() -> None:
    assert bonett_price(0, 0, 0) is None
    with pytest.raises(ValueError, match="can't be"):
        bonett_price(3, 2, 4)


def test_paired__single_trials_give_bonett_and_price() -> None:
    cases = [CaseTrials(1, 1, 0, 1)] * 3 + [CaseTrials(0, 1, 1, 1)] + [CaseTrials(1, 1, 1, 1)] * 6
    assert paired_rate_difference(cases) == bonett_price(3, 1, 10)
    assert paired_rate_difference([*cases, CaseTrials(1, 1, 0, 0)]) == bonett_price(3, 1, 10)


def test_paired__several_trials_give_students_interval_of_one_case_more() -> None:
    cases = [CaseTrials(5, 5, 2, 4), CaseTrials(3, 5, 3, 5), CaseTrials(4, 5, 5, 5)]
    more = 0.25 / math.sqrt(2)
    oracle = stats.ttest_1samp([-0.5, 0.0, 0.2, more, -more], 0).confidence_interval(0.95)
    assert ends(paired_rate_difference(cases)) == pytest.approx((max(-1.0, oracle.low), oracle.high), abs=1e-9)


def test_paired__equal_differences_still_have_a_width() -> None:
    low, high = ends(paired_rate_difference([CaseTrials(5, 5, 5, 5)] * 37))
    assert high == pytest.approx(stats.t.ppf(0.975, 38) * math.sqrt(0.04 / 39 / 38), abs=1e-12)  # 2·(1/5)²/2
    assert low == -high
    assert 0.01 < high < 0.02


@pytest.mark.parametrize(("cases", "rate"), [(10, 0.95), (37, 0.95), (37, 0.99), (10, None)])
def test_paired__covers_the_truth_where_suites_are_small_or_nearly_perfect(cases: int, rate: float | None) -> None:
    """Five trials before, one now, nothing changed. 93 % at least, of 600; `None`: each case has a rate of its own."""
    dice = Random(f"{cases} {rate}")
    covered = 0
    for _ in range(600):
        chances = [dice.betavariate(0.56, 0.14) if rate is None else rate for _ in range(cases)]
        seen = [CaseTrials(sum(dice.random() < p for _ in range(5)), 5, dice.random() < p, 1) for p in chances]
        low, high = ends(paired_rate_difference(seen))
        covered += low <= 0 <= high
    assert covered >= 0.93 * 600


def test_paired__says_nothing_of_nothing() -> None:
    assert paired_rate_difference([]) is None
    assert paired_rate_difference([CaseTrials(5, 5, 0, 5)]) is None
    assert paired_rate_difference([CaseTrials(0, 0, 1, 1)]) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_paired__is_symmetric_and_stays_between_minus_one_and_one(passed: list[tuple[int, int]]) -> None:
    low, high = ends(paired_rate_difference([CaseTrials(before, 5, now, 5) for before, now in passed]))
    assert -1 <= low < high <= 1
    turned = ends(paired_rate_difference([CaseTrials(now, 5, before, 5) for before, now in passed]))
    assert turned == pytest.approx((-high, -low), abs=1e-9)
