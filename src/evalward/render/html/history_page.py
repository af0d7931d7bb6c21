"""The page of a history: an index of what was measured, then each run's metrics over time and what moved them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from msgspec import structs

from evalward.records.metric import Metric
from evalward.records.past import MetricPast, Move, Past, PastPoint, PastRow, Release, RunPast
from evalward.records.verdict import Outcome
from evalward.render.anchors import run_anchor
from evalward.render.escape import html_shown
from evalward.render.history import broken_lines, flaky_lines, run_facts
from evalward.render.html.document import document
from evalward.render.html.links import Links
from evalward.render.html.plots import Level, LinePlot, PlotMark, PlotPoint, line_plot, timeline
from evalward.render.names import DAY, moment, short_hash
from evalward.render.numbers import format_count, format_delta, format_limit, format_number, format_value, plural
from evalward.render.rows import metric_order
from evalward.render.trend import TrendRow, trend_row
from evalward.render.view import OUTCOMES, Badge, Some

MOST_RUNS = 100
MOST_CASES = 100
MOST_POINTED = 6000
"""Points of all plots that say their numbers when pointed at: some 100 bytes each."""

_NAME = 120  # characters of a stranger's name
_LOOKED_FOR = ("pass_rate", "csr")  # before all others: the share of passed cases, by its names
_WORSE = Badge("🔻", "worse", "red", "▼")
_BETTER = Badge("🔺", "better", "green", "▲")
_MOVED = Badge("🔷", "moved", "dim", "◆")


@dataclass(frozen=True)
class CommitPlace:
    """A commit, and where it is to be seen; both may be empty."""

    commit: str
    link: str


@dataclass(frozen=True)
class LastCheck:
    """How the newest check with a verdict ended, over all its suites and targets; `ended` follows "The last check"."""

    day: str
    place: CommitPlace
    ref: str
    badge: Badge
    ended: str


@dataclass(frozen=True)
class MetricFigure:
    """A metric over time: what it was and is, in words, and its plot."""

    metric: str
    facts: str
    limits: str
    plot: Markup


@dataclass(frozen=True)
class MoveLine:
    """What moved with which commit, and how sure that is. `notes` are sentences."""

    day: str
    place: CommitPlace
    ref: str
    metric: str
    badge: Badge
    move: str
    delta: str
    certainty: str
    notes: list[str]
    cases: list[str]


@dataclass(frozen=True)
class MeasuredLine:
    """One measurement; `check` is how the whole check ended, `values` are those of the section's metrics."""

    day: str
    place: CommitPlace
    ref: str
    check: Badge | None
    partial: bool
    values: list[str]


@dataclass(frozen=True)
class RunSection:
    """One suite × target. `now` is the metric that people look for first, today.

    `certain` moved beyond chance, `uncertain` may be chance. `failing` are the cases that fail in their last
    measurement and aren't flaky.
    """

    anchor: str
    name: str
    facts: str
    runs: str
    last: str
    now: str
    guarded: bool
    figures: list[MetricFigure]
    spending: list[MetricFigure]
    certain: list[MoveLine]
    uncertain: list[MoveLine]
    flaky: Some[tuple[str, str]]
    failing: Some[tuple[str, str]]
    trends: list[TrendRow]
    metrics: list[str]
    rows: list[MeasuredLine]


def history_page(past: Past, links: Links) -> str:
    """The document. The same history gives the same text."""
    shown = past.runs[:MOST_RUNS]
    pointed = _pointed(shown)
    return document(
        "history.html.j2",
        scripts=False,
        title=links.repository,
        facts=_facts(past),
        check=_last_check(past.runs, links),
        runs=[_section(run, past.releases, links, pointed) for run in shown],
        more=len(past.runs) - len(shown),
    )


def _facts(past: Past) -> list[str]:
    if not past.runs:
        return []
    days = [run.known.first.at[:DAY] for run in past.runs], [run.known.last.at[:DAY] for run in past.runs]
    facts = [plural(sum(run.known.runs for run in past.runs), "run"), f"{min(days[0])} to {max(days[1])}"]
    facts += [f"releases: {', '.join(_shown(each.name) for each in past.releases[-5:])}"] if past.releases else []
    lines = plural(past.unreadable, "line that can't be read", "lines that can't be read")
    return facts + ([f"{lines} left out"] if past.unreadable else [])


def _last_check(runs: Sequence[RunPast], links: Links) -> LastCheck | None:
    """The newest verdict that is known. The rows of each run are the newest first."""
    judged = [(row, row.outcome) for run in runs for row in run.rows if row.outcome]
    if not judged:
        return None
    row, outcome = max(judged, key=lambda each: each[0].at)
    badge = OUTCOMES[outcome]
    ended = f"was {badge.word}" if outcome is Outcome.INCONCLUSIVE else badge.word
    return LastCheck(_shown(row.at[:DAY]), _place(row.commit, links), _shown(row.ref or ""), badge, ended)


def _pointed(runs: Sequence[RunPast]) -> tuple[bool, bool]:
    """Whether the points of metrics, and those of spending, say their numbers."""
    metrics = sum(len(each.points) for run in runs for each in run.metrics)
    spending = sum(len(each.points) for run in runs for each in run.spending)
    return metrics <= MOST_POINTED, metrics + spending <= MOST_POINTED


def _section(run: RunPast, releases: Sequence[Release], links: Links, pointed: tuple[bool, bool]) -> RunSection:
    known = run.known
    flaky, failing = flaky_lines(known.flaky), broken_lines(known.broken)
    return RunSection(
        anchor=run_anchor(known.suite, known.target),
        name=f"{_shown(known.suite)} × {_shown(known.target)}",
        facts=run_facts(known),
        runs=format_count(known.runs),
        last=_shown(known.last.at[:DAY]),
        now=_now(run),
        guarded=run.guarded,
        figures=[_figure(each, releases, pointed=pointed[0]) for each in run.metrics],
        spending=[_figure(each, releases, pointed=pointed[1]) for each in run.spending],
        certain=[_move(each, links) for each in run.moves if each.certain],
        uncertain=[_move(each, links) for each in run.moves if not each.certain],
        flaky=Some([(_shown(name), words) for name, words in flaky[:MOST_CASES]], len(flaky)),
        failing=Some([(_shown(name), words) for name, words in failing[:MOST_CASES]], len(failing)),
        trends=[structs.replace(trend_row(each), metric=_shown(each.metric)) for each in run.trends],
        metrics=[_shown(each.metric) for each in run.metrics],
        rows=[_measured(row, [each.metric for each in run.metrics], links) for row in run.rows],
    )


def _shown(name: str) -> str:
    """A stranger's name, with a sign for what can't be seen."""
    return html_shown(name[:_NAME]) + ("…" if len(name) > _NAME else "")


def _place(commit: str | None, links: Links) -> CommitPlace:
    return CommitPlace(_shown(short_hash(commit)) if commit else "", links.commit(commit))


# --- plots ------------------------------------------------------------------------------------------------------------


def _now(run: RunPast) -> str:
    """The metric that people look for first, in the newest measurement that has it."""
    first = _looked_for(run.metrics)
    known = [point for point in first.points if point.value is not None] if first else []
    if first is None or not known:
        return "not available"
    return f"{_shown(first.metric)} {_value(known[-1], first)}"


def _looked_for(metrics: Sequence[MetricPast]) -> MetricPast | None:
    named = {each.metric: each for each in metrics}
    return next((named[name] for name in (*_LOOKED_FOR, *metric_order(named)) if name in named), None)


def _value(point: PastPoint, metric: MetricPast) -> str:
    text = format_value(Metric(value=point.value, unit=metric.unit, reason="not available"), counts=False)
    if point.interval is None:
        return text
    low, high = (format_number(end, metric.unit) for end in (point.interval.low, point.interval.high))
    return f"{text} ({low} to {high})"


def _figure(past: MetricPast, releases: Sequence[Release], *, pointed: bool) -> MetricFigure:
    inside = [each for each in releases if past.points and past.points[0].at <= each.at <= past.points[-1].at]
    line = timeline([*(point.at for point in past.points), *(each.at for each in inside)])
    places = line.places[: len(past.points)]
    plot = LinePlot(
        past.metric,
        past.unit,
        [_point(place, point) for place, point in zip(places, past.points, strict=True)],
        _levels(past),
        [PlotMark(at, each.name) for at, each in zip(line.places[len(places) :], inside, strict=True)],
        line.ticks,
        pointed,
    )
    return MetricFigure(_shown(past.metric), _ends(past), _limits(past), line_plot(plot))


def _point(place: float, point: PastPoint) -> PlotPoint:
    return PlotPoint(place, moment(point.at, point.commit), point.value, point.interval)


def _levels(past: MetricPast) -> list[Level]:
    floor = [] if past.floor is None else [Level("floor", past.floor)]
    ceiling = [] if past.ceiling is None else [Level("ceiling", past.ceiling)]
    anchor = [Level("anchor", past.anchor.value, past.anchor.label)] if past.anchor else []
    return [*floor, *ceiling, *anchor]


def _limits(past: MetricPast) -> str:
    said = [("≥", past.floor), ("≤", past.ceiling)]
    return ", ".join(f"{word} {format_limit(value, past.unit)}" for word, value in said if value is not None)


def _ends(past: MetricPast) -> str:
    """The first and the last value that is known."""
    known = [value for point in past.points if (value := point.value) is not None]
    if not known:
        return "not available"
    first, last = (format_number(value, past.unit, [known[0], known[-1]]) for value in (known[0], known[-1]))
    return f"{first} → {last}"


# --- tables -----------------------------------------------------------------------------------------------------------


def _move(move: Move, links: Links) -> MoveLine:
    subject = "What is evaluated had changed: prompt, tools, versions or model." if move.subject else ""
    same = "" if not move.same_commit else "The commit is that of the run before: what moved is not in the repository."
    return MoveLine(
        day=move.at[:DAY],
        place=_place(move.commit, links),
        ref=_shown(move.ref or ""),
        metric=_shown(move.metric),
        badge=_direction(move),
        move=" → ".join(
            format_number(each, move.unit, [move.before, move.after]) for each in (move.before, move.after)
        ),
        delta=format_delta(move.after - move.before, move.unit),
        certainty=_certainty(move),
        notes=[note for note in (subject, same) if note],
        cases=[_shown(case) for case in move.most],
    )


def _direction(move: Move) -> Badge:
    if move.better == "neither":
        return _MOVED
    return _BETTER if (move.after > move.before) == (move.better == "higher") else _WORSE


def _certainty(move: Move) -> str:
    runs = f"{plural(move.runs_before, 'run')} before, {move.runs_after} after"
    over = runs if move.cases is None else f"{plural(move.cases, 'case')}, {runs}"
    if move.p is None:
        return (
            f"{'no chance: the target always does the same' if move.certain else 'may be chance: not tested'} ({over})"
        )
    p = "p < 0.001" if move.p < 0.001 else f"p = {move.p:.2g}"
    return f"{'beyond chance' if move.certain else 'may be chance'} ({p}; {over})"


def _measured(row: PastRow, metrics: Sequence[str], links: Links) -> MeasuredLine:
    return MeasuredLine(
        day=row.at[:DAY],
        place=_place(row.commit, links),
        ref=_shown(row.ref or ""),
        check=OUTCOMES[row.outcome] if row.outcome else None,
        partial=row.partial,
        values=[format_value(row.metrics.get(name)) for name in metrics],
    )
