"""The page's plots: what they draw, what they say in words, and numbers and names that are no ordinary ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from evalward.records.evidence import Interval
from evalward.records.metric import Unit
from evalward.records.trend import Trend, TrendPoint
from evalward.render.html.plots import (
    IntervalPlot,
    Level,
    LinePlot,
    PlotMark,
    PlotPoint,
    StripPlot,
    StripRow,
    interval_plot,
    line_plot,
    strip_plot,
    timeline,
    trend_points,
)
from evalward.render.html.plots.svg import scale
from support.hostile import SNIPPETS

TAGS = {"svg", "title", "path", "rect", "circle", "text"}
ATTRIBUTES = {"class", "viewBox", "role", "d", "fill", "x", "y", "width", "height", "cx", "cy", "r", "text-anchor"}
UNITS: Sequence[Unit] = ("ratio", "count", "tokens", "ms", "usd", "score", "speedup")
RATE = IntervalPlot(
    "pass_rate", "ratio", 0.946, Interval(low=0.901, high=0.972), baseline=0.95, floor=0.9, max_drop=0.02
)


def parsed(plot: Markup) -> ElementTree.Element:
    """The drawing, which is what the page's security policy lets through: our elements, attributes and classes."""
    root = ElementTree.fromstring(plot)
    for each in root.iter():
        assert each.tag in TAGS
        assert each.attrib.keys() <= ATTRIBUTES
        assert re.fullmatch(r"plot[a-z -]*|", each.get("class", ""))
        for name in each.attrib.keys() - {"class", "role", "fill", "text-anchor"}:
            assert re.fullmatch(r"[-MHVLvhlmz \d.]*", each.attrib[name]), each.attrib[name]
    assert root.get("role") == "img"
    return root


def words(plot: Markup) -> str:
    found = parsed(plot).find("title")
    assert found is not None
    return found.text or ""


def drawn(plot: Markup, kind: str) -> list[ElementTree.Element]:
    return [each for each in parsed(plot).iter() if kind in each.get("class", "").split()]


def texts(plot: Markup) -> list[str]:
    return [each.text or "" for each in parsed(plot).iter("text")]


def points(*values: float | None) -> list[PlotPoint]:
    return [PlotPoint(float(day), f"2026-01-{day:02d} (abc1234)", value) for day, value in enumerate(values, 1)]


# --- a value with its interval ----------------------------------------------------------------------------------------


def test_interval__the_words_say_every_number() -> None:
    assert words(interval_plot(RATE)) == (
        "pass_rate: 94.6 % (95 % interval 90.1 % to 97.2 %), baseline 95.0 %, floor 90 %, allowed drop 2 pp"
    )


def test_interval__what_is_where() -> None:
    plot = interval_plot(RATE)
    assert texts(plot) == ["88.0 %", "98.0 %"]  # the ends of the scale
    (dot,), (limit,), (base,), (bar,) = (drawn(plot, f"plot-{k}") for k in ("dot", "limit", "base", "allowed"))
    per_point = 224 / 10  # from 8 to 232 for ten points
    assert float(dot.attrib["cx"]) == pytest.approx(8 + 6.6 * per_point, abs=0.1)
    assert limit.attrib["d"] == f"M{8 + 2 * per_point:.1f} 0V33"
    assert base.attrib["d"].startswith(f"M{8 + 7 * per_point:.1f} ")
    assert bar.attrib["d"] == f"M{8 + 7 * per_point:.1f} 8H{8 + 5 * per_point:g}"
    (out,) = drawn(plot, "plot-out")
    assert (out.attrib["x"], out.attrib["width"]) == ("8", f"{2 * per_point:.1f}")


def test_interval__of_other_units() -> None:
    plot = IntervalPlot("cost_usd", "usd", 1.2, None, 1.0, ceiling=2.0, max_rise=0.3)
    assert words(interval_plot(plot)) == "cost_usd: $1.20, baseline $1.00, ceiling $2.00, allowed rise $0.30"
    (out,) = drawn(interval_plot(plot), "plot-out")
    assert float(out.attrib["x"]) + float(out.attrib["width"]) == 232  # up to the end, from the ceiling on


@pytest.mark.parametrize("value", [None, math.nan])
def test_interval__what_is_not_available_has_no_mark_and_is_said(value: float | None) -> None:
    plot = interval_plot(IntervalPlot("m", "ratio", value, baseline=0.5))
    assert words(plot) == "m: not available, baseline 50.0 %"
    assert not drawn(plot, "plot-dot")
    assert "n/a" in texts(plot)
    assert len(drawn(plot, "plot-base")) == 1


def test_interval__an_unknown_baseline_has_no_mark() -> None:
    plot = interval_plot(IntervalPlot("m", "ratio", 0.5, max_drop=0.1))
    assert not drawn(plot, "plot-base") + drawn(plot, "plot-allowed")


def test_interval__a_rate_at_its_end_has_a_scale_up_to_it() -> None:
    assert (
        texts(interval_plot(IntervalPlot("m", "ratio", 1.0, Interval(low=0.93, high=1.0), floor=1.0)))[1] == "100.0 %"
    )


# --- over time --------------------------------------------------------------------------------------------------------


def test_line__the_words_say_where_it_began_where_it_is_and_what_it_is_held_against() -> None:
    plot = LinePlot(
        "pass_rate", "ratio", points(0.9, None, 1.0, 0.8), [Level("floor", 0.75), Level("anchor", 0.88, "v1.4")],
        [PlotMark(2.0, "v1.5")],
    )  # fmt: skip
    assert words(line_plot(plot)) == (
        "pass_rate in 4 runs: 90.0 % (2026-01-01 (abc1234)), last 80.0 % (2026-01-04 (abc1234)), lowest 80.0 %, "
        "highest 100.0 %, floor 75 %, anchor 88.0 % (v1.4), not available in 1, releases: v1.5"
    )


def test_line__a_gap_where_a_value_is_not_available_and_a_cross_below() -> None:
    plot = line_plot(LinePlot("m", "ratio", points(0.9, 0.9, None, 0.8, 0.8)))
    (line,) = drawn(plot, "plot-line")
    assert line.attrib["d"].count("M") == 2
    assert line.attrib["d"].count("L") == 2
    (cross,) = drawn(plot, "plot-cross")
    assert [each.text for each in cross] == ["1 run without a value"]


def test_line__intervals_are_a_band_and_one_by_itself_a_whisker() -> None:
    around = Interval(low=0.4, high=0.6)
    row = [PlotPoint(float(day), "d", 0.5, around if day != 2 else None) for day in range(5)]
    plot = line_plot(LinePlot("m", "ratio", row))
    assert len(drawn(plot, "plot-band")) == 2
    alone = line_plot(LinePlot("m", "ratio", row[:2] + row[2:3] + row[4:]))
    assert len(drawn(alone, "plot-band")) == len(drawn(alone, "plot-whisker")) == 1


def test_line__each_point_says_its_numbers_if_wanted() -> None:
    shown = LinePlot("m", "ratio", points(0.9, None))
    said = [each[0].text for each in drawn(line_plot(shown), "plot-hit")]
    assert said == ["2026-01-01 (abc1234): 90.0 %", "2026-01-02 (abc1234): not available"]
    assert not drawn(line_plot(LinePlot("m", "ratio", points(0.9, None), pointed=False)), "plot-hit")


def test_line__names_are_not_written_over_each_other() -> None:
    near = [PlotMark(1.0, "v1"), PlotMark(1.1, "v2"), PlotMark(4.0, "v3"), PlotMark(9.0, "later than all runs")]
    levels = [Level("floor", 0.5), Level("anchor", 0.51)]
    plot = line_plot(LinePlot("m", "ratio", points(0.1, 0.9, 0.5, 0.4), levels, near))
    assert len(drawn(plot, "plot-release")) == 3
    assert [each.text for each in drawn(plot, "plot-release-text")] == ["v1", "v3"]
    heights = [float(each.attrib["y"]) for kind in ("anchor", "limit") for each in drawn(plot, f"plot-{kind}-text")]
    assert heights[1] - heights[0] >= 12


@pytest.mark.parametrize("values", [[], [None], [None, math.nan]])
def test_line__without_values(values: list[float | None]) -> None:
    plot = line_plot(LinePlot("m", "tokens", points(*values)))
    assert words(plot).startswith("m: not available in ")
    assert texts(plot) == ["n/a"]
    assert not "".join(each.attrib["d"] for each in drawn(plot, "plot-line"))


def test_line__a_year_has_no_dot_per_day() -> None:
    plot = line_plot(LinePlot("m", "ratio", points(*[0.5, 0.6] * 100, None, 0.7)))
    (dots,) = drawn(plot, "plot-dots")
    assert dots.attrib["d"].count("M") == 1  # the one that no line goes through


@pytest.mark.parametrize(
    ("unit", "values", "axis"),
    [
        ("tokens", [90_000, 250_000], ["50 k", "175 k", "300 k"]),
        ("count", [2, 9_000], ["0", "5,000", "10 k"]),
        ("score", [-3e12, 4e13], ["−20 T", "20 T", "60 T"]),
        ("ms", [0, 90_000], ["0 ms", "50.0 s", "1.7 min"]),
        ("usd", [0.1, 0.4], ["$0.00", "$0.2500", "$0.5000"]),
    ],
)
def test_line__numbers_beside_the_axis_are_short(unit: Unit, values: list[float], axis: list[str]) -> None:
    assert [text for text in texts(line_plot(LinePlot("m", unit, points(*values)))) if text] == axis


# --- samples ----------------------------------------------------------------------------------------------------------


def test_strip__a_stroke_per_sample_and_medians_in_words() -> None:
    plot = strip_plot(StripPlot("parse", "s", [StripRow("before", [1.0, 1.25, 3.0]), StripRow("now", [0.5])]))
    assert words(plot) == "parse: before median 1.25 s of 3 samples, 1 s to 3 s; now median 0.5 s of 1 sample"
    assert [each.attrib["d"].count("M") for each in drawn(plot, "plot-sample")] == [3, 1]
    assert len(drawn(plot, "plot-median")) == 2
    assert texts(plot)[:4] == ["before", "1.25 s", "now", "0.5 s"]


def test_strip__a_label_without_samples_says_so() -> None:
    plot = strip_plot(StripPlot("parse", "s", [StripRow("before", []), StripRow("now", [math.nan, math.inf])]))
    assert words(plot) == "parse: before not available; now not available"
    assert texts(plot) == ["before", "n/a", "now", "n/a"]


def test_strip__very_many_samples_stay_small() -> None:
    plot = strip_plot(StripPlot("parse", "s", [StripRow("before", [float(n) for n in range(100_000)])]))
    assert len(plot) < 20_000
    assert "of 100,000 samples" in words(plot)


# --- where the points are ---------------------------------------------------------------------------------------------


def test_timeline__days_since_the_first() -> None:
    line = timeline(["2026-01-02T12:00:00Z", "2026-01-01T12:00:00+00:00", "2026-01-05"])
    assert line.places == [1.0, 0.0, 3.5]
    assert line.ticks == [PlotMark(0.0, "2026-01-01"), PlotMark(3.5, "2026-01-05")]


def test_timeline__what_is_no_time_is_one_step_from_the_next() -> None:
    assert timeline(["2026-01-01", "x", "0001-01-01T00:00:00+23:59"]).places == [0.0, 1.0, 2.0]
    assert timeline([]).ticks == []


def test_trend_points() -> None:
    trend = Trend(
        suite="s", target="t", metric="m",
        points=[
            TrendPoint(at="2026-01-01T08:00:00Z", commit="abcdef0123", value=None),
            TrendPoint(at="2026-01-02T08:00:00Z", value=1.0),
        ],
    )  # fmt: skip
    assert trend_points(trend)[0] == [
        PlotPoint(0.0, "2026-01-01 (abcdef0)", None),
        PlotPoint(1.0, "2026-01-02", 1.0),
    ]


# --- numbers and names of any kind ------------------------------------------------------------------------------------


NUMBERS = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, 1.0, 1e15, -1e15, 1e308, 5e-324, 0.1 + 0.2]))
NAMES = st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=40))
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SPREADS = st.one_of(st.none(), st.builds(Interval, low=FINITE, high=FINITE))


def holds(plot: Markup) -> None:
    root = parsed(plot)
    _, _, width, height = (float(each) for each in root.attrib["viewBox"].split())
    for each in root.iter():
        for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            assert 0 <= float(each.get(name, 0)) <= most


ALLOWED = st.one_of(st.none(), st.floats(min_value=0))


@given(st.builds(
    IntervalPlot, name=NAMES, unit=st.sampled_from(UNITS), value=NUMBERS, interval=SPREADS, baseline=NUMBERS,
    floor=NUMBERS, ceiling=NUMBERS, max_drop=ALLOWED, max_rise=ALLOWED,
))  # fmt: skip
def test_interval__of_anything(plot: IntervalPlot) -> None:
    holds(interval_plot(plot))


@given(
    NAMES, st.sampled_from(UNITS), st.lists(st.builds(PlotPoint, st.floats(), NAMES, NUMBERS, SPREADS), max_size=5),
    st.lists(st.builds(Level, st.sampled_from(["floor", "ceiling", "anchor"]), st.floats(), NAMES), max_size=3),
    st.lists(st.builds(PlotMark, st.floats(), NAMES), max_size=3),
)  # fmt: skip
def test_line__of_anything(
    name: str, unit: Unit, row: list[PlotPoint], levels: list[Level], marks: list[PlotMark]
) -> None:
    holds(line_plot(LinePlot(name, unit, row, levels, marks, marks)))


def test_line__names_of_levels_at_the_bottom_stay_in_the_picture() -> None:
    levels = [Level("floor", 0.0, name) for name in ("first", "second", "third")]
    plot = line_plot(LinePlot("rate", "ratio", [], levels))

    holds(plot)
    heights = [float(each.attrib["y"]) for each in parsed(plot).iter() if each.text == "floor"]
    assert heights == sorted(set(heights))
    assert len(heights) == 3


@given(NAMES, NAMES, st.lists(st.builds(StripRow, NAMES, st.lists(st.floats(), max_size=5)), max_size=3))
def test_strip__of_anything(name: str, unit: str, rows: list[StripRow]) -> None:
    holds(strip_plot(StripPlot(name, unit, rows)))


@given(st.lists(st.floats(-1e15, 1e15), max_size=4), st.one_of(st.none(), st.just((0.0, 1.0))))
def test_scale__has_room_for_all(values: list[float], bounds: tuple[float, float] | None) -> None:
    found = scale(values, 10, 90, bounds)
    assert found.low < found.high
    for value in values:
        assert found.low <= value <= found.high
        assert 10 <= found.at(value) <= 90


@given(st.lists(st.text(max_size=30), max_size=4))
def test_timeline__of_anything(times: list[str]) -> None:
    assert len(timeline(times).places) == len(times)
