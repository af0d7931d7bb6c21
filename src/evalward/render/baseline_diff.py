"""What changed between two baselines, for people: on the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.baseline import Acceptance, BaselineProvenance
from evalward.records.baseline_diff import BaselineDifference, CaseDifference, RunDifference
from evalward.records.comparison import MetricChange, Tally
from evalward.render.console import Colour, Screen
from evalward.render.escape import without_marks
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import format_delta, format_value, percent, plural
from evalward.render.reports import when
from evalward.render.rows import metric_order
from evalward.render.templates import render

_MOST_CASES = 30
_CHANGES = ("removed", "redefined", "changed", "added")
_MARKS: dict[str, tuple[str, Colour]] = {
    "removed": ("−", "red"),
    "redefined": ("≠", "yellow"),
    "changed": ("~", "yellow"),
    "added": ("+", "green"),
}


@dataclass(frozen=True)
class CaseLine:
    """One case: `passed 5 of 5 → 3 of 5`."""

    mark: str
    colour: Colour
    id: str
    what: str


@dataclass(frozen=True)
class RunPart:
    """One run: `facts` are sentences, `metrics` rows of id, before, now and difference."""

    title: str
    facts: list[str]
    metrics: list[list[str]]
    cases: list[CaseLine]
    more: int


@dataclass(frozen=True)
class DifferencePage:
    """All of it as plain text, not yet escaped."""

    sides: list[str]
    accepted: list[str]
    runs: list[RunPart]
    same: list[str]


def difference_text(difference: BaselineDifference, *, colour: bool, width: int) -> str:
    """For the terminal, `width` columns wide."""
    page = build_difference(difference)
    screen = Screen(colour, width)
    for side in page.sides:
        screen.say(side)
    for accepted in page.accepted:
        screen.say(accepted, 0, "!", "yellow")
    for run in page.runs:
        _run_text(screen, run)
    if page.same:
        screen.blank()
        screen.say(f"No change: {', '.join(page.same)}")
    return screen.text()


def difference_markdown(difference: BaselineDifference) -> str:
    """For a pull request."""
    return render("baseline_diff.md.j2", page=build_difference(difference))


def build_difference(difference: BaselineDifference) -> DifferencePage:
    """What both show."""
    return DifferencePage(
        sides=[f"From {_side(difference.before)} to {_side(difference.now)}", *_texts(difference)],
        accepted=[accepted_text(one) for one in difference.accepted],
        runs=[_run(run) for run in difference.runs if run.change != "same"],
        same=[run.name for run in difference.runs if run.change == "same"],
    )


def _texts(difference: BaselineDifference) -> list[str]:
    """How many texts came and went: what they say is in the report of the change, and no news here."""
    if difference.before is None or not (difference.texts_added or difference.texts_removed):
        return []
    return [f"Texts of prompts and cases: {difference.texts_added} new, {difference.texts_removed} gone"]


def accepted_text(one: Acceptance) -> str:
    """Who took which drop, and why."""
    by = f" by {one.by}{'' if one.verified else ' (not verified)'}" if one.by else ""
    commit = f" at {short_hash(one.commit)}" if one.commit else ""
    what = f" What would have failed: {'; '.join(one.what)}" if one.what else ""
    end = "" if one.reason.endswith((".", "!", "?")) else "."
    return f"Accepted {when(one.at)}{commit}{by}: {one.reason}{end}{what}"


def trials_text(counts: tuple[int, int]) -> str:
    """`5 trials each`, `3 to 5 trials each`."""
    fewest, most = counts
    return f"{plural(most, 'trial')} each" if fewest == most else f"{fewest} to {plural(most, 'trial')} each"


def _side(provenance: BaselineProvenance | None) -> str:
    if provenance is None:
        return "nothing"
    commit = f" (commit {short_hash(provenance.commit)})" if provenance.commit else ""
    return f"the baseline of {when(provenance.created_at)}{commit}"


def _run(run: RunDifference) -> RunPart:
    changes = {change.id: change for change in run.metrics}
    listed = sorted(run.cases, key=lambda case: _CHANGES.index(case.change))
    return RunPart(
        title=run.name if run.change == "changed" else f"{run.name} ({run.change})",
        facts=_facts(run),
        metrics=[_metric(changes[name]) for name in metric_order(changes)] if run.change == "changed" else [],
        cases=[_case(case) for case in listed[:_MOST_CASES]],
        more=max(0, len(listed) - _MOST_CASES),
    )


def _facts(run: RunDifference) -> list[str]:
    facts = [_moved(_count(run.cases_before), _count(run.cases_now))]
    facts.append(_moved(_trials(run.trials_before), _trials(run.trials_now)))
    facts += [f"{c.part}: {quoted(short_hash(c.before))} → {quoted(short_hash(c.now))}" for c in run.subject]
    if run.change == "changed" and any(case.change != "changed" for case in run.cases):
        facts.append("the numbers are over all cases of their side, and these are not the same")
    return facts


def _moved(before: str, now: str) -> str:
    return f"{before} → {now}" if before and now and before != now else now or before


def _count(cases: int | None) -> str:
    return "" if cases is None else plural(cases, "case")


def _trials(counts: tuple[int, int] | None) -> str:
    return "" if counts is None else trials_text(counts)


def _metric(change: MetricChange) -> list[str]:
    sides = [side for side in (change.now, change.before) if side is not None]
    values = [
        [side.value] if side is not None and side.value is not None else [] for side in (change.before, change.now)
    ]
    return [
        change.id,
        format_value(change.before, values[1]),
        format_value(change.now, values[0]),
        format_delta(change.delta, sides[0].unit) if sides else "–",
    ]


def _case(case: CaseDifference) -> CaseLine:
    mark, colour = _MARKS[case.change]
    before, now = _tally(case.before), _tally(case.now)
    return CaseLine(mark, colour, case.id, f"{case.change}: {_moved(before, now)}")


def _tally(tally: Tally | None) -> str:
    if tally is None:
        return ""
    score = "" if tally.score is None or tally.score in {0.0, 1.0} else f", score {percent(tally.score)}"
    return f"passed {tally.passed} of {tally.trials}{score}"


def _run_text(screen: Screen, run: RunPart) -> None:
    screen.heading(run.title)
    for fact in run.facts:
        screen.say(without_marks(fact), 2)
    _metrics_text(screen, run.metrics)
    if run.cases:
        screen.blank()
    for case in run.cases:
        screen.say(f"{case.id}: {case.what}", 2, case.mark, case.colour)
    if run.more:
        screen.say(f"… and {plural(run.more, 'more case')}", 2)


def _metrics_text(screen: Screen, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        screen.blank()
        screen.table(["metric", "before", "now", "Δ"], rows, "lrrr")
