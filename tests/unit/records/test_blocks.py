"""Values as people read them: valid YAML that says the same value, whatever is in it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.blocks import block_text

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["yes", "null", "1e3", "0x1f", "- a", "a: b", "a #b", "#", "a:", "on", "~", " a", "a ", "2031-05-06", "a\n\n", "\n"]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner), max_leaves=20)


@given(st.dictionaries(_TEXTS, _VALUES))
def test_the_text_is_yaml_of_the_same_value(value: dict[str, Any]) -> None:
    assert yaml.safe_load(block_text(value)) == (value or {})


def test_texts_of_several_lines_stand_as_they_are() -> None:
    value = {"prompt": "Do this.\nThen: that.\n", "files": {"/a.txt": "1\n2"}, "checks": [{"check": "exit_code:0"}]}

    assert block_text(value) == (
        "prompt: |\n  Do this.\n  Then: that.\nfiles:\n  /a.txt: |-\n    1\n    2\nchecks:\n  - check: exit_code:0\n"
    )


@pytest.mark.parametrize("hidden", ["\u202e", "\x1b", "\u200b", "\u2028", "\x85"])
def test_what_nobody_would_see_is_said_by_its_number(hidden: str) -> None:
    text = block_text({"prompt": f"one\ntwo{hidden}three"})

    assert hidden not in text
    assert yaml.safe_load(text) == {"prompt": f"one\ntwo{hidden}three"}


def test_what_is_nested_deeper_than_anybody_reads_stands_on_one_line() -> None:
    value: Any = "end"
    for _ in range(90):
        value = {"in": [value]}

    assert len(block_text(value).splitlines()) < 50
    assert yaml.safe_load(block_text({"a": [[1], []], "b": {}})) == {"a": [[1], []], "b": {}}


def test_the_same_value_gives_the_same_text_in_the_order_that_it_was_written_in() -> None:
    assert block_text({"b": 1, "a": 2}) == "b: 1\na: 2\n"


@pytest.mark.parametrize("text", ["x" * 1_000_000, "x " * 500_000, "x: " * 300_000])
def test_a_long_text_takes_no_more_memory_than_some_copies_of_it(text: str) -> None:
    tracemalloc.start()
    try:
        made = block_text({"prompt": text})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert text in made
    assert peak < 10 * len(text)
