"""The whole history as a page shows it: each run's protected metrics with intervals and limits, spending, moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalward.decide.anchor import with_levels
from evalward.decide.history import summarize
from evalward.decide.history_file import History, case_lists
from evalward.decide.moves import moves
from evalward.decide.rules import interval_of
from evalward.records.baseline import Baseline
from evalward.records.history import HistoryEntry, RunHistory
from evalward.records.metric import Metric
from evalward.records.past import MetricPast, Past, PastPoint, PastRow, Release, RunPast
from evalward.records.patterns import chosen
from evalward.records.policy import Rule
from evalward.records.trend import Trend

MOST_METRICS = 8
MOST_ROWS = 30
UNGUARDED = 3
"""So many metrics are drawn of a run that no rule protects."""

_ALL = 1_000_000  # points: more than a file can have
_SPENDING = ("usd", "tokens")


@dataclass(frozen=True)
class PastOptions:
    """What the history is held against, and which part of it is wanted (patterns; none: everything).

    `defaults` are the rules of each kind, for metrics that `rules` don't name. `anchor` is a release's baseline, and
    `label` its name.
    """

    rules: Sequence[Rule] = ()
    defaults: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    releases: Sequence[Release] = ()
    baseline: Baseline | None = None
    anchor: Baseline | None = None
    label: str = ""
    suites: Sequence[str] = ()
    targets: Sequence[str] = ()
    refs: Sequence[str] = ()


def past_of(history: History, options: PastOptions) -> Past:
    """What the chosen entries say, a `RunPast` per suite and target, sorted by both."""
    entries = [entry for entry in history.entries if _wanted(entry, options)]
    lists = case_lists(history.entries)
    summary = summarize(History(entries), options.baseline, _ALL)
    by_run: dict[tuple[str, str], list[HistoryEntry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.at, entry.attempt)):
        by_run.setdefault((entry.suite, entry.target), []).append(entry)
    runs = [_run(known, by_run[known.suite, known.target], lists, options) for known in summary.runs]
    return Past(runs=runs, releases=_releases(entries, options.releases), unreadable=history.unreadable)


def _wanted(entry: HistoryEntry, options: PastOptions) -> bool:
    return (
        chosen(entry.suite, options.suites)
        and chosen(entry.target, options.targets)
        and chosen(entry.ref or "", options.refs)
    )


def _releases(entries: Iterable[HistoryEntry], releases: Sequence[Release]) -> list[Release]:
    """Those within the time that was measured."""
    times = [entry.at for entry in entries]
    return [each for each in releases if times and min(times) <= each.at <= max(times)]


def _run(
    known: RunHistory, entries: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]], options: PastOptions
) -> RunPast:
    whole = [entry for entry in entries if not entry.partial]
    rules = _rules(known, options)
    units = {name: metric for entry in whole for name, metric in entry.metrics.items()}
    ruled = [name for name in dict.fromkeys(rule.metric for rule in rules) if name in units]
    shown = (ruled or _first(units))[:MOST_METRICS]
    spending = [name for name, metric in units.items() if metric.unit in _SPENDING and name not in shown]
    trends = with_levels(known.trends, entries, options.label, options.anchor)
    levels = {trend.metric: trend for trend in trends}
    return RunPast(
        known=known.model_copy(update={"trends": []}),
        guarded=bool(ruled),
        metrics=[_metric(name, whole, lists, rules, levels) for name in shown],
        spending=[_metric(name, whole, lists, rules, levels) for name in spending[:MOST_METRICS]],
        trends=trends,
        moves=moves(whole, lists, shown),
        rows=[_row(entry, shown) for entry in reversed(entries[-MOST_ROWS:])],
    )


def _rules(known: RunHistory, options: PastOptions) -> list[Rule]:
    """The policy's rules for the run, and its kind's own for the metrics that these don't name."""
    own = [rule for rule in options.rules if rule.holds_for(known.suite, known.target)]
    named = {rule.metric for rule in own}
    return own + [rule for rule in options.defaults.get(known.kind, ()) if rule.metric not in named]


def _first(metrics: Mapping[str, Metric]) -> list[str]:
    """The first rates with a direction, else the first metrics with one."""
    directed = [name for name, metric in metrics.items() if metric.better != "neither"]
    return ([name for name in directed if metrics[name].unit == "ratio"] or directed)[:UNGUARDED]


def _metric(
    name: str,
    entries: Sequence[HistoryEntry],
    lists: Mapping[str, dict[str, str]],
    rules: Iterable[Rule],
    levels: Mapping[str, Trend],
) -> MetricPast:
    known = [entry.metrics[name] for entry in entries if name in entry.metrics][-1]
    limits = [rule for rule in rules if rule.metric == name]
    return MetricPast(
        metric=name,
        unit=known.unit,
        better=known.better,
        points=[_point(entry, entry.metrics.get(name), lists) for entry in entries],
        floor=max((rule.floor for rule in limits if rule.floor is not None), default=None),
        ceiling=min((rule.ceiling for rule in limits if rule.ceiling is not None), default=None),
        anchor=levels[name].anchor if name in levels else None,
    )


def _point(entry: HistoryEntry, metric: Metric | None, lists: Mapping[str, dict[str, str]]) -> PastPoint:
    trials = entry.trials * len(lists.get(entry.case_set, ()))
    value = metric.value if metric else None
    return PastPoint(at=entry.at, commit=entry.commit, value=value, interval=interval_of(metric, trials))


def _row(entry: HistoryEntry, metrics: Iterable[str]) -> PastRow:
    return PastRow(
        at=entry.at,
        commit=entry.commit,
        ref=entry.ref,
        outcome=entry.outcome,
        partial=entry.partial,
        metrics={name: entry.metrics[name] for name in metrics if name in entry.metrics},
    )
