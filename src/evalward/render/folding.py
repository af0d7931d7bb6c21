"""Long texts, shortened to their beginning and end, with how much is left out in between."""

from __future__ import annotations

from dataclasses import dataclass

HEAD_LINES, TAIL_LINES = 30, 10
MOST_CHARACTERS = 6_000


@dataclass(frozen=True)
class FoldedText:
    """A text as far as it is shown. `left_out` are the characters between `head` and `tail`, `lines` theirs."""

    head: str
    tail: str = ""
    left_out: int = 0
    lines: int = 0


def folded(text: str, *, most: int = MOST_CHARACTERS, head: int = HEAD_LINES, tail: int = TAIL_LINES) -> FoldedText:
    """The first and last lines of a text, at most `most` characters of it; a short text as it is."""
    text = text.strip("\n")
    if len(text) <= most and text.count("\n") < head + tail:
        return FoldedText(text)
    room = most // 4  # for the tail
    start = min(_end_of_lines(text, head), most - room)
    end = max(_start_of_lines(text, tail), len(text) - room, start)
    between = text[start:end]
    return FoldedText(text[:start].rstrip("\n"), text[end:], len(between), between.count("\n"))


def _end_of_lines(text: str, lines: int) -> int:
    """Where so many lines end."""
    place = 0
    for _ in range(lines):
        found = text.find("\n", place)
        if found < 0:
            return len(text)
        place = found + 1
    return place


def _start_of_lines(text: str, lines: int) -> int:
    """Where the last so many lines begin."""
    place = len(text)
    for _ in range(lines):
        found = text.rfind("\n", 0, place)
        if found < 0:
            return 0
        place = found
    return place + 1
