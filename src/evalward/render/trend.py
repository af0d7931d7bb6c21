"""Metrics over time: sparklines for a line of text, small Mermaid charts for Markdown on GitHub."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from msgspec import Struct

from evalward.records.metric import Unit
from evalward.records.trend import AnchorLevel, Trend, TrendPoint
from evalward.render.escape import html_code, md_block, md_cell, md_code, one_line
from evalward.render.numbers import NOT_AVAILABLE, format_number, plural

BLOCKS, BLOCK_GAP = "▁▂▃▄▅▆▇█", "·"
ASCII, ASCII_GAP = "_.:-=+*#", "?"
MOST_CHARTS = 3
"""Charts in one section, of metrics that moved where any did; its tables have all."""

_MOST_POINTS = 100
_NUMBERED = 30  # points that have room for a number each
# Small, and in a colour that is seen on white and on black; the charts' own default is nearly white.
_LOOKS = {
    "xyChart": {"width": 600, "height": 250, "titleFontSize": 14},
    "themeVariables": {"xyChart": {"plotColorPalette": "#3b82f6, #9ca3af"}},
}
_TITLE = 60  # characters
_LABEL = 30  # characters
_CHART_TEXT = 10_000  # characters: more than a hundred points can take
_HUGE = 1e15  # no eval measures this; it shall not break the chart either
_ROOM = 0.1  # of the span, above and below the line
_FLAT = 0.05  # of the value, above and below a line that doesn't move
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Quotes, comments, directives, entities and markup would be read before the text inside the quotes is.
_UNSAFE = re.compile(r"[^\w .,:/+()@×=-]")
_AXIS: dict[Unit, str] = {
    "ratio": "per cent",
    "count": "count",
    "tokens": "tokens",
    "ms": "milliseconds",
    "usd": "USD",
    "score": "score",
    "speedup": "times as fast",
    "points": "per cent points",
}


def sparkline(values: Sequence[float | None], ascii: bool = False) -> str:
    """One character per value, from the lowest block for the lowest value to the highest for the highest.

    A value that is not available is a gap (`·`, in ASCII `?`); values that are all equal are a line at half height.
    """
    steps, gap = (ASCII, ASCII_GAP) if ascii else (BLOCKS, BLOCK_GAP)
    known = _drawable(values)
    low, high = min(known, default=0.0), max(known, default=0.0)

    def step(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return steps[min(int(share * len(steps)), len(steps) - 1)]

    return "".join(gap if not _drawable([value]) else step(_drawable([value])[0]) for value in values)


def mermaid_trend(
    points: Sequence[TrendPoint], title: str, unit: Unit = "ratio", anchor: AnchorLevel | None = None
) -> str:
    """A fenced Mermaid line chart of at most the last 100 points; `""` where there is nothing to draw.

    The anchor is a level line of its own, and named in the title. Mermaid's lines have no gaps: a point without a value
    is left out, and the title says how many were. A single point is a bar, because a line needs two.
    """
    shown = list(points[-_MOST_POINTS:])
    known = [point for point in shown if _drawable([point.value])]
    if not known:
        return ""
    factor = 100 if unit in {"ratio", "points"} else 1
    values = [value * factor for value in _drawable([point.value for point in known])]
    level = [value * factor for value in _drawable([anchor.value])] if anchor and len(values) > 1 else []
    low, high = _range([*values, *level], unit)
    named = f", anchor {_quotable(anchor.label)} at {_number(level[0])}" if anchor and level else ""
    lines = [
        f"%%{{init: {json.dumps(_LOOKS)}}}%%",
        "xychart-beta",
        f'title "{_quotable(title)}, {_span(known, len(shown) - len(known))}{named}"',
        f"x-axis {_places(len(known))}",
        f'y-axis "{_AXIS[unit]}" {_number(low)} --> {_number(high)}',
        f"{'line' if len(values) > 1 else 'bar'} [{', '.join(map(_number, values))}]",
        *(f"line [{', '.join([_number(value)] * len(values))}]" for value in level),
    ]
    return md_block("\n".join(lines), _CHART_TEXT, "mermaid")


class TrendRow(Struct, frozen=True):
    """A trend in words: plain text, not yet escaped. `anchor` is the level that it is held against, with its name."""

    metric: str
    move: str
    low: str
    high: str
    line: str
    anchor: str = ""


def trend_row(trend: Trend, *, ascii: bool = False) -> TrendRow:
    """First → last, lowest and highest value, and the sparkline. First and last are told apart by their decimals."""
    known = trend.known
    level = trend.anchor
    held = f"{format_number(level.value, trend.unit)} ({one_line(level.label, _LABEL)})" if level else ""
    if not known:
        return TrendRow(trend.metric, NOT_AVAILABLE, NOT_AVAILABLE, NOT_AVAILABLE, sparkline(trend.values, ascii), held)
    ends = [value if value is not None else NOT_AVAILABLE for value in (trend.values[0], trend.values[-1])]
    others = [known[0], known[-1], min(known), max(known)]
    first, last, low, high = (
        value if isinstance(value, str) else format_number(value, trend.unit, [o for o in others if o != value])
        for value in (*ends, min(known), max(known))
    )
    arrow = "->" if ascii else "→"
    return TrendRow(trend.metric, f"{first} {arrow} {last}", low, high, sparkline(trend.values, ascii), held)


def trend_section(trends: Iterable[Trend]) -> str:
    """A folded Markdown section: a table of all trends, and charts of the first three that moved; `""` without any."""
    with_values = [trend for trend in trends if trend.known]
    if not with_values:
        return ""
    most = max(len(trend.points) for trend in with_values)
    parts = [f"<details>\n<summary>Trend over {plural(most, 'run')}</summary>"]
    names = list(dict.fromkeys((trend.suite, trend.target) for trend in with_values))
    for suite, target in names:
        if len(names) > 1:
            parts.append(f"**{md_cell(suite)} × {md_cell(target)}**")
        parts.append(trend_table([trend for trend in with_values if (trend.suite, trend.target) == (suite, target)]))
    moved = [trend for trend in with_values if min(trend.known) < max(trend.known)]
    for trend in (moved or with_values)[:MOST_CHARTS]:
        title = trend.metric if len(names) == 1 else f"{trend.metric}, {trend.suite} × {trend.target}"
        parts.append(mermaid_trend(trend.points, title, trend.unit, trend.anchor))
    return "\n\n".join(part for part in [*parts, "</details>"] if part) + "\n"


def trend_table(trends: Iterable[Trend]) -> str:
    """The trends as a Markdown table."""
    rows = [trend_row(trend) for trend in trends]
    held = any(row.anchor for row in rows)
    head = ["| metric | first → last | lowest | highest | trend |", "|---|---|---:|---:|---|"]
    if held:
        head = ["| metric | anchor | first → last | lowest | highest | trend |", "|---|---:|---|---:|---:|---|"]
    return "\n".join([*head, *(_table_line(row, held) for row in rows)])


def _table_line(row: TrendRow, held: bool) -> str:
    anchor = [md_cell(row.anchor or "–")] if held else []
    cells = [md_code(row.metric), *anchor, md_cell(row.move), md_cell(row.low), md_cell(row.high), html_code(row.line)]
    return f"| {' | '.join(cells)} |"


def _drawable(values: Iterable[float | None]) -> list[float]:
    """The values that a chart can show."""
    return [value for value in values if value is not None and math.isfinite(value) and abs(value) <= _HUGE]


def _quotable(text: str) -> str:
    """Text for between Mermaid's quotes."""
    return _UNSAFE.sub("_", one_line(text, _TITLE).replace("…", "...")) or "_"


def _span(points: Sequence[TrendPoint], missing: int) -> str:
    """How many measurements of which days."""
    days = [found[0] for point in (points[0], points[-1]) if (found := _DAY.match(point.at))]
    dates = f", {' to '.join(dict.fromkeys(days))}" if days else ""
    return f"{plural(len(points), 'run')}{dates}" + (f", {missing} not available" if missing else "")


def _places(count: int) -> str:
    """The axis of the measurements: numbered, and where there is no room for that, from the first to the last."""
    if count > _NUMBERED:
        return f'"run" 1 --> {count}'
    return f'"run" [{", ".join(map(str, range(1, count + 1)))}]'


def _range(values: Sequence[float], unit: Unit) -> tuple[float, float]:
    """The range of the values with some room, but none beyond what a ratio or a count can be."""
    low, high = min(values), max(values)
    room = (high - low) * _ROOM or abs(high) * _FLAT or 1.0
    bottom = max(low - room, 0.0) if low >= 0 else low - room
    top = min(high + room, 100.0) if unit == "ratio" and high <= 100.0 else high + room
    return bottom, top


def _number(value: float) -> str:
    """Six digits, written out: Mermaid knows no exponents."""
    if abs(value) < 1 / _HUGE:
        return "0"
    return format(Decimal(f"{value:.6g}"), "f")
