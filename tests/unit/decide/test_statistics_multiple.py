"""Adjusted p-values equal statsmodels'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evalward.decide.statistics.multiple import benjamini_hochberg, holm, weighted_holm

METHODS = pytest.mark.parametrize(("adjust", "name"), [(benjamini_hochberg, "fdr_bh"), (holm, "holm")])
Adjust = Callable[[Sequence[float]], list[float]]


@METHODS
@given(ps=st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 0.05]), min_size=1, max_size=40))
def test_adjusted__equals_statsmodels(ps: list[float], adjust: Adjust, name: str) -> None:
    adjusted = adjust(ps)
    with patch("gc.collect"):  # statsmodels' Holm collects the whole process's garbage on every call
        oracle = list(multipletests(ps, method=name)[1])
    assert adjusted == pytest.approx(oracle, abs=1e-9)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))


@METHODS
def test_adjusted__of_nothing_and_of_one(adjust: Adjust, name: str) -> None:
    assert adjust([]) == []
    assert adjust([0.03]) == [0.03]


def test_adjusted__worked_example() -> None:
    ps = [0.04, 0.01, 0.03, 0.5]
    assert benjamini_hochberg(ps) == pytest.approx([0.16 / 3, 0.04, 0.16 / 3, 0.5])
    assert holm(ps) == pytest.approx([0.09, 0.04, 0.09, 0.5])


@given(ps=st.lists(st.floats(0, 1), max_size=20), weight=st.floats(0.01, 10))
def test_weighted__with_equal_weights_is_holm(ps: list[float], weight: float) -> None:
    assert weighted_holm(ps, [weight] * len(ps)) == pytest.approx(holm(ps), abs=1e-9)


def test_weighted__worked_example() -> None:
    # The order is 0.01/0.6, 0.02/0.2, 0.03/0.2: 0.01 / 0.6, then 0.02·0.4/0.2, then 0.03.
    assert weighted_holm([0.03, 0.01, 0.02], [0.2, 0.6, 0.2]) == pytest.approx([0.04, 0.01 / 0.6, 0.04])


def test_weighted__fails_at_most_alpha_of_all_where_nothing_is_true() -> None:
    dice, weights = Random(7), [0.4, 0.4, 0.1, 0.1]
    found = sum(min(weighted_holm([dice.random() for _ in weights], weights)) <= 0.05 for _ in range(4000))
    assert 0.035 < found / 4000 < 0.055
