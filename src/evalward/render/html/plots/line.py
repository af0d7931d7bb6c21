"""A metric over time, with its intervals, levels and releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from markupsafe import Markup
from msgspec import Struct

from evalward.records.evidence import Interval
from evalward.records.metric import Unit
from evalward.render.html.plots.svg import Scale, coordinate, drawable, drawables, drawing, element, label, path, scale
from evalward.render.html.plots.words import Level, axis_number, level_words, named, short, value_words
from evalward.render.numbers import NOT_AVAILABLE, format_number, plural

_DOTTED = 120  # points that have room for a dot each
_LINE = 13  # from one line of text to the next
_APART = 44  # from one release's name to the next, so that none is written over another


class PlotPoint(Struct, frozen=True):
    """One measurement at `place` of the time axis; `name` says when and of what it is. `None` is not available."""

    place: float
    name: str
    value: float | None
    interval: Interval | None = None


class PlotMark(Struct, frozen=True):
    """Something that happened at a place of the time axis: a release."""

    place: float
    name: str


class LinePlot(Struct, frozen=True):
    """A metric over time, in order of place, with the levels that it is held against and what happened meanwhile.

    `ticks` are the dates below the axis. `pointed`: each point says its numbers to those who point at it, which takes
    some 100 bytes each.
    """

    name: str
    unit: Unit
    points: Sequence[PlotPoint]
    levels: Sequence[Level] = ()
    releases: Sequence[PlotMark] = ()
    ticks: Sequence[PlotMark] = ()
    pointed: bool = True


class _Frame(Struct, frozen=True):
    """Where a line plot's points go."""

    across: Scale
    up: Scale

    def place(self, point: PlotPoint, value: float) -> str:
        return f"{coordinate(self.across.at(point.place))} {coordinate(self.up.at(value))}"


def line_plot(plot: LinePlot) -> Markup:
    """A line with a band for the 95 % intervals. It has a gap where a value isn't available, and a cross below."""
    width, height, bottom = 420.0, 160.0, 138.0
    points = [point for point in plot.points if drawable(point.place) is not None]
    frame = _Frame(_time(points, width), scale(_line_numbers(plot), bottom, 18, _bounds(plot.unit)))
    known = _stretches(points)
    parts = [
        *(_grid(frame, plot.unit) if known else [label(NOT_AVAILABLE, width / 2, bottom / 2, "middle")]),
        *_bands(frame, known),
        *_levels(frame, plot),
        *_releases(frame, plot.releases, bottom),
        path("".join(_line(frame, each) for each in known), "plot-line"),
        *_dots(frame, points, known),
        *_crosses(frame, points, bottom),
        *_ticks(frame.across, plot.ticks, height),
        *(_pointed(frame, points, plot.unit, bottom) if plot.pointed else ()),
    ]
    return drawing(_line_words(plot, points), width, height, "plot-lines", parts)


def _bounds(unit: Unit) -> tuple[float, float] | None:
    return (0.0, 1.0) if unit == "ratio" else None


def _time(points: Sequence[PlotPoint], width: float) -> Scale:
    """From the first place to the last; a single one is in the middle."""
    low, high = (min(p.place for p in points), max(p.place for p in points)) if points else (0.0, 1.0)
    if not high > low:
        low, high = low - 1, low + 1
    return Scale(low, high, 52, width - 50)


def _line_numbers(plot: LinePlot) -> list[float]:
    spread = [end for each in plot.points if each.interval for end in (each.interval.low, each.interval.high)]
    return drawables([*(each.value for each in plot.points), *spread, *(each.value for each in plot.levels)])


def _stretches(points: Sequence[PlotPoint]) -> list[list[PlotPoint]]:
    """The points with a value, those in a row together."""
    groups = groupby(points, key=lambda point: drawable(point.value) is not None)
    return [list(group) for known, group in groups if known]


def _grid(frame: _Frame, unit: Unit) -> Iterator[Markup]:
    """Three lines across with their values."""
    up, across = frame.up, frame.across
    values = [up.low, up.low + (up.high - up.low) / 2, up.high]
    for value in values:
        y = up.at(value)
        yield path(f"M{coordinate(across.start)} {coordinate(y)}H{coordinate(across.end)}", "plot-grid")
        yield label(axis_number(value, unit, [each for each in values if each != value]), 46, y + 4, "end")


def _bands(frame: _Frame, stretches: Iterable[Sequence[PlotPoint]]) -> Iterator[Markup]:
    """The intervals of each stretch as one area, and a single one as a whisker."""
    for stretch in stretches:
        for has, group in groupby(stretch, key=lambda point: len(_ends(point)) == 2):
            row = list(group) if has else []
            top = "L".join(frame.place(point, _ends(point)[1]) for point in row)
            back = "L".join(frame.place(point, _ends(point)[0]) for point in reversed(row))
            if len(row) > 1:
                yield element("path", class_="plot-band", d=f"M{top}L{back}z")
            elif row:
                yield path(f"M{top}L{back}", "plot-whisker")


def _ends(point: PlotPoint) -> list[float]:
    """Low and high, or nothing."""
    ends = drawables([point.interval.low, point.interval.high]) if point.interval else []
    return sorted(ends) if len(ends) == 2 else []


def _levels(frame: _Frame, plot: LinePlot) -> Iterator[Markup]:
    """The lines across, and their names at the end, none written over another."""
    shown = sorted((each for each in plot.levels if drawable(each.value) is not None), key=lambda each: -each.value)
    heights = [frame.up.at(level.value) for level in shown]
    for level, y, place in zip(shown, heights, _apart(heights, frame.up.start), strict=True):
        across = frame.across
        kind = "plot-anchor" if level.kind == "anchor" else "plot-limit"
        line = f"M{coordinate(across.start)} {coordinate(y)}H{coordinate(across.end)}"
        yield path(line, kind, level_words(level, plot.unit))
        yield label(level.kind, across.end + 5, place, kind=f"plot-text {kind}-text")


def _apart(heights: Sequence[float], bottom: float) -> list[float]:
    """Where the names of lines at these heights stand, from top to bottom: a line apart, and above the bottom."""
    places: list[float] = []
    for y in heights:
        places.append(max(y + 4, places[-1] + _LINE) if places else y + 4)
    lowest = bottom + 4
    for index in reversed(range(len(places))):
        places[index] = max(min(places[index], lowest), 0.0)
        lowest = places[index] - _LINE
    return places


def _releases(frame: _Frame, releases: Iterable[PlotMark], bottom: float) -> Iterator[Markup]:
    """A line up for each, and its name where there is room for it."""
    free = 0.0
    across = frame.across
    inside = [mark for mark in releases if across.low <= mark.place <= across.high]
    for mark in sorted(inside, key=lambda mark: mark.place):
        x = across.at(mark.place)
        yield path(f"M{coordinate(x)} 14V{coordinate(bottom)}", "plot-release", f"release {named(mark.name)}")
        if x >= free:
            end = x > across.end - _APART
            yield label(short(mark.name), x, 10, "end" if end else "start", "plot-text plot-release-text")
            free = x + _APART


def _line(frame: _Frame, stretch: Sequence[PlotPoint]) -> str:
    return "M" + "L".join(frame.place(point, value) for point in stretch for value in drawables([point.value]))


def _dots(frame: _Frame, points: Sequence[PlotPoint], stretches: Sequence[Sequence[PlotPoint]]) -> Iterator[Markup]:
    """A dot per point where there is room; points that no line goes through always have one."""
    chosen = [each for each in stretches if len(points) <= _DOTTED or len(each) == 1]
    dots = [frame.place(point, value) for each in chosen for point in each for value in drawables([point.value])]
    if dots:
        yield path("".join(f"M{each}h0" for each in dots), "plot-dots")


def _crosses(frame: _Frame, points: Sequence[PlotPoint], bottom: float) -> Iterator[Markup]:
    places = [frame.across.at(point.place) for point in points if drawable(point.value) is None]
    if places:
        y = coordinate(bottom - 5)
        data = "".join(f"M{coordinate(x - 2)} {y}l4 4m0 -4l-4 4" for x in places)
        yield path(data, "plot-cross", f"{plural(len(places), 'run')} without a value")


def _ticks(across: Scale, ticks: Sequence[PlotMark], height: float) -> Iterator[Markup]:
    for mark in ticks:
        if drawable(mark.place) is None:
            continue
        x = across.at(mark.place)
        end = "end" if x > across.end - 30 else "start" if x < across.start + 30 else "middle"
        yield label(short(mark.name), x, height - 4, end)


def _pointed(frame: _Frame, points: Sequence[PlotPoint], unit: Unit, bottom: float) -> Iterator[Markup]:
    """An unseen line over each point, which says its numbers."""
    for point in points:
        words = f"{named(point.name)}: {value_words(point.value, point.interval, unit)}"
        yield path(f"M{coordinate(frame.across.at(point.place))} 14V{coordinate(bottom)}", "plot-hit", words)


def _line_words(plot: LinePlot, points: Sequence[PlotPoint]) -> str:
    known = [point for point in points if point.value is not None and drawable(point.value) is not None]
    runs = plural(len(plot.points), "run")
    if not known:
        return f"{named(plot.name)}: not available in {runs}"
    unit, values = plot.unit, [value for point in known for value in drawables([point.value])]
    first, last = known[0], known[-1]
    said = [
        f"{named(plot.name)} in {runs}: {format_number(values[0], unit)} ({named(first.name)})",
        f"last {value_words(last.value, last.interval, unit)} ({named(last.name)})",
        f"lowest {format_number(min(values), unit)}",
        f"highest {format_number(max(values), unit)}",
        *(level_words(each, unit) for each in plot.levels),
    ]
    missing = len(plot.points) - len(known)
    said += [f"not available in {missing}"] if missing else []
    said += [f"releases: {', '.join(short(mark.name) for mark in plot.releases)}"] if plot.releases else []
    return ", ".join(said)
