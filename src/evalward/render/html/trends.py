"""Metrics over the last measurements, drawn and in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup
from msgspec import Struct

from evalward.records.trend import Trend
from evalward.records.verdict import RuleOutcome
from evalward.render.html.plots import Level, LinePlot, line_plot, trend_points
from evalward.render.trend import TrendRow, trend_row


class TrendLine(Struct, frozen=True):
    """One metric of one run over time."""

    suite: str
    target: str
    row: TrendRow
    plot: Markup


def trend_lines(trends: Iterable[Trend], rules: Sequence[RuleOutcome]) -> list[TrendLine]:
    """The trends that have a value, with the floors and ceilings that their rules set."""
    return [TrendLine(each.suite, each.target, trend_row(each), _plot(each, rules)) for each in trends if each.known]


def _plot(trend: Trend, rules: Sequence[RuleOutcome]) -> Markup:
    points, ticks = trend_points(trend)
    of_run = [each.rule for each in rules if (each.suite, each.target, each.rule.metric) == _key(trend)]
    floors = [Level("floor", rule.floor) for rule in of_run if rule.floor is not None]
    ceilings = [Level("ceiling", rule.ceiling) for rule in of_run if rule.ceiling is not None]
    anchor = [Level("anchor", trend.anchor.value, trend.anchor.label)] if trend.anchor else []
    levels = [*floors[:1], *ceilings[:1], *anchor]
    return line_plot(LinePlot(trend.metric, trend.unit, points, levels, ticks=ticks))


def _key(trend: Trend) -> tuple[str, str, str]:
    return trend.suite, trend.target, trend.metric
