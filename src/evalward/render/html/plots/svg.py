"""What inline SVG is made of: elements whose every text is escaped, rounded coordinates, and a scale with round ends.

There is no `style` and no handler: the page's security policy allows neither, and colours come from classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from markupsafe import Markup
from msgspec import Struct

from evalward.render.escape import html_text

HUGE = 1e15  # no eval measures this; it shall not flatten the plot either
_STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
_PARTS = 4  # a scale has about so many steps
_ROOM = 0.05  # of the span, to both sides, so that a mark isn't on the end
_FLAT = 0.05  # of the value, to both sides of numbers that are all equal


def element(tag: str, *content: Markup | str, **attributes: str | float | None) -> Markup:
    """`<tag …>content</tag>`: text is escaped, `Markup` is ours. `_` in an attribute's name stands for `-` or nothing
    at its end; `None` leaves the attribute out, and a number is a coordinate.
    """
    parts = [tag]
    for name, value in attributes.items():
        if value is not None:
            text = html_text(value) if isinstance(value, str) else coordinate(value)
            parts.append(f'{name.rstrip("_").replace("_", "-")}="{text}"')
    inner = "".join(each if isinstance(each, Markup) else html_text(each) for each in content)
    return Markup(f"<{' '.join(parts)}>{inner}</{tag}>" if inner else f"<{' '.join(parts)}/>")  # noqa: S704 - escaped above


def drawing(words: str, width: float, height: float, kind: str, parts: Iterable[Markup]) -> Markup:
    """The `<svg>`: an image whose name is `words`, that scales with the page."""
    return element(
        "svg",
        element("title", words),
        *parts,
        class_=f"plot {kind}",
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        role="img",
    )


def label(text: str, x: float, y: float, place: str = "start", kind: str = "plot-text") -> Markup:
    """A text whose `place` (`start`, `middle`, `end`) is at x. The drawing's name has said it, so readers skip it."""
    return element("text", text, class_=kind, x=x, y=y, text_anchor=None if place == "start" else place)


def path(data: str, kind: str, words: str | None = None) -> Markup:
    """A path without a fill of its own; `words` are shown to those who point at it."""
    title = [element("title", words)] if words else []
    return element("path", *title, class_=kind, d=data, fill="none")


def coordinate(value: float) -> str:
    """One decimal at most, and no minus before zero: the same bytes on every machine."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def drawable(value: float | None) -> float | None:
    """The value where a plot has a place for it, else `None`."""
    return value if value is not None and math.isfinite(value) and abs(value) <= HUGE else None


def drawables(values: Iterable[float | None]) -> list[float]:
    """Those of the values that a plot has a place for."""
    return [found for each in values if (found := drawable(each)) is not None]


class Scale(Struct, frozen=True):
    """Values from `low` to `high` on the way from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; of one beyond the ends the end."""
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.start + share * (self.end - self.start)


def scale(values: Iterable[float], start: float, end: float, bounds: tuple[float, float] | None = None) -> Scale:
    """A scale with round ends that has room for the values (drawable ones), and none beyond the bounds.

    Without values it goes from 0 to 1. Values that are all equal are in its middle, unless at a bound.
    """
    found = list(values)
    if not found:
        return Scale(0.0, 1.0, start, end)
    low, high = min(found), max(found)
    if not high - low > abs(high) * 1e-9:
        room = abs(high) * _FLAT or 1.0
        low, high = low - room, high + room
    else:
        low, high = low - (high - low) * _ROOM, high + (high - low) * _ROOM
    step = _step(Decimal(repr(high - low)) / _PARTS)
    ends = [_rounded(low, step, ROUND_FLOOR), _rounded(high, step, ROUND_CEILING)]
    if min(found) >= 0 and ends[0] < 0:  # what is never negative has no place below 0
        ends[0] = 0.0
    if bounds is not None:
        ends = [min(max(each, bounds[0]), bounds[1]) for each in ends]
        if min(found) < ends[0] or max(found) > ends[1]:  # a hostile rate of 300 %
            return scale(found, start, end)
    return Scale(ends[0], ends[1], start, end)


def _step(size: Decimal) -> Decimal:
    """The next round number: 1, 2, 2.5 or 5 times a power of ten."""
    power = Decimal(1).scaleb(size.adjusted())
    return next(each * power for each in _STEPS if each * power >= size)


def _rounded(value: float, step: Decimal, way: str) -> float:
    return float((Decimal(repr(value)) / step).to_integral_value(way) * step)
