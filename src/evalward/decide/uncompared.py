"""What a pass did not compare: "nothing got worse" is said only of what was."""

from __future__ import annotations

from evalward.decide.rules import judged
from evalward.records.codes.passing import NewRun, NotCompared
from evalward.records.comparison import CaseChangeKind, Comparison, RunComparison


def not_compared(comparison: Comparison) -> list[NotCompared]:
    """Runs that only one side has or that were not measured, cases, and what a selection left out; if there are any."""
    if comparison.baseline is None:
        return []
    runs = comparison.runs
    known = [run for run in runs if judged(run) and not run.added]
    found = NotCompared(
        new_runs=tuple(_new(run) for run in runs if run.added and judged(run)),
        missing_runs=tuple(run.name for run in runs if run.missing),
        unmeasured_runs=tuple(run.name for run in runs if run.not_measured is not None),
        added=_count(known, "added"),
        failing=sum(len(run.new_failures) for run in known),
        redefined=_count(known, "redefined"),
        not_valid=_count(known, "not_valid"),
        missing=_count(known, "missing"),
        not_chosen=sum(max(0, run.whole - run.total) for run in runs if run.whole is not None),
    )
    return [] if found == NotCompared() else [found]


def _new(run: RunComparison) -> NewRun:
    return NewRun(run=run.name, failing=len(run.new_failures), cases=run.total)


def _count(runs: list[RunComparison], change: CaseChangeKind) -> int:
    return sum(len(run.of(change)) for run in runs)
