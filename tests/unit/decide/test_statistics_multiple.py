"""Adjusted p-values equal statsmodels'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evalward.decide.statistics.multiple import benjamini_hochberg, holm

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
