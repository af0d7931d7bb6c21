"""Bars on a logarithmic scale, as text: Mermaid's charts know none, and draw several bars over each other."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from evalward.records.sections import BarGroup, Bars
from evalward.render.escape import one_line
from evalward.render.numbers import format_factor

MAX_ROWS = 18  # groups of bars: a code block shows 40 lines
NAME_WIDTH, BAR_WIDTH = 36, 48
INKS, AXIS = ("█", "░"), "│"


def draw(bars: Bars, limit: int = MAX_ROWS) -> str:
    """The groups as text: a bar to the right of 1× is faster, to the left slower; each doubling is as wide."""
    shown = bars.groups[:limit]
    if not shown:
        return ""
    scale = _scale(shown)
    names = [one_line(group.name, NAME_WIDTH) for group in shown]
    width, label_width = max(map(len, names)), max(map(len, bars.labels))
    lines = [_head(scale, width + label_width + 2)]
    for name, group in zip(names, shown, strict=True):
        for number, (label, value) in enumerate(zip(bars.labels, group.values, strict=True)):
            head = f"{'' if number else name:<{width}} {label:<{label_width}}"
            text = format_factor(value) + (f" ({group.mark})" if group.mark and not number else "")
            lines.append(f"{head} {_bar(value, scale, INKS[number % len(INKS)])} {text}")
    if len(bars.groups) > len(shown):
        lines.append(f"… and {len(bars.groups) - len(shown)} more")
    return "\n".join(line.rstrip() for line in lines)


class _AxisScale(Struct, frozen=True):
    """Columns left and right of the axis, and columns per doubling."""

    left: int
    right: int
    doubling: float


def _log2(value: float | None) -> float:
    return math.log2(value) if value is not None and math.isfinite(value) and value > 0 else 0.0


def _scale(groups: Iterable[BarGroup]) -> _AxisScale:
    """Whole doublings on both sides, so that all bars fit: from 1× to 2× at least."""
    logs = [_log2(value) for group in groups for value in group.values]
    right = max(1, math.ceil(max(logs) - 1e-9))
    left = max(0, math.ceil(-min(logs) - 1e-9))
    doubling = BAR_WIDTH / (left + right)
    columns = round(left * doubling)
    return _AxisScale(columns, BAR_WIDTH - columns, doubling)


def _head(scale: _AxisScale, indent: int) -> str:
    """The ends of the scale and the axis between them."""
    ends = [-scale.left / scale.doubling, scale.right / scale.doubling]
    low, high = (f"{2 ** round(end):.4g}×" for end in ends)
    left = (f"{low:<{scale.left}}" if scale.left else "")[: scale.left]
    right = f"{'1×':<{max(scale.right - len(high), 2)}}{high}"
    return " " * indent + left + right


def _bar(value: float | None, scale: _AxisScale, ink: str) -> str:
    """A bar from the axis to the value."""
    length = round(_log2(value) * scale.doubling)
    left = ink * min(max(-length, 0), scale.left)
    right = ink * min(max(length, 0), scale.right)
    return f"{left:>{scale.left}}{AXIS}{right:<{scale.right}}"
