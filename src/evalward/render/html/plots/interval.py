"""A metric's value with its interval, beside its baseline and the limits of its rule."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from msgspec import Struct

from evalward.records.evidence import Interval
from evalward.records.metric import Unit
from evalward.render.html.plots.svg import Scale, coordinate, drawable, drawables, drawing, element, label, path, scale
from evalward.render.html.plots.words import Level, axis_number, level_words, named, value_words
from evalward.render.numbers import NOT_AVAILABLE, format_limit, format_number


class IntervalPlot(Struct, frozen=True):
    """A metric's value with its 95 % interval, the baseline, the rule's limits and the change that it allows.

    All numbers are in the metric's unit, `max_drop` and `max_rise` as differences; `None` is unknown or not there.
    """

    name: str
    unit: Unit
    value: float | None
    interval: Interval | None = None
    baseline: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    max_drop: float | None = None
    max_rise: float | None = None


def interval_plot(plot: IntervalPlot) -> Markup:
    """One line of a table: above the baseline's mark with a bar as long as the allowed change, below it the interval
    with a dot for the value; what is beyond a floor or ceiling is hatched by a dashed line and a tint.
    """
    width, height, over, middle = 240.0, 48.0, 8.0, 23.0
    numbers = _interval_numbers(plot)
    axis = scale(numbers, 8, width - 8, (0.0, 1.0) if plot.unit == "ratio" else None)
    parts = [
        *_beyond(plot, axis, middle + 10),
        path(f"M{coordinate(axis.start)} {coordinate(middle + 10)}H{coordinate(axis.end)}", "plot-axis"),
        *_allowed(plot, axis, over),
        *_whisker(plot.interval, axis, middle),
        *_dot(plot.value, axis, middle),
    ]
    if numbers:
        parts.append(label(axis_number(axis.low, plot.unit), axis.start, height - 3))
        parts.append(label(axis_number(axis.high, plot.unit), axis.end, height - 3, "end"))
    return drawing(_interval_words(plot), width, height, "plot-interval", parts)


def _interval_numbers(plot: IntervalPlot) -> list[float]:
    spread = [plot.interval.low, plot.interval.high] if plot.interval else []
    given = [plot.value, *spread, plot.baseline, plot.floor, plot.ceiling, *_allowed_ends(plot)]
    return drawables(given)


def _allowed_ends(plot: IntervalPlot) -> list[float]:
    base = drawable(plot.baseline)
    if base is None:
        return []
    ends = [base - plot.max_drop] if plot.max_drop is not None else []
    ends += [base + plot.max_rise] if plot.max_rise is not None else []
    return [_in_bounds(each, plot.unit) for each in ends]


def _in_bounds(value: float, unit: Unit) -> float:
    return min(max(value, 0.0), 1.0) if unit == "ratio" else value


def _limits(plot: IntervalPlot) -> list[Level]:
    floor = [] if plot.floor is None else [Level("floor", plot.floor)]
    return floor + ([] if plot.ceiling is None else [Level("ceiling", plot.ceiling)])


def _beyond(plot: IntervalPlot, axis: Scale, bottom: float) -> Iterator[Markup]:
    """The dashed limits, and the tint on the side that fails."""
    for level in _limits(plot):
        if drawable(level.value) is not None:
            place = axis.at(level.value)
            left, right = (axis.start, place) if level.kind == "floor" else (place, axis.end)
            yield element("rect", class_="plot-out", x=left, y=0.0, width=right - left, height=bottom)
            yield path(f"M{coordinate(place)} 0V{coordinate(bottom)}", "plot-limit")


def _allowed(plot: IntervalPlot, axis: Scale, y: float) -> Iterator[Markup]:
    """The baseline as a hollow diamond, and from it a bar over the change that is allowed."""
    base = drawable(plot.baseline)
    if base is None:
        return
    x = axis.at(base)
    for end in drawables(_allowed_ends(plot)):
        yield path(f"M{coordinate(x)} {coordinate(y)}H{coordinate(axis.at(end))}", "plot-allowed")
    yield path(f"M{coordinate(x)} {coordinate(y - 5)}l5 5l-5 5l-5 -5z", "plot-base")


def _whisker(interval: Interval | None, axis: Scale, y: float) -> Iterator[Markup]:
    ends = drawables([interval.low, interval.high]) if interval else []
    if len(ends) == 2:
        low, high = (coordinate(axis.at(end)) for end in sorted(ends))
        top = coordinate(y - 4)
        yield path(f"M{low} {top}v8M{low} {coordinate(y)}H{high}M{high} {top}v8", "plot-whisker")


def _dot(value: float | None, axis: Scale, y: float) -> Iterator[Markup]:
    if value is not None and drawable(value) is not None:
        yield element("circle", class_="plot-dot", cx=axis.at(value), cy=y, r=4.0)
    else:
        yield label(NOT_AVAILABLE if value is None else format_number(value, "score"), axis.start, y + 4)


def _interval_words(plot: IntervalPlot) -> str:
    unit = plot.unit
    said = [
        f"{named(plot.name)}: {value_words(plot.value, plot.interval, unit)}",
        "" if plot.baseline is None else f"baseline {format_number(plot.baseline, unit)}",
        *(level_words(each, unit) for each in _limits(plot)),
        *(
            f"allowed {word} {_difference(size, unit)}"
            for word, size in (("drop", plot.max_drop), ("rise", plot.max_rise))
            if size is not None
        ),
    ]
    return ", ".join(each for each in said if each)


def _difference(size: float, unit: Unit) -> str:
    return format_limit(size, unit, difference=True) if drawable(size) is not None else format_number(size, unit)
