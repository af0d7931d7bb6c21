"""What changed from one text to another, line by line and word by word: plain text, not yet escaped.

Both texts are strangers': whatever stands in them, a comparison takes bounded time and gives a bounded number of lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from msgspec import Struct

CONTEXT = 3
MOST_LINES = 600
_MOST_AT_ONCE = 200  # lines that went, or came, at one place
_MOST_STEPS = 3_000_000  # of one comparison of two texts, all of its lines included: under half a second
_MOST_REPEATS = (1_000_000, 20, 3, 1)  # a line that stands there more often is no place to begin a match at
_ALIKE = 0.4  # a line that has less in common with another is another line
_LONG = 300  # characters of an unchanged stretch within a line; of longer ones, both ends are shown
_ENDS = 100
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")

Mark = Literal["same", "removed", "added"]


class Span(Struct, frozen=True):
    """A stretch of a line. `changed`: the other side's line has something else; `folded`: characters not shown here."""

    text: str
    changed: bool = False
    folded: int = 0


class DiffLine(Struct, frozen=True):
    """One line, of both sides or of one."""

    mark: Mark
    spans: list[Span]

    @property
    def text(self) -> str:
        """The line in one piece, without what is folded."""
        return "".join(span.text for span in self.spans)


class Folded(Struct, frozen=True):
    """Lines that aren't shown: unchanged ones, or the last of very many that went or came at one place."""

    lines: int
    mark: Mark = "same"


class TextDiff(Struct, frozen=True):
    """`removed` and `added` are numbers of lines; `left_out` is that of the lines after the last part.

    `coarse`: the texts are too different to be compared line by line, so the old one stands before the new one.
    """

    parts: list[DiffLine | Folded]
    removed: int
    added: int
    left_out: int = 0
    coarse: bool = False


def text_diff(before: str, now: str, context: int = CONTEXT) -> TextDiff:
    """From one text to another, with `context` unchanged lines around each change."""
    diff = _Diff(_lines(before), _lines(now))
    compared = diff.compared(diff.before, diff.now)
    blocks = compared.blocks
    parts = list(islice(_folded(blocks, diff, context), MOST_LINES))
    removed = sum(block.old_end - block.old for block in blocks if not block.same)
    added = sum(block.new_end - block.new for block in blocks if not block.same)
    shown = sum(part.lines if isinstance(part, Folded) else 1 for part in parts)
    return TextDiff(parts, removed, added, left_out=len(diff.before) + added - shown, coarse=compared.coarse)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


class _Stretch(Struct, frozen=True):
    """Lines `old` to `old_end` of one side are, or became, `new` to `new_end` of the other."""

    same: bool
    old: int
    old_end: int
    new: int
    new_end: int


class _Compared(Struct, frozen=True):
    """All of both sides in order; `coarse`: to search in what isn't equal at either end would have taken too long."""

    blocks: list[_Stretch]
    coarse: bool


class _Diff(Struct):
    """One comparison, and the steps that it may still take."""

    before: Sequence[str]
    now: Sequence[str]
    steps: int = _MOST_STEPS

    def compared(self, before: Sequence[str], now: Sequence[str]) -> _Compared:
        """What is equal and what isn't, lines or words: what both begin and end with needs no search."""
        start = _common(before, now)
        end = _common(before[start:][::-1], now[start:][::-1])
        old, new = len(before) - end, len(now) - end
        inner = self._searched(before[start:old], now[start:new])
        found = [_Stretch(same=True, old=0, old_end=start, new=0, new_end=start)]
        for each in inner or [_Stretch(same=False, old=0, old_end=old - start, new=0, new_end=new - start)]:
            found.append(_Stretch(each.same, *(at + start for at in (each.old, each.old_end, each.new, each.new_end))))
        found.append(_Stretch(same=True, old=old, old_end=len(before), new=new, new_end=len(now)))
        return _Compared([each for each in found if each.old < each.old_end or each.new < each.new_end], inner is None)

    def _searched(self, before: Sequence[str], now: Sequence[str]) -> list[_Stretch] | None:
        """What is equal and what isn't; `None` where finding it would take too long."""
        if not before or not now:
            return [_Stretch(same=False, old=0, old_end=len(before), new=0, new_end=len(now))]
        matcher = self._matcher(before, now)
        if matcher is None:
            return None
        return [_Stretch(tag == "equal", *at) for tag, *at in matcher.get_opcodes()]

    def _matcher(self, before: Sequence[str], now: Sequence[str]) -> SequenceMatcher[str] | None:
        """The matcher, if its steps are bounded well: each match looks at every line and its equals once more."""
        there, here = Counter(before), Counter(now)
        for most in _MOST_REPEATS:
            often = {line for line, count in here.items() if count > most}
            pairs = sum(count * here[line] for line, count in there.items() if line not in often)
            steps = (len(before) + pairs) * min(len(before), len(now))
            if steps <= self.steps:
                self.steps -= steps
                return SequenceMatcher(often.__contains__, before, now, autojunk=False)
        return None

    def changed(self, block: _Stretch) -> Iterator[DiffLine | Folded]:
        """The lines of a block that isn't the same: those that went, then those that came."""
        went = self.before[block.old : min(block.old_end, block.old + _MOST_AT_ONCE)]
        came = self.now[block.new : min(block.new_end, block.new + _MOST_AT_ONCE)]
        pairs = [self._within(was, now) for was, now in zip(went, came, strict=False)]
        old = [pair[0] for pair in pairs] + [[Span(line)] for line in went[len(pairs) :]]
        new = [pair[1] for pair in pairs] + [[Span(line)] for line in came[len(pairs) :]]
        yield from _marked("removed", old, block.old_end - block.old)
        yield from _marked("added", new, block.new_end - block.new)

    def _within(self, was: str, now: str) -> tuple[list[Span], list[Span]]:
        """What two lines have in common; of those that are not alike, nothing is marked."""
        old, new = _WORDS.findall(was), _WORDS.findall(now)
        blocks = self.compared(old, new).blocks
        equal = sum(len("".join(old[b.old : b.old_end])) for b in blocks if b.same)
        if equal < _ALIKE * max(len(was), len(now)):
            return [Span(was)], [Span(now)]
        return (
            [span for b in blocks for span in _spans("".join(old[b.old : b.old_end]), changed=not b.same)],
            [span for b in blocks for span in _spans("".join(new[b.new : b.new_end]), changed=not b.same)],
        )


def _marked(mark: Mark, lines: Sequence[list[Span]], total: int) -> Iterator[DiffLine | Folded]:
    yield from (DiffLine(mark, spans) for spans in lines)
    if total > len(lines):
        yield Folded(total - len(lines), mark)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _spans(text: str, *, changed: bool) -> list[Span]:
    """A stretch of a line, folded in its middle where it is long and says nothing new."""
    if not text:
        return []
    if changed or len(text) <= _LONG:
        return [Span(text, changed)]
    return [Span(text[:_ENDS]), Span("", folded=len(text) - 2 * _ENDS), Span(text[-_ENDS:])]


def _folded(blocks: Sequence[_Stretch], diff: _Diff, context: int) -> Iterator[DiffLine | Folded]:
    for number, block in enumerate(blocks):
        if not block.same:
            yield from diff.changed(block)
            continue
        lines = [DiffLine("same", _spans(line, changed=False)) for line in diff.before[block.old : block.old_end]]
        first = context if number else 0
        last = context if number < len(blocks) - 1 else 0
        hidden = len(lines) - first - last
        if hidden <= 1:
            yield from lines
            continue
        yield from lines[:first]
        yield Folded(hidden)
        yield from lines[len(lines) - last :]
