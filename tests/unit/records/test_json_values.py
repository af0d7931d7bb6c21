"""How many values a message may have: counted in one pass, whatever it holds, and without a copy of it."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.json_values import has_more_values

JSON = st.recursive(
    st.none() | st.integers() | st.text('a,[{"\\', max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('b,[{"\\', max_size=4), inner, max_size=4),
    max_leaves=30,
)


def marks(value: object) -> int:
    """The commas and brackets of a value's JSON outside its strings."""
    if not isinstance(value, list | dict):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(inner) - 1) + sum(map(marks, inner))


@given(JSON)
def test_commas_and_brackets_outside_strings_are_counted(value: object) -> None:
    data, number = json.dumps(value).encode(), marks(value)
    assert not has_more_values(data, number)
    assert number == 0 or has_more_values(data, number - 1)


def test_the_strings_own_do_not_count() -> None:
    assert not has_more_values(json.dumps({"text": '[{",' * 10_000}).encode(), 1)


@pytest.mark.parametrize(
    "data",
    [
        b"{" + b'"a":{"":""},' * 200_000,
        b'["' + b'\\"' * 300_000 + b"," * 2_000,
        b',"\\',
        b'""' * 200_000 + b"," * 2_000,
    ],
    ids=["many strings", "a string that breaks off", "at a backslash", "strings without anything between"],
)
def test_damaged_ones_take_one_pass_and_no_memory(data: bytes) -> None:
    tracemalloc.start()
    try:
        has_more_values(data, 1_000)
        assert tracemalloc.get_traced_memory()[1] < 100_000  # bytes
    finally:
        tracemalloc.stop()


def test_a_string_that_breaks_off_ends_all() -> None:
    assert not has_more_values(b'["' + b"," * 2_000, 1_000)
    assert has_more_values(b'""' * 3_000 + b"," * 2_000, 1_000)
