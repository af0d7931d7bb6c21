"""From one text to another: true line by line, folded where nothing changed, bounded whatever the texts are."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalward.render.text_diff import MOST_LINES, DiffLine, Folded, Mark, Span, TextDiff, text_diff

_LINES = st.lists(st.sampled_from(["", "a", "b", "a b", "c d e f", "c d x f", "\r", "\x1b[31m"]), max_size=30)


def line(part: DiffLine | Folded) -> str:
    assert isinstance(part, DiffLine)
    return "".join(span.text for span in part.spans)


def side(diff: TextDiff, gone: Mark) -> list[str]:
    return [line(part) for part in diff.parts if isinstance(part, DiffLine) and part.mark != gone]


def plain(diff: TextDiff) -> list[str]:
    marks = {"same": " ", "removed": "-", "added": "+"}
    return [f"@{p.lines}" if isinstance(p, Folded) else f"{marks[p.mark]}{line(p)}" for p in diff.parts]


@given(_LINES, _LINES)
def test_both_texts_can_be_read_off_it(before: list[str], now: list[str]) -> None:
    assume(before != now)
    old, new = (f"{chr(10).join(lines)}\n" if lines else "" for lines in (before, now))

    diff = text_diff(old, new, context=100)

    assert (side(diff, "added"), side(diff, "removed")) == (before, now)
    assert diff.removed == sum(isinstance(p, DiffLine) and p.mark == "removed" for p in diff.parts)
    assert diff.added - diff.removed == len(now) - len(before)
    assert diff.left_out == 0


@given(_LINES, _LINES, st.integers(0, 4))
def test_every_line_is_shown_or_counted(before: list[str], now: list[str], context: int) -> None:
    diff = text_diff("\n".join(before), "\n".join(now), context)

    lines = sum(part.lines if isinstance(part, Folded) else 1 for part in diff.parts) + diff.left_out
    assert lines == len("\n".join(before).removesuffix("\n").split("\n")) * bool("\n".join(before)) + diff.added


def test_unchanged_stretches_are_folded_with_their_length() -> None:
    before = "".join(f"line {n}\n" for n in range(40))
    now = before.replace("line 20\n", "line twenty\n")

    assert plain(text_diff(before, now, context=2)) == [
        "@18", " line 18", " line 19", "-line 20", "+line twenty", " line 21", " line 22", "@17",
    ]  # fmt: skip


def test_equal_texts_are_one_fold() -> None:
    assert text_diff("a\nb\n", "a\nb\n").parts == [Folded(2)]


def test_a_single_line_is_shown_rather_than_folded() -> None:
    assert plain(text_diff("a\nb\nc\n", "a\nb\nx\n", context=1)) == [" a", " b", "-c", "+x"]


def test_within_a_line_the_words_that_changed_are_marked() -> None:
    diff = text_diff("Answer with the command alone.", "Answer with one command alone.")

    removed, added = (part for part in diff.parts if isinstance(part, DiffLine))
    assert removed.spans == [Span("Answer with "), Span("the ", changed=True), Span("command alone.")]
    assert added.spans == [Span("Answer with "), Span("one ", changed=True), Span("command alone.")]


def test_lines_that_have_little_in_common_are_not_held_against_each_other() -> None:
    diff = text_diff("Never delete anything.", "Be brief, please do.")

    assert [part.spans for part in diff.parts if isinstance(part, DiffLine)] == [
        [Span("Never delete anything.")],
        [Span("Be brief, please do.")],
    ]


def test_a_paragraph_on_one_long_line_shows_what_changed_in_it() -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 400

    diff = text_diff(text, f"{text[:9000]}NEVER delete. {text[9000:]}")

    shown = [span for part in diff.parts if isinstance(part, DiffLine) for span in part.spans]
    assert [span.text for span in shown if span.changed] == ["NEVER delete. "]
    assert sum(len(span.text) for span in shown) < 1_000
    assert sum(span.folded + len(span.text) for span in shown) == 2 * len(text) + len("NEVER delete. ")


def test_a_text_that_came_or_went_is_all_new_or_all_gone() -> None:
    assert plain(text_diff("", "a\nb\n")) == ["+a", "+b"]
    assert plain(text_diff("a\nb\n", "")) == ["-a", "-b"]
    assert text_diff("", "").parts == []


def test_a_line_break_at_the_end_is_a_change_that_is_seen() -> None:
    diff = text_diff("a\r\n", "a\n")

    assert plain(diff) == ["-a\r", "+a"]
    assert text_diff("a", "a\n\n").added == 1


def _words(source: random.Random, alphabet: str, number: int, between: str) -> str:
    return between.join(source.choice(alphabet) for _ in range(number))


_SOURCE = random.Random(7)
_MANY = [str(n) for n in range(1_400)]
HOSTILE = {
    "one line": ("x" * 20_000, "y" * 20_000),
    "one line of words": (_words(_SOURCE, "abcdefgh", 10_000, " "), _words(_SOURCE, "abcdefgh", 10_000, " ")),
    "one line of signs": (_words(_SOURCE, ".,;", 20_000, ""), _words(_SOURCE, ".,;", 20_000, "")),
    "empty lines": ("\n" * 20_000, "x\n" * 10_000),
    "two letters": (_words(_SOURCE, "ab", 10_000, "\n"), _words(_SOURCE, "ab", 10_000, "\n")),
    "shuffled": ("\n".join(_MANY), "\n".join(_SOURCE.sample(_MANY, len(_MANY)))),
    "every other line": ("\n".join(_MANY), "\n".join(n if int(n) % 2 else f"q{n}" for n in _MANY)),
    "control characters": ("\x00\x1b\u202e\u2028" * 5_000, "\x1b\x00\u2028" * 6_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_give_a_bounded_number_of_lines_in_a_bounded_number_of_steps(name: str) -> None:
    before, now = HOSTILE[name]

    diff = text_diff(before, now)

    assert 0 < len(diff.parts) <= MOST_LINES
    assert sum(len(line(part)) for part in diff.parts if isinstance(part, DiffLine)) <= len(before) + len(now)
    lines = sum(part.lines if isinstance(part, Folded) else 1 for part in diff.parts)
    assert lines + diff.left_out == len(before.removesuffix("\n").split("\n")) + diff.added


def test_what_is_too_different_shows_the_beginning_of_either_side() -> None:
    diff = text_diff(*HOSTILE["two letters"])

    assert diff.coarse
    marks = [(type(part).__name__, part.mark) for part in diff.parts]
    assert marks.count(("DiffLine", "removed")) == marks.count(("DiffLine", "added")) > 100
    assert ("Folded", "removed") in marks
    assert ("Folded", "added") in marks


def test_the_same_texts_give_the_same_comparison() -> None:
    assert text_diff(*HOSTILE["shuffled"]) == text_diff(*HOSTILE["shuffled"])
