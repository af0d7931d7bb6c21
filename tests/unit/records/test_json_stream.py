"""JSON read value by value: the same as read at once, wherever the chunks end."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records import json_stream
from evalward.records.base import fitting
from evalward.records.json_stream import JsonStream
from evalward.records.json_text import NoJsonError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)
CHUNKS = st.integers(1, 80)


def parsed(data: bytes, chunk: int = 7) -> dict[str, Any]:
    """An object, read member by member."""
    stream = JsonStream(BytesIO(data), chunk)
    found = {key: stream.value() for key in stream.members()}
    stream.end()
    return found


@given(OBJECTS, CHUNKS, st.sampled_from([None, 1]), st.booleans())
def test_any_object_in_any_chunks(value: dict[str, Any], chunk: int, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "replace")  # half a character can only be written as an escape
    assert parsed(data, chunk) == fitting(json.loads(data))


@given(OBJECTS, CHUNKS, st.sampled_from(["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le"]))
def test_any_encoding_that_json_may_have(value: dict[str, Any], chunk: int, encoding: str) -> None:
    assert parsed(json.dumps(value).encode(encoding), chunk) == fitting(json.loads(json.dumps(value)))


@given(OBJECTS, CHUNKS, st.data())
def test_what_is_cut_anywhere_is_refused(value: dict[str, Any], chunk: int, data: st.DataObject) -> None:
    whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(NoJsonError):
        parsed(whole[:cut], chunk)


@given(st.binary(max_size=60) | st.text('{}[]",:\\u0123deE+-. \n', max_size=40).map(str.encode), CHUNKS)
def test_what_json_loads_refuses_is_refused_and_nothing_else(data: bytes, chunk: int) -> None:
    try:
        expected = fitting(json.loads(data.decode(json.detect_encoding(data))))
    except (ValueError, RecursionError):
        expected = None
    if isinstance(expected, dict):
        assert parsed(data, chunk) == expected
    else:
        with pytest.raises(NoJsonError):
            parsed(data, chunk)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it ends in the middle: it was cut off (line 1)"),
        ('{"a": 1', "it ends in the middle"),
        ('{"a": "b', "it ends in the middle"),
        ('{"a": [1,\n2', "it ends in the middle: it was cut off (line 2)"),
        ('{"a"', "it ends in the middle"),
        ('{"a": 1,\n"b" 2}', "':' is missing (line 2)"),
        ('{"a": 1 "b": 2}', "',' or '}' is missing"),
        ("{a: 1}", "a key in quotes is missing"),
        ('{"a": [1, 2,\n\n oops, "many", "more", "words"]}', "JSON strings need double quotes (line 3)"),
        ('{"a": 1} {}', "something follows after its end"),
        ("[1]", "'{' is missing"),
        ('{"a": ' + "[" * 101 + "]" * 101 + "}", "it is nested too deeply"),
        (r'{"a": "\ud83d", "b": ' + "[" * 101 + "]" * 101 + "}", "it is nested too deeply"),
        ('{"a": ' + "[" * 200_000, "it is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "a number has too many digits"),
    ],
    ids=lambda value: repr(value[:16]),
)
@pytest.mark.parametrize("chunk", [5, json_stream.CHUNK])
def test_why_something_is_refused(text: str, words: str, chunk: int) -> None:
    with pytest.raises(NoJsonError) as caught:
        parsed(text.encode(), chunk)
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}'])
def test_what_is_no_utf_8(data: bytes) -> None:
    with pytest.raises(NoJsonError, match="it isn't UTF-8"):
        parsed(data)


def test_what_no_record_can_hold_is_unknown_or_replaced() -> None:
    text = r'{"a": [NaN, -Infinity, 1e999, 99999999999999999999, 1.5, 7], "\udc00": "\ud800 \ud83d\ude00"}'
    assert parsed(text.encode(), 3) == {"a": [None, None, None, None, 1.5, 7], "\ufffd": "\ufffd 😀"}


def test_a_key_that_stands_twice_within_a_value_is_the_last() -> None:
    assert parsed(b'{"a": {"b": 1, "b": 2}}') == {"a": {"b": 2}}


def test_values_are_counted_and_bounded() -> None:
    stream = JsonStream(BytesIO(b'[[1, 2, 3], {"a": "b"}, [], [1, 2, 3, 4]]'), 4)
    parts = stream.elements()
    found = [stream.counted(4) for _ in zip(range(3), parts, strict=False)]
    assert found == [([1, 2, 3], 4), ({"a": "b"}, 2), ([], 2)]
    with pytest.raises(NoJsonError, match="more than 4 parts"):
        stream.value(4)


@pytest.mark.parametrize("chunk", [4, json_stream.CHUNK])
def test_a_value_is_bounded_in_size(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MOST_VALUE", 1 << 20)
    assert parsed(json.dumps({"a": "x" * 1_000_000}).encode(), chunk) == {"a": "x" * 1_000_000}
    with pytest.raises(NoJsonError, match="a value in it is larger than 1 MiB"):
        parsed(json.dumps({"a": "x" * 9_000_000}).encode(), chunk)


def test_a_text_is_bounded_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MOST_BYTES", 1 << 20)
    with pytest.raises(NoJsonError, match="it is larger than 1 MiB"):
        parsed(b'{"a": 1}' + b" " * (1 << 20), 4096)


def test_long_blanks_are_no_value() -> None:
    blanks = b" " * 50_000
    assert parsed(b"{" + blanks + b'"a"' + blanks + b":" + blanks + b"1" + blanks + b"}" + blanks, 64) == {"a": 1}


@given(VALUES, CHUNKS)
def test_any_value_can_be_gone_past(value: Any, chunk: int) -> None:
    stream = JsonStream(BytesIO(json.dumps({"long": value, "rest": 1}).encode()), chunk)
    keys = stream.members()
    assert next(keys) == "long"
    stream.skip()
    assert next(keys) == "rest"
    assert stream.value() == 1


@pytest.mark.parametrize("number", [10**18, 10**19 - 1, 2**64 - 1, -(2**64) + 1, -(10**18)])
def test_a_long_number_is_held_up_to_its_bound(number: int) -> None:
    assert parsed(f'{{"n": {number}}}'.encode()) == {"n": number}


@pytest.mark.parametrize("number", [2**64, -(2**64), 10**40])
def test_a_number_beyond_its_bound_is_unknown(number: int) -> None:
    assert parsed(f'{{"n": {number}}}'.encode()) == {"n": None}
