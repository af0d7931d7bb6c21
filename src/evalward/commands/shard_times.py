"""How long trials take, for dividing a plan: what the committed baseline and the committed history have of it.

Every shard divides the plan by itself, so only files of the commit that judges count: a branch for data can move
between two shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from statistics import median

from evalward.commands.stored_history import history_of
from evalward.commands.world import World
from evalward.config.model import HistoryPlace
from evalward.decide.history_file import case_lists
from evalward.records.baseline import Baseline, BaselineCase
from evalward.records.history import HistoryEntry

_NEWEST = 5  # measurements


def committed_history(
    world: World, place: HistoryPlace | None, read: Callable[[str], bytes | None]
) -> list[HistoryEntry]:
    """The entries of a history in a folder of the repository; none where it has a branch of its own."""
    return history_of(world, place if place is not None and place.branch is None else None, read)


def durations_of(baseline: Baseline | None) -> dict[str, dict[str, dict[str, float]]]:
    """Milliseconds that a trial of each case took, by suite and target; of cases where that is known."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run in baseline.runs if baseline else ():
        times = {case.id: time for case in run.cases if (time := _duration(case)) is not None}
        if times:
            found.setdefault(run.suite, {})[run.target] = times
    return found


def _duration(case: BaselineCase) -> float | None:
    times = [trial.duration_ms for trial in case.trials if trial.status.valid]
    return fsum(times) / len(times) if any(times) else None


def usual_times(history: Sequence[HistoryEntry]) -> dict[str, dict[str, float]]:
    """Milliseconds that a trial of any case takes, by suite and target: the median of the newest whole measurements."""
    lists = case_lists(history)
    known: dict[tuple[str, str], list[float]] = {}
    for entry in sorted(history, key=lambda one: (one.at, one.report), reverse=True):
        time = None if entry.partial else _mean_trial(entry, len(lists.get(entry.case_set, ())))
        if time:
            known.setdefault((entry.suite, entry.target), []).append(time)
    found: dict[str, dict[str, float]] = {}
    for (suite, target), times in sorted(known.items()):
        found.setdefault(suite, {})[target] = median(times[:_NEWEST])
    return found


def _mean_trial(entry: HistoryEntry, cases: int) -> float | None:
    """By the mean that it has, else by the time that one trial of each case took; `None` where neither is known."""
    mean, total = (entry.metrics.get(name) for name in ("avg_duration_ms", "total_duration_ms"))
    if mean is not None and mean.value is not None:
        return mean.value
    return total.value / cases if total is not None and total.value is not None and cases else None
