"""What the rules looked at: each metric with its value, its interval drawn, and what could have been seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup
from msgspec import Struct

from evalward.records.metric import Metric, Unit
from evalward.records.policy import Rule
from evalward.records.verdict import RuleOutcome
from evalward.render.html.plots import IntervalPlot, interval_plot
from evalward.render.view import MetricRow, SureRow

_LIMITS = ("floor", "ceiling", "max_drop", "max_rise")


class RuleLine(Struct, frozen=True):
    """A metric that a rule speaks about: its row as in the comment, its plot, and how sure it is, where that is asked.

    `plot` is empty where there is no number to draw.
    """

    row: MetricRow
    plot: Markup
    sure: SureRow | None = None


def rule_lines(rows: Iterable[MetricRow], sure: Iterable[SureRow], outcomes: Sequence[RuleOutcome]) -> list[RuleLine]:
    """The rows of one run, each with what its rules looked at."""
    known = {each.metric: each for each in sure}
    return [
        RuleLine(
            row, _plot(row.metric, [each for each in outcomes if each.rule.metric == row.metric]), known.get(row.metric)
        )
        for row in rows
    ]


def _plot(metric: str, outcomes: Sequence[RuleOutcome]) -> Markup:
    if not outcomes:
        return Markup()
    first = outcomes[0]
    value, before = _number(first.value), _number(first.before)
    if value is None and before is None:
        return Markup()
    limits = {name: _limit(name, [each.rule for each in outcomes]) for name in _LIMITS}
    unit: Unit = next((each.unit for each in (first.value, first.before) if each), "ratio")
    interval = next((each.interval for each in outcomes if each.interval), None)
    return interval_plot(IntervalPlot(metric, unit, value, interval, before, **limits))


def _number(metric: Metric | None) -> float | None:
    return metric.value if metric else None


def _limit(name: str, rules: Iterable[Rule]) -> float | None:
    """The strictest of several rules: the highest floor, and the lowest of everything else."""
    given = [value for rule in rules if (value := getattr(rule, name)) is not None]
    strictest = max if name == "floor" else min
    return strictest(given) if given else None
