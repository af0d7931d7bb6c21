"""The one convention of token counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.trace import Trace, Turn, Usage, add_usage

counts = st.none() | st.integers(0, 10**9)
usages = st.builds(
    Usage,
    input_tokens=counts,
    cache_read_tokens=counts,
    cache_write_tokens=counts,
    output_tokens=counts,
    reasoning_tokens=counts,
    cost_usd=st.none() | st.integers(0, 100).map(float),
)


def test_known_numbers_add_up() -> None:
    one = Usage(input_tokens=100, output_tokens=10, cost_usd=0.25)
    two = Usage(input_tokens=5, output_tokens=1, cost_usd=0.5, cache_read_tokens=7, reasoning_tokens=1)
    assert add_usage([one, two]) == Usage(
        input_tokens=105, output_tokens=11, cost_usd=0.75, cache_read_tokens=7, reasoning_tokens=1
    )


@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "cost_usd"])
def test_one_unknown_makes_the_sum_unknown_and_only_that_one(field: str) -> None:
    known = Usage(input_tokens=1, output_tokens=2, cost_usd=3.0)
    total = add_usage([known, known.model_copy(update={field: None})])
    assert getattr(total, field) is None
    others = {"input_tokens": 2, "output_tokens": 4, "cost_usd": 6.0}
    assert {name: getattr(total, name) for name in others if name != field} == {
        name: value for name, value in others.items() if name != field
    }


def test_cache_tokens_count_what_was_told() -> None:
    total = add_usage([Usage(cache_read_tokens=3), Usage(), Usage(cache_read_tokens=4)])
    assert (total.cache_read_tokens, total.cache_write_tokens) == (7, None)


def test_nothing_is_unknown_and_not_zero() -> None:
    assert add_usage([]) == Usage()


def test_all_that_was_read_is_fresh_input_and_both_kinds_of_cache() -> None:
    assert Usage(input_tokens=10, cache_read_tokens=200, cache_write_tokens=3).total_input_tokens == 213
    assert Usage(cache_read_tokens=200).total_input_tokens is None


@given(st.lists(usages, max_size=5))
def test_the_order_doesnt_matter(items: list[Usage]) -> None:
    assert add_usage(items) == add_usage(reversed(items))


def test_a_trace_sums_its_turns_unless_only_the_total_is_known() -> None:
    turns = [Turn(usage=Usage(input_tokens=1, output_tokens=1, cost_usd=0.0))] * 3
    assert Trace(turns=turns).usage.input_tokens == 3
    assert Trace(turns=[Turn()], total=Usage(input_tokens=9)).usage.input_tokens == 9
