"""Mann and Whitney's test against scipy, and when times are called slower."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from evalward.decide.statistics.timing import MannWhitney, mann_whitney, slower

DISTINCT = st.lists(st.integers(1, 10**6), min_size=2, max_size=40, unique=True)
TIED = st.lists(st.integers(1, 9), min_size=1, max_size=30)


def measured(before: list[float], now: list[float]) -> MannWhitney:
    found = mann_whitney(before, now)
    assert found is not None
    return found


def assert_like_scipy(before: list[float], now: list[float], method: str) -> None:
    found = measured(before, now)
    one = mannwhitneyu(now, before, alternative="greater", method=method)
    two = mannwhitneyu(now, before, alternative="two-sided", method=method)
    assert found.u == one.statistic
    assert found.p_slower == pytest.approx(one.pvalue, rel=1e-9, abs=0)
    assert found.p_two_sided == pytest.approx(two.pvalue, rel=1e-9, abs=0)


@settings(deadline=None)
@given(DISTINCT, st.data())
def test_mann_whitney__without_ties_is_exact(values: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(max(1, len(values) - 20), min(20, len(values) - 1)))
    assert_like_scipy(values[:cut], values[cut:], "exact")  # type: ignore[arg-type]


@settings(deadline=None)
@given(TIED, TIED)
def test_mann_whitney__with_ties_is_the_corrected_approximation(before: list[int], now: list[int]) -> None:
    values = [*before, *now]
    if len(set(values)) == len(values):
        values = now = [*now, now[0]]
    if len(set(values)) > 1:
        assert_like_scipy(before, now, "asymptotic")  # type: ignore[arg-type]


def test_mann_whitney__more_than_twenty_a_side_is_approximated() -> None:
    before, now = [float(n) for n in range(21)], [n + 3.5 for n in range(20)]
    assert_like_scipy(before, now, "asymptotic")
    assert_like_scipy(before[1:], now, "exact")


def test_mann_whitney__all_tied_or_empty() -> None:
    assert measured([2.0] * 8, [2.0] * 8) == MannWhitney(32.0, 1.0, 1.0, 1.0)
    assert mann_whitney([], [1.0]) is None
    assert mann_whitney([1.0], []) is None
    assert measured([0.0, 0.0], [1.0, 2.0]).ratio is None


@settings(deadline=None)
@given(DISTINCT, st.integers(1, 39))
def test_mann_whitney__the_sides_mirror_each_other(values: list[int], cut: int) -> None:
    before: list[float] = [*values[:cut]]
    now: list[float] = [*values[cut:]]
    if before and now:
        one, other = measured(before, now), measured(now, before)
        assert one.u + other.u == len(before) * len(now)
        assert one.p_two_sided == pytest.approx(other.p_two_sided, rel=1e-12, abs=0)
        assert 0 < one.p_slower <= 1


FAST = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]


def test_slower__all_beyond_and_by_enough() -> None:
    verdict = slower(FAST, [each + 20 for each in FAST])
    assert verdict.slower
    assert verdict.cannot_fire is None
    assert verdict.test is not None
    assert verdict.test.p_slower == pytest.approx(1 / 924)


def test_slower__certain_but_little_is_not_slower() -> None:
    assert not slower(FAST, [each + 9 for each in FAST]).slower


def test_slower__much_but_by_chance_is_not_slower() -> None:
    assert not slower(FAST, [99.0, 98.0, 97.0, 160.0, 170.0, 180.0]).slower


def test_slower__five_samples_cannot_fire() -> None:
    verdict = slower(FAST[:5], [each * 9 for each in FAST])
    assert not verdict.slower
    assert verdict.cannot_fire == "5 samples on one side; it takes 6 on each"
    assert slower([], FAST).cannot_fire == "0 samples on one side; it takes 6 on each"


def test_slower__six_samples_with_ties_cannot_fire_seven_can() -> None:
    tied = [100.0] * 2 + FAST[2:]
    assert "with these ties" in (slower(tied, [each * 9 for each in FAST]).cannot_fire or "")
    assert slower([*tied, 106.0], [each * 9 for each in [*FAST, 107.0]]).slower


def test_slower__nothing_to_hold_it_against() -> None:
    verdict = slower([0.0] * 9, FAST)
    assert (verdict.slower, verdict.cannot_fire) == (False, "the median before is 0")
