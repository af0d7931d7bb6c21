"""Long texts keep their beginning and end, and say how much is missing."""

from __future__ import annotations

import pytest

from evalward.render.folding import HEAD_LINES, MOST_CHARACTERS, TAIL_LINES, FoldedText, folded


@pytest.mark.parametrize(
    "text", ["", "a", "a\n\nb", "\n".join(map(str, range(HEAD_LINES + TAIL_LINES))), "x" * MOST_CHARACTERS]
)
def test_a_short_text_stays_as_it_is(text: str) -> None:
    assert folded(text) == FoldedText(text)


def test_line_ends_around_a_text_are_no_lines_of_it() -> None:
    assert folded("\n\na\n\n") == FoldedText("a")


def test_many_lines_keep_the_first_and_the_last() -> None:
    lines = [str(number) for number in range(1_000)]
    found = folded("\n".join(lines) + "\n")

    assert found.head.split("\n") == lines[:HEAD_LINES]
    assert found.tail.split("\n") == lines[-TAIL_LINES:]
    assert found.lines == 1_000 - HEAD_LINES - TAIL_LINES
    assert found.left_out == len("\n".join(lines[HEAD_LINES:-TAIL_LINES])) + 1


def test_one_long_line_keeps_its_beginning_and_its_end() -> None:
    found = folded("a" * 500_000 + "b" * 500_000)
    assert (set(found.head), set(found.tail), found.lines) == ({"a"}, {"b"}, 0)
    assert len(found.head) + len(found.tail) == MOST_CHARACTERS
    assert found.left_out == 1_000_000 - MOST_CHARACTERS


def test_a_long_line_among_short_ones_is_cut_too() -> None:
    found = folded("first\n" + "x" * 100_000 + "\nlast")
    assert found.head.startswith("first\nxxx")
    assert found.tail.endswith("xxx\nlast")
    assert len(found.head) + len(found.tail) + found.left_out == len("first\n" + "x" * 100_000 + "\nlast")


def test_no_tail_is_wanted_of_a_file() -> None:
    found = folded("\n".join("abcdef"), head=2, tail=0)
    assert (found.head, found.tail, found.lines) == ("a\nb", "", 3)
