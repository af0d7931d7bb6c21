"""pass@k and pass^k, against drawing every k of n."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.statistics.passk import pass_at_k, pass_hat_k


@given(st.integers(1, 9), st.integers(0, 9), st.integers(1, 9))
def test_pass_k__equals_drawing_every_k(n: int, c: int, k: int) -> None:
    c, k = min(c, n), min(k, n)
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-12)


def test_pass_k__is_undefined_with_fewer_trials_than_tries() -> None:
    assert pass_at_k(3, 3, 4) is None
    assert pass_hat_k(3, 3, 4) is None
    assert pass_at_k(0, 0, 1) is None


@pytest.mark.parametrize("wrong", [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_pass_k__refuses_what_cannot_be(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="can't be"):
        pass_at_k(*wrong)
