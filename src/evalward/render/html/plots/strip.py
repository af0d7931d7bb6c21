"""Samples by label: before, the human's patch, now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from markupsafe import Markup
from msgspec import Struct

from evalward.render.html.plots.svg import Scale, coordinate, drawables, drawing, label, path, scale
from evalward.render.html.plots.words import named, short
from evalward.render.numbers import MINUS, NOT_AVAILABLE, plural

_MOST_SAMPLES = 500  # marks in one row


class StripRow(Struct, frozen=True):
    """Samples that share a label, such as `before`, `human patch` or `now`."""

    name: str
    samples: Sequence[float]


class StripPlot(Struct, frozen=True):
    """Samples by label on one scale; `unit` is written behind the numbers."""

    name: str
    unit: str
    rows: Sequence[StripRow]


def strip_plot(plot: StripPlot) -> Markup:
    """A row per label with a stroke for each sample and a bar at the median, whose number stands at the end."""
    width, tall = 420.0, 26.0
    height = tall * len(plot.rows) + 20
    axis = scale((each for row in plot.rows for each in drawables(row.samples)), 112, width - 96)
    parts = [part for n, row in enumerate(plot.rows) for part in _strip(row, plot.unit, axis, tall * n, width)]
    ends = [
        path(f"M{coordinate(axis.start)} {coordinate(height - 17)}H{coordinate(axis.end)}", "plot-axis"),
        label(_sample(axis.low, plot.unit), axis.start, height - 4),
        label(_sample(axis.high, plot.unit), axis.end, height - 4, "end"),
    ]
    known = any(drawables(row.samples) for row in plot.rows)
    return drawing(_strip_words(plot), width, height, "plot-strips", [*parts, *(ends if known else [])])


def _strip(row: StripRow, unit: str, axis: Scale, top: float, width: float) -> Iterator[Markup]:
    samples = drawables(row.samples)
    yield label(short(row.name), 0, top + 17)
    if not samples:
        yield label(NOT_AVAILABLE, width, top + 17, "end")
        return
    shown = sorted(samples)[:: -(-len(samples) // _MOST_SAMPLES)]  # of very many, evenly so many
    data = "".join(f"M{coordinate(axis.at(each))} {coordinate(top + 7)}v12" for each in shown)
    middle = median(samples)
    yield path(data, "plot-sample")
    yield path(f"M{coordinate(axis.at(middle))} {coordinate(top + 3)}v20", "plot-median")
    yield label(_sample(middle, unit), width, top + 17, "end")


def _strip_words(plot: StripPlot) -> str:
    said = [_row_words(row, plot.unit) for row in plot.rows]
    return f"{named(plot.name)}: {'; '.join(said) or 'no samples'}"


def _row_words(row: StripRow, unit: str) -> str:
    samples = drawables(row.samples)
    if not samples:
        return f"{named(row.name)} not available"
    most = f", {_sample(min(samples), unit)} to {_sample(max(samples), unit)}" if len(samples) > 1 else ""
    left_out = len(row.samples) - len(samples)
    more = f", {left_out} not drawn" if left_out else ""
    return f"{named(row.name)} median {_sample(median(samples), unit)} of {plural(len(samples), 'sample')}{most}{more}"


def _sample(value: float, unit: str) -> str:
    return f"{format(value, ',.4g')} {named(unit)}".replace("-", MINUS)
