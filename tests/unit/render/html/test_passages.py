"""Long texts in the page: what stands there, what is packed, and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.render.escape import html_shown
from evalward.render.html.passages import HEAD, TAIL, WHOLE, Passages, packed, shortened
from support.pages import unpacked


def test_a_short_text_is_whole() -> None:
    passages = Passages(10_000)
    found = passages.of("ok\n")
    assert (found.text, found.tail, found.between, found.left_out, found.long) == ("ok\n", "", 0, 0, False)
    assert passages.texts == []


def test_a_long_text_has_head_and_tail_in_the_page_and_is_packed_whole() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    passages = Passages(100_000)
    found = passages.of(text)
    assert (found.text, found.tail) == (text[:HEAD], text[-TAIL:])
    assert (found.size, found.between, found.left_out) == (len(text), len(text) - HEAD - TAIL, 0)
    assert found.packed == 0
    assert found.long
    assert unpacked(packed(passages.texts)) == [text]


def test_a_text_beyond_the_limit_says_how_much_is_left_out_where_it_is_packed_too() -> None:
    passages = Passages(5_000)
    found = passages.of("a" * 3_000 + "b" * 3_000 + "c" * 3_000)
    (kept,) = passages.texts
    assert found.left_out == passages.left_out == 4_000
    assert "\n[left out: 4,000 characters]\n" in kept
    assert kept.startswith("aaa")
    assert kept.endswith("ccc")


def test_without_packing_a_text_stands_in_the_page_up_to_the_limit() -> None:
    passages = Passages(4_000, pack=False)
    assert passages.of("x" * 3_000).text == "x" * 3_000
    found = passages.of("x" * 5_000)
    assert len(found.text) + len(found.tail) == 4_000
    assert (found.between, found.left_out, found.packed) == (1_000, 1_000, None)


@given(text=st.text(max_size=3_000), limit=st.integers(1, 4_000), pack=st.booleans())
def test_nothing_is_lost_without_being_counted(text: str, limit: int, pack: bool) -> None:
    text = text + "y" * (WHOLE if len(text) % 2 else 0)
    passages = Passages(limit, pack)
    found = passages.of(text)
    assert len(found.text) + len(found.tail) + found.between == found.size == len(text)
    assert text.startswith(found.text)
    assert text.endswith(found.tail)
    assert found.left_out == max(0, len(text) - limit)
    if found.packed is None:
        assert found.between == found.left_out
    else:
        assert passages.texts[found.packed] == html_shown(shortened(text, limit))


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "\u2028\u2029",
        "\ud800 and \udfff",
        "<!--<script>",
        "\x00\x1b[31m",
        "\u202eabc",
    ],
)
def test_what_is_packed_can_neither_end_its_element_nor_break_its_reader(text: str) -> None:
    passages = Passages(10_000)
    passages.of(text * 2_000)
    found = packed(passages.texts)
    assert found.isascii()
    assert not set(found) & set("<>&\"'\\ \n")
    assert unpacked(found) == [html_shown(shortened(text * 2_000, 10_000))]
    assert not {"\u2028", "\ud800", "\x1b", "\x00", "\u202e"} & set(unpacked(found)[0])


def test_the_same_texts_give_the_same_bytes() -> None:
    texts = ["one\n" * 5_000, "zwei – drei"]
    assert packed(texts) == packed(list(texts))
    assert len(packed(texts)) < 500
