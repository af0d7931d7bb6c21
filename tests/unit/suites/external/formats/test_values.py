"""Values of other harnesses' JSON: what they should be, or unknown."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.suites.external.formats.folders import nearest
from evalward.suites.external.formats.values import amount, between, count, including_cache, number, outline


@pytest.mark.parametrize(
    ("value", "known"), [(1, 1), (2.0, 2), (0, 0), (1.5, None), (-1, None), (True, None), ("1", None), (10**16, None)]
)
def test_a_count_is_whole_and_never_negative(value: Any, known: int | None) -> None:
    assert count(value) == known


def test_numbers_and_amounts() -> None:
    assert [number(value) for value in (-0.5, 2, False, None, float("nan"))] == [-0.5, 2.0, None, None, None]
    assert [amount(value) for value in (0.0, 0.5, -0.5)] == [0.0, 0.5, None]


def test_the_time_between_two_moments() -> None:
    assert between("2026-11-22T04:08:21Z", "2026-11-22T04:08:22.25Z") == 1250
    assert between("2026-11-22T04:08:21Z", "2026-11-22T04:08:22") is None  # one of them has no zone
    assert between("2026-11-22T04:08:22Z", "2026-11-22T04:08:21Z") is None
    assert between(None, "2026-11-22T04:08:21Z") is None


def test_more_from_the_cache_than_there_is_makes_the_input_unknown() -> None:
    assert including_cache(100, 150, 5, None).input_tokens is None
    assert including_cache(100, None, 5, None).input_tokens == 100


def test_the_outline_of_a_beginning() -> None:
    assert outline(b'{"a": {"b": {"c": 1}}, "d": [{"e": 1}, {"f": 2}], "g": "{\\"h\\": 1}", "i') == {
        *("a", "a.b", "d", "d.e", "d.f", "g"),
    }
    assert outline(b'\xef\xbb\xbf [{"a": 1}, {"b": [{"c": {"d": 1}}]}]') == {"a", "b", "b.c"}
    for nothing in (b"", b"x", b'"a": 1', b'<a>{"a": 1}</a>', b"[1, 2]", b'{"a": 1'[:4], b"\xff" * 9):
        assert outline(nothing) == frozenset()


def test_the_outline_ends_where_the_object_does() -> None:
    assert outline(b'{"a": 1} {"b": 1}') == {"a"}
    assert outline(b"[" * 60_000) == frozenset()


def test_the_nearest_folder() -> None:
    assert nearest("a/b/c/d.json", {"a", "a/b"}) == "a/b"
    assert nearest("a/x.json", {"", "b"}) == ""
    assert nearest("/a/x.json", {"b"}) is None
    assert nearest("x.json", {"b"}) is None
