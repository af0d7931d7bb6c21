"""Where measurements are on a time axis, from the ISO times that records have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from evalward.records.trend import Trend
from evalward.render.html.plots.line import PlotMark, PlotPoint
from evalward.render.names import DAY, moment


class Timeline(Struct, frozen=True):
    """A place for each time, in their order, and the dates below the axis."""

    places: Sequence[float]
    ticks: Sequence[PlotMark]


def timeline(times: Sequence[str]) -> Timeline:
    """Days since the first. Where one can't be read the measurements are as far from each other, one by one."""
    read = [_read(each) for each in times]
    known = [each for each in read if each is not None]
    if len(known) == len(times):
        places = [(each - min(known)).total_seconds() / 86_400 for each in known]
    else:
        places = [float(number) for number in range(len(times))]
    named = sorted(zip(places, times, strict=True))
    ends = dict.fromkeys(time[:DAY] for _, time in (named[:1] + named[-1:]))
    at = dict(zip([named[0][0], named[-1][0]], ends, strict=False)) if named else {}
    return Timeline(places, [PlotMark(place, day) for place, day in at.items()])


def trend_points(trend: Trend) -> tuple[list[PlotPoint], Sequence[PlotMark]]:
    """The points of a trend, and the dates below them."""
    line = timeline([point.at for point in trend.points])
    rows = zip(line.places, trend.points, strict=True)
    return [PlotPoint(place, moment(each.at, each.commit), each.value) for place, each in rows], line.ticks


def _read(time: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
