"""A document with one long array, and JSON lines: streamed, and refused as a whole when they are broken."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.json_stream import JsonStream
from evalward.records.json_text import NoJsonError
from evalward.records.problem import InputError
from evalward.suites.external.formats import document
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.document import Document, Lines
from support.foreign.files import in_memory

SMALL = st.integers(-(2**60), 2**60)
PATH = ("results", "results")
NESTED = '{"a": 1, "results": {"before": [1], "results": [{"x": 1}, {"x": 2}], "after": {"n": 2}}, "config": {"b": 3}}'


def read(text: str | bytes, path: tuple[str, ...] = PATH) -> Document:
    return Document(in_memory(text), "a log", path)


def test_the_head_has_what_stands_around_the_array() -> None:
    found = read(NESTED)
    assert found.head == {
        "a": 1,
        "results": {"before": [1], "results": [], "after": {"n": 2}},
        "config": {"b": 3},
    }
    assert found.has_items
    assert list(found.items()) == [{"x": 1}, {"x": 2}]
    assert list(found.items()) == [{"x": 1}, {"x": 2}]  # as often as one likes


def test_an_array_at_the_top_of_the_object() -> None:
    found = read('{"cases": [], "n": 0}', ("cases",))
    assert (found.head, list(found.items())) == ({"cases": [], "n": 0}, [])


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.none() | SMALL | st.text(), max_size=3), max_size=5),
    st.dictionaries(st.sampled_from("abc"), SMALL | st.lists(SMALL, max_size=3)),
    st.dictionaries(st.sampled_from("xyz"), st.text(max_size=3) | st.just({"results": [1]})),
)
def test_any_document(items: list[Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    found = read(json.dumps({**before, "results": {**before, "results": items, **after}, **after}))
    assert found.head == {**before, "results": {**before, "results": [], **after}, **after}
    assert list(found.items()) == items


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"results": null}',
        '{"results": []}',
        '{"results": {"results": {"a": 1}}}',
        '{"results": {"results": null}}',
    ],
)
def test_without_the_array_the_head_is_there_and_the_items_are_refused(text: str) -> None:
    found = read(text)
    assert found.head == json.loads(text)
    assert not found.has_items
    with pytest.raises(InputError, match=r"^results/file: a log can't be read: it has no list results.results\."):
        list(found.items())


def test_long_parts_that_nobody_reads_are_left_out() -> None:
    text = '{"config": {"tests": [{"a": 1}, [2]], "name": "n", "more": {"x": 1, "y": []}}, "results": {"results": [1]}}'
    found = Document(in_memory(text), "a log", PATH, without=(("config", "tests"), ("config", "more")))
    assert found.head == {"config": {"name": "n"}, "results": {"results": []}}
    assert list(found.items()) == [1]


def test_a_file_that_is_cut_anywhere_gives_nothing() -> None:
    for cut in range(len(NESTED)):
        with pytest.raises(InputError) as caught:
            read(NESTED[:cut])
        assert str(caught.value).startswith("results/file: a log can't be read: it ")
        assert "\n" not in str(caught.value)


def test_a_file_that_is_cut_between_the_two_readings_ends_in_an_error() -> None:
    versions = iter([NESTED.encode(), NESTED[:70].encode()])
    found = Document(ForeignFile("f", 100, lambda: BytesIO(next(versions))), "a log", PATH)
    with pytest.raises(InputError, match="it ends in the middle"):
        list(found.items())


@pytest.mark.parametrize(
    "text",
    [
        '{"results": {"results": [1], "results": [2]}}',
        '{"results": {"results": [1]}, "results": {"results": [2]}}',
        '{"results": {"results": [1]}, "results": 1}',
        '{"results": {"results": []}, "a": 1, "a": 2}',
    ],
)
def test_a_key_that_stands_twice_around_the_items_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="occurs in it twice"):
        read(text)


@pytest.mark.parametrize(
    ("text", "why"), [("[]", "it is not an object"), ("", "it is empty"), ("\ufeff 1", "it is not an object")]
)
def test_what_is_no_object(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(text)


def test_what_stands_around_the_items_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = json.dumps({"a": [1] * 40, "b": [1] * 70, "results": {"results": [[1] * 99] * 5}})
    monkeypatch.setattr(document, "MOST_ITEM_VALUES", 100)
    with pytest.raises(InputError, match="more than"):
        Document(in_memory(many), "a log", PATH)
    found = Document(in_memory(many), "a log", PATH, without=[("b",)])
    assert sum(map(len, found.items())) == 5 * 99


def test_the_length_of_what_stands_around_the_items_is_bounded() -> None:
    room = document._Room(values=100, characters=100)
    stream = JsonStream(BytesIO(b'["' + b"x" * 60 + b'", "' + b"x" * 60 + b'"]'))
    parts = stream.elements()
    next(parts)
    assert room.value(stream) == "x" * 60
    next(parts)
    with pytest.raises(NoJsonError, match="what surrounds its results is larger"):
        room.value(stream)


def test_a_file_that_is_too_large_is_not_opened() -> None:
    def never() -> BytesIO:
        raise AssertionError

    with pytest.raises(InputError, match="it is larger than 1024 MiB"):
        Document(ForeignFile("f", (1 << 30) + 1, never), "a log", PATH)


def test_lines_are_objects() -> None:
    text = '{"a": 1}\r\n\n  \n{"a": NaN, "b": "\\ud800"}\n{"a": 3}'
    assert list(Lines(in_memory(text), "a log").items()) == [{"a": 1}, {"a": None, "b": "\ufffd"}, {"a": 3}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}\n{"a": ', "line 2: it ends too early \\(column 7\\)"),
        ('{"a": 1}\n\n[1]\n', "line 3 is not an object"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "line 1: it is nested too deeply"),
        (b'{"a": "\xff"}', "line 1: it isn't UTF-8"),
    ],
)
def test_a_line_that_is_no_object_is_refused(text: str | bytes, why: str) -> None:
    with pytest.raises(InputError, match=why):
        list(Lines(in_memory(text), "a log").items())


def test_a_line_is_bounded_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_VALUE", 100)
    lines = Lines(in_memory(json.dumps({"a": 1}) + "\n" + json.dumps({"a": "x" * 200})), "a log").items()
    assert next(lines) == {"a": 1}
    with pytest.raises(InputError, match="line 2 is larger than"):
        next(lines)


def test_lines_that_begin_with_a_byte_order_mark() -> None:
    assert list(Lines(in_memory(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n'), "a log").items()) == [{"a": 1}, {"a": 2}]
