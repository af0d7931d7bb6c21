"""The clock outside: what a benchmark tells of its times has to fit into the time that its command took.

A change that turns the clock of its process, or writes times that nobody measured, still takes the time that it takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Any

from evalward.suites.speedup.values import number

LEAST_S = 0.25  # what a process may take more than the untouched code's, for whatever reason
LEAST_OF_FEW_S = 1.0  # the same where there are too few rounds to see how much they differ by chance
FEW_ROUNDS = 3
SHARE = 0.25  # the same as a share of what the untouched code's benchmarks claim
MOST_START_S = 5.0  # that a change may take longer to be imported
MAD_TO_SIGMA = 1.4826
SIGMAS = 3.0
FITS = 1.05  # times the time that passed: clocks differ a little


@dataclass(frozen=True)
class Timed:
    """One process: seconds by our clock, seconds that its benchmarks claim, and whether it came to a good end."""

    wall_s: float
    claimed_s: float
    ended_well: bool = True
    gave_times: bool = True


def claimed(form: str, content: bytes, times: Mapping[str, Sequence[float]]) -> float:
    """All seconds that a tool's file claims to have measured; where it tells iterations, of all of them."""
    counted = {"pytest-benchmark": _pytest_benchmark, "pyperf": _pyperf}.get(form)
    try:
        found = counted(json.loads(content)) if counted else None
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        found = None
    return fsum(value for values in times.values() for value in values) if found is None else found


def _pytest_benchmark(data: Any) -> float:
    return fsum(
        (number(stats.get("iterations")) or 1.0) * fsum(filter(None, map(number, stats.get("data", []))))
        for stats in (entry["stats"] for entry in data["benchmarks"])
    )


def _pyperf(data: Any) -> float:
    common = data.get("metadata", {})
    total = 0.0
    for entry in data["benchmarks"]:
        for run in entry["runs"]:
            metadata = {**common, **entry.get("metadata", {}), **run.get("metadata", {})}
            loops = (number(metadata.get("loops")) or 1.0) * (number(metadata.get("inner_loops")) or 1.0)
            total += loops * fsum(filter(None, map(number, run.get("values", []))))
    return total


def can_be_checked(untouched: Sequence[Timed]) -> bool:
    """Whether the untouched code's own claims fit into the time that passed, and are long enough to be told apart."""
    known = [each for each in untouched if each.gave_times]
    if not known:
        return False
    claimed, passed = median(each.claimed_s for each in known), median(each.wall_s for each in known)
    return _least_s(known) < claimed <= passed * FITS


def contradiction(untouched: Sequence[Timed], change: Sequence[Timed], start_s: float = 0.0) -> str | None:
    """Where a change claims to save time that it took all the same: in words; `None` where its claims can be true.

    `start_s`: how much longer the change takes to be imported.
    """
    if not can_be_checked(untouched):
        return None
    before, now = ([each for each in side if each.gave_times] for side in (untouched, change))
    if not now:
        return None
    saved_told = median(each.claimed_s for each in before) - median(each.claimed_s for each in now)
    saved = median(each.wall_s for each in before) - median(each.wall_s for each in now)
    claimed_s = median(each.claimed_s for each in before)
    noise = SIGMAS * (_spread(before) ** 2 + _spread(now) ** 2) ** 0.5
    slack = max(_least_s(before), _least_s(now), SHARE * claimed_s, noise) + min(max(start_s, 0.0), MOST_START_S)
    if saved_told - saved <= slack:
        return None
    return f"benchmarks claim to take {saved_told:.3g} s less, and by the clock outside they take {saved:.3g} s less"


def _least_s(side: Sequence[Timed]) -> float:
    return LEAST_S if len(side) >= FEW_ROUNDS else LEAST_OF_FEW_S


def _spread(side: Sequence[Timed]) -> float:
    walls = [each.wall_s for each in side]
    middle = median(walls)
    return MAD_TO_SIGMA * median(abs(wall - middle) for wall in walls)
