"""What the plots say in words: values with their intervals, and the levels that they are held against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from evalward.records.evidence import Interval
from evalward.records.metric import Unit
from evalward.render.escape import one_line
from evalward.render.html.plots.svg import drawable
from evalward.render.numbers import NOT_AVAILABLE, format_limit, format_number

_NAME = 120  # characters
_LABEL = 16  # characters beside a row or a mark
_SIZES = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k"))

LevelKind = Literal["floor", "ceiling", "anchor"]


class Level(Struct, frozen=True):
    """A level line: a rule's floor or ceiling, or what the metric was at the anchor, which `name` then names."""

    kind: LevelKind
    value: float
    name: str = ""


def named(text: str) -> str:
    """A stranger's name within a sentence: one line, not too long."""
    return one_line(text, _NAME) or "unnamed"


def short(text: str) -> str:
    """The name where there is little room."""
    return one_line(text, _LABEL) or "unnamed"


def value_words(value: float | None, interval: Interval | None, unit: Unit) -> str:
    """`94.6 % (95 % interval 90.1 % to 97.2 %)`, or that there is none."""
    text = NOT_AVAILABLE if value is None else format_number(value, unit)
    if value is None or text == NOT_AVAILABLE:
        return "not available"
    if interval is None:
        return text
    return f"{text} (95 % interval {format_number(interval.low, unit)} to {format_number(interval.high, unit)})"


def axis_number(value: float, unit: Unit, others: Iterable[float] = ()) -> str:
    """The value beside an axis, where there is room for some eight characters: counts as `250 k`, tokens without it."""
    if unit not in {"tokens", "count", "score"}:
        return format_number(value, unit, others)
    size, letter = next(((size, letter) for size, letter in _SIZES if abs(value) >= 10 * size), (1.0, ""))
    return format_number(value / size, "count", [each / size for each in others]) + letter


def level_words(level: Level, unit: Unit) -> str:
    """`floor 90 %`, `anchor 94.6 % (v1.4)`."""
    written = level.kind != "anchor" and drawable(level.value) is not None  # a rule's number, as somebody wrote it
    text = format_limit(level.value, unit) if written else format_number(level.value, unit)
    return f"{level.kind} {text}" + (f" ({named(level.name)})" if level.name else "")
