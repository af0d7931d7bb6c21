"""Sparklines and charts: gaps, single and equal values, and names that want to be more than names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.metric import Unit
from evalward.records.trend import Trend, TrendPoint
from evalward.render.trend import mermaid_trend, sparkline, trend_row, trend_section
from support.hostile import SNIPPETS


def points(*values: float | None) -> list[TrendPoint]:
    return [TrendPoint(at=f"2026-01-{n:02d}T08:00:00Z", value=value) for n, value in enumerate(values, 1)]


def a_trend(*values: float | None, metric: str = "pass_rate", target: str = "t") -> Trend:
    return Trend(suite="s", target=target, metric=metric, points=points(*values))


@pytest.mark.parametrize(
    ("values", "line", "ascii_line"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█", "_.:-=+*#"),
        ([1, None, 0], "█·▁", "#?_"),
        ([5], "▅", "="),
        ([0.0, 0.0], "▅▅", "=="),
        ([None], "·", "?"),
        ([], "", ""),
        ([-1e308, 1e308, 1, 2], "··▁█", "??_#"),
    ],
)
def test_sparkline(values: list[float | None], line: str, ascii_line: str) -> None:
    assert sparkline(values) == line
    assert sparkline(values, ascii=True) == ascii_line


def test_mermaid__a_line_in_per_cent() -> None:
    assert mermaid_trend(points(0.5, 0.75, 1.0), "pass_rate").split("\n")[2:] == [
        "xychart-beta",
        'title "pass_rate, 3 runs, 2026-01-01 to 2026-01-03"',
        'x-axis "run" [1, 2, 3]',
        'y-axis "per cent" 45 --> 100',
        "line [50, 75, 100]",
        "```",
    ]


def test_mermaid__a_missing_value_is_left_out_and_told() -> None:
    text = mermaid_trend(points(0.5, None, 0.7), "m")
    assert "2 runs, 2026-01-01 to 2026-01-03, 1 not available" in text
    assert "line [50, 70]" in text


def test_mermaid__nothing_to_draw() -> None:
    assert mermaid_trend(points(None), "m") == mermaid_trend([], "m") == ""


def test_mermaid__one_value_is_a_bar_because_a_line_needs_two() -> None:
    assert "\nbar [90]\n" in mermaid_trend(points(0.9), "m")


@pytest.mark.parametrize(
    ("values", "span"), [((1.0, 1.0), "95 --> 100"), ((0.0, 0.0), "0 --> 1"), ((0.5, 0.5), "47.5 --> 52.5")]
)
def test_mermaid__a_constant_has_room_around_it(values: tuple[float, ...], span: str) -> None:
    assert f'y-axis "per cent" {span}\n' in mermaid_trend(points(*values), "m")


def test_mermaid__many_points_have_an_axis_from_first_to_last() -> None:
    text = mermaid_trend(points(*([0.5] * 300)), "m")
    assert 'x-axis "run" 1 --> 100' in text
    assert text.count("50") >= 100


# The grammar of Mermaid's xychart for what we write of it; it knows no exponents and no quotes inside of quotes.
_NUMBER = r"-?\d+(?:\.\d+)?"
_TEXT = r'"[^"%{}#`<>;\\\n]+"'
_CHART = re.compile(
    rf"""```mermaid
%%\{{init: \{{[ \w":#,{{}}]+\}}\}}%%
xychart-beta
title {_TEXT}
x-axis "run" (?:\[{_NUMBER}(?:, {_NUMBER})*\]|1 --> \d+)
y-axis "[a-zA-Z ]+" {_NUMBER} --> {_NUMBER}
(?:line|bar) \[{_NUMBER}(?:, {_NUMBER})*\]
```"""
)


@pytest.mark.parametrize("name", SNIPPETS)
def test_mermaid__hostile_names(name: str) -> None:
    assert _CHART.fullmatch(mermaid_trend(points(0.5, 0.6), name))


@given(
    name=st.text(),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40),
    unit=st.sampled_from(["ratio", "usd"]),
)
def test_mermaid__any_name_and_any_numbers(name: str, values: list[float], unit: Unit) -> None:
    text = mermaid_trend(points(*values), name, unit)
    assert bool(text) == any(abs(value) <= 1e15 for value in values)
    if text:
        assert _CHART.fullmatch(text)
        ends = re.search(rf"({_NUMBER}) --> ({_NUMBER})\n(?:line|bar)", text)
        assert ends is not None
        assert float(ends[1]) <= float(ends[2])


def test_row__first_last_lowest_highest() -> None:
    row = trend_row(a_trend(0.9, None, 0.5, 0.91))
    assert (row.move, row.low, row.high, row.line) == ("90.0 % → 91.0 %", "50.0 %", "91.0 %", "█·▁█")
    assert trend_row(a_trend(None, 0.5), ascii=True).move == "n/a -> 50.0 %"
    assert trend_row(a_trend(None)).move == "n/a"


def test_section__is_folded_and_has_three_charts_at_most() -> None:
    text = trend_section([a_trend(0.1, 0.2, metric=f"m{n}") for n in range(5)])
    assert text.startswith("<details>\n<summary>Trend over 2 runs</summary>\n\n|")
    assert text.endswith("\n\n</details>\n")
    assert text.count("```mermaid") == 3
    assert "| `m4` |" in text


def test_section__several_targets_are_told_apart() -> None:
    text = trend_section([a_trend(0.1, 0.2), a_trend(0.1, 0.2, target="@u")])
    assert "**s × `@u`**" in text
    assert 'title "pass_rate, s × @u, 2 runs' in text


def test_section__without_values_is_none() -> None:
    assert trend_section([]) == trend_section([a_trend(None)]) == ""


def html_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("<")]


@pytest.mark.parametrize("name", SNIPPETS)
def test_section__hostile_names(name: str) -> None:
    text = trend_section([a_trend(0.5, 0.6, metric=name, target=name), a_trend(0.5, 0.4, target="x")])
    plain = trend_section([a_trend(0.5, 0.6, metric="m", target="t"), a_trend(0.5, 0.4, target="x")])
    assert html_lines(text) == html_lines(plain)  # nothing opens or closes what ours doesn't
    assert len(re.findall("^```", text, re.MULTILINE)) == 4


def test_section__draws_what_moved() -> None:
    still, moved = a_trend(0.5, 0.5, metric="still"), a_trend(0.5, 0.4, metric="moved")
    assert re.findall(r'title "(\w+),', trend_section([still, moved])) == ["moved"]
    assert re.findall(r'title "(\w+),', trend_section([still])) == ["still"]
