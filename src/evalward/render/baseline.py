"""A baseline for people: what it was made from, and what each run in it knows."""

from __future__ import annotations

from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.result import Status
from evalward.render.console import Screen
from evalward.render.names import short_hash
from evalward.render.numbers import format_value, plural
from evalward.render.rows import format_category, metric_order


def baseline_text(baseline: Baseline, *, colour: bool, width: int) -> str:
    """Provenance, then for each run its metrics, categories and the cases that it doesn't always pass."""
    screen = Screen(colour, width)
    source = baseline.provenance
    commit = f", commit {short_hash(source.commit)}" if source.commit else ""
    screen.say(f"Baseline of {source.created_at}{commit}, made by evalward {source.evalward}")
    for run in baseline.runs:
        _run(screen, run)
    return screen.text()


def _run(screen: Screen, run: BaselineRun) -> None:
    screen.heading(f"{run.name} ({plural(len(run.cases), 'case')}, {plural(run.trials, 'trial')} each)")
    rows = [[name, format_value(run.metrics[name])] for name in metric_order(run.metrics)]
    screen.table(["metric", "value"], rows, "lr")
    if run.categories:
        screen.blank()
        screen.table(["category", "score"], [[n, format_category(c)] for n, c in sorted(run.categories.items())], "lr")
    shaky = [case for case in run.cases if any(trial.status is not Status.PASSED for trial in case.trials)]
    if shaky:
        screen.blank()
        screen.say("Not passed in every trial:")
        for case in shaky:
            passed = sum(trial.status is Status.PASSED for trial in case.trials)
            screen.say(f"{case.id}: {passed} of {len(case.trials)}", 2, "✗" if not passed else "~", "red")
