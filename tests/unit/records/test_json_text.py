"""JSON of anybody's: read within bounds, or refused in words of our own."""

from __future__ import annotations

import pytest

from evalward.records.json_text import NoJsonError, read_json


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it ends too early (column 1)"),
        ('{"a": 1,\n"b" 2}', "the colon after a key is missing (column 5)"),
        ("[" * 50_000, "it is nested too deeply"),
        ("[" * 101 + "]" * 101, "it is nested too deeply"),
        ('{"a":' * 101 + "1" + "}" * 101, "it is nested too deeply"),
        ("9" * 5_000, "a number has too many digits"),
        ("[-" + "9" * 5_000 + "]", "a number has too many digits"),
        ("1e999", "the number 1e999 is too large"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        (r'["\ud800"]', "half a character"),
        (r'{"\udfff": 1}', "half a character"),
        (b'["\xed\xa0\x80"]', "it isn't UTF-8: invalid continuation byte at byte 2"),
        (b"\xff\x80", "it isn't UTF-8"),
        ("[" + "0," * 50 + "0]", "it has more than 40 values"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_what_no_record_can_hold_is_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(NoJsonError) as caught:
        read_json(text, most_values=40 if "0,0" in str(text) else 1_000_000)
    assert words in str(caught.value)


def test_the_line_is_known_where_the_parser_knows_it() -> None:
    with pytest.raises(NoJsonError) as caught:
        read_json('{"a": 1,\n"b" 2}')
    assert caught.value.line == 2


def test_a_key_that_stands_twice_is_read_or_refused() -> None:
    assert read_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(NoJsonError, match="the key 'a' occurs in it twice"):
        read_json('[{"b": {"a": 1, "a": 2}}]', once=True)


def test_what_is_replaced_later_may_be_read() -> None:
    found = read_json(r'[NaN, 1e999, "\ud800"]', lenient=True)
    assert found[0] != found[0]
    assert found[1:] == [float("inf"), "\ud800"]


def test_all_else_is_read_as_it_stands() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": [1, 2.5, null, "\\u00e9", {}]}') == {"a": [1, 2.5, None, "é", {}]}
    assert read_json("[" * 100 + "]" * 100)
