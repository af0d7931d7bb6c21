"""Factors as bars on a logarithmic scale: right of 1× is faster, left of it slower, each doubling as wide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct

from evalward.records.sections import BarGroup, Bars
from evalward.render.html.plots.svg import coordinate, drawing, element, label, path
from evalward.render.numbers import format_factor

WIDTH, BAR, GAP, HEAD = 260.0, 12.0, 6.0, 16.0
MOST = 200  # groups


class FactorRow(Struct, frozen=True):
    """One bar in words: of which group, which of its labels, and the factor; `mark` says more of the group."""

    group: str
    label: str
    value: str
    mark: str
    plot: Markup


class FactorBars(Struct, frozen=True):
    """All bars of a section, a row each; `more` groups are left out."""

    rows: list[FactorRow]
    more: int


class _Axis(Struct, frozen=True):
    """Whole doublings to both sides of 1×."""

    left: int
    right: int

    def at(self, value: float) -> float:
        return WIDTH * (self.left + value) / (self.left + self.right)


def factor_bars(bars: Bars) -> FactorBars:
    """The bars, each with its number."""
    shown = bars.groups[:MOST]
    axis = _axis(shown)
    rows = [row for group in shown for row in _rows(group, bars.labels, axis)]
    return FactorBars(rows, len(bars.groups) - len(shown))


def _rows(group: BarGroup, labels: Sequence[str], axis: _Axis) -> Iterator[FactorRow]:
    for number, (name, value) in enumerate(zip(labels, group.values, strict=False)):
        words = format_factor(value)
        yield FactorRow(
            group.name,
            name,
            words,
            "" if number else group.mark,
            _bar(value, f"{group.name}, {name}: {words}", axis, number),
        )


def _bar(value: float | None, words: str, axis: _Axis, number: int) -> Markup:
    zero, end = axis.at(0.0), axis.at(_doublings(value))
    left, right = min(zero, end), max(zero, end)
    parts = [
        element("rect", class_=f"bar bar-{number % 3}", x=left, y=2.0, width=right - left, height=BAR),
        path(f"M{coordinate(zero)} 0V{coordinate(BAR + 4)}", "bar-axis"),
    ]
    if value is None:
        parts.append(label("n/a", zero + 4, BAR))
    return drawing(words, WIDTH, BAR + 4, "plot-bar", parts)


def _axis(groups: Iterable[BarGroup]) -> _Axis:
    found = [_doublings(value) for group in groups for value in group.values]
    right = max(1, math.ceil(max(found, default=0.0) - 1e-9))
    return _Axis(max(0, math.ceil(-min(found, default=0.0) - 1e-9)), right)


def _doublings(value: float | None) -> float:
    """How often it is doubled; what can't be drawn is a bar without a length."""
    return math.log2(value) if value is not None and math.isfinite(value) and value > 0 else 0.0
