"""The sentences of a text that changed, a line each, at a terminal: what a hash can't tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from evalward.render.console import Colour, Screen
from evalward.render.escape import one_line
from evalward.render.numbers import plural
from evalward.render.text_diff import DiffLine, text_diff

_DIFF: Mapping[Literal["removed", "added", "same"], tuple[str, Colour]] = {
    "removed": ("-", "red"),
    "added": ("+", "green"),
    "same": (" ", "dim"),
}


def say_changed_sentences(screen: Screen, before: str, now: str, *, indent: int = 2, most: int | None = None) -> None:
    """What went and what came, with a sentence before it, each cut to the screen's width; no more lines than `most`."""
    shown = changed_lines(before, now)
    for part in shown[:most]:
        mark, colour = _DIFF[part.mark]
        screen.exact(f"{mark} {one_line(part.text, screen.width - indent - 2)}", indent, colour)
    if most is not None and len(shown) > most:
        screen.say(f"and {plural(len(shown) - most, 'more line')}", indent)


def changed_lines(before: str, now: str) -> list[DiffLine]:
    """The sentences that went and came, each block with the one before it."""
    parts = text_diff(_sentences(before), _sentences(now), context=1).parts
    return [
        part
        for above, part in zip([None, *parts], parts, strict=False)
        if isinstance(part, DiffLine)
        and not (part.mark == "same" and isinstance(above, DiffLine) and above.mark == "same")
    ]


def _sentences(text: str) -> str:
    """A sentence per line."""
    return re.sub(r"(?<=[.!?]) +", "\n", text)
