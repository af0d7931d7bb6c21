"""A baseline for people: what it was made from, what each run in it knows, and what is stale about it."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.render.baseline_diff import accepted_text, trials_text
from evalward.render.console import Screen
from evalward.render.names import short_hash
from evalward.render.numbers import format_value, plural
from evalward.render.reports import when
from evalward.render.rows import are_scored, format_category, metric_order

_MOST_CASES = 30


def baseline_text(baseline: Baseline, *, age: int | None, stale: Sequence[str], colour: bool, width: int) -> str:
    """Provenance and what is stale, then for each run its subject, metrics, categories and the cases that fail.

    `age` is in days, `None` when it isn't known; `stale` are sentences.
    """
    screen = Screen(colour, width)
    source = baseline.provenance
    days = f" ({plural(age, 'day')} old)" if age else ""
    commit = f", commit {short_hash(source.commit)}" if source.commit else ""
    screen.say(f"Baseline of {when(source.created_at)}{days}{commit}, made by evalward {source.evalward}")
    for sentence in stale:
        screen.say(sentence, 0, "!", "yellow")
    for run in baseline.runs:
        _run(screen, run)
    if source.accepted:
        screen.heading("Drops that were accepted")
        for accepted in reversed(source.accepted):
            screen.say(accepted_text(accepted), 2)
    return screen.text()


def _run(screen: Screen, run: BaselineRun) -> None:
    screen.heading(f"{run.name} ({plural(len(run.cases), 'case')}, {trials_text(run.trial_counts)})")
    parts = ", ".join(f"{name} {short_hash(value)}" for name, value in sorted(run.subject.parts.items()))
    if parts:
        screen.say(f"Subject: {parts}")
    rows = [[name, format_value(run.metrics[name])] for name in metric_order(run.metrics)]
    screen.table(["metric", "value"], rows, "lr")
    if run.categories:
        screen.blank()
        scored = are_scored(run.categories.values())
        rows = [[name, format_category(one, scored=scored)] for name, one in sorted(run.categories.items())]
        screen.table(["category", "score" if scored else "rate"], rows, "lr")
    shaky = [case for case in run.cases if _share(case) < 1]
    _cases(screen, "Flaky, passed in some trials:", [case for case in shaky if _share(case) > 0], "~")
    _cases(screen, "Never passed:", [case for case in shaky if not _share(case)], "✗")


def _cases(screen: Screen, title: str, cases: Sequence[BaselineCase], mark: str) -> None:
    if not cases:
        return
    screen.blank()
    screen.say(title)
    for case in sorted(cases, key=_share)[:_MOST_CASES]:
        passed = case.tally.passed if case.tally else 0
        screen.say(f"{case.id}: {passed} of {len(case.trials)}", 2, mark, "red" if mark == "✗" else "yellow")
    if len(cases) > _MOST_CASES:
        screen.say(f"… and {plural(len(cases) - _MOST_CASES, 'more case')}", 2)


def _share(case: BaselineCase) -> float:
    return case.tally.passed / case.tally.trials if case.tally else 0.0
