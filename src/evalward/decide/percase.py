"""What a case costs and takes, and how many trials pass: the mean of cases, each of which is the mean of its trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evalward.records.result import BashDetails, CommandDetails, Result, Status
from evalward.records.scenario import ScenarioDetails
from evalward.records.succession import PerCase


def per_case(cases: Sequence[Sequence[Result]]) -> PerCase | None:
    """Over the valid trials of these cases; `None` where there is none.

    Of recordings and of what was measured elsewhere cost and time may be unknown: they are then no number, not 0.
    """
    valid = [found for results in cases if (found := [result for result in results if result.valid])]
    trials = [result for results in valid for result in results]
    if not trials:
        return None
    return PerCase(
        passed=sum(result.status is Status.PASSED for result in trials),
        trials=len(trials),
        cost_usd=_mean(valid, _cost),
        duration_ms=_mean(valid, lambda result: result.duration_ms or None),
    )


def _cost(result: Result) -> float | None:
    """US dollars of a trial. A replay asks no model, so that it says nothing about a price."""
    details = result.details
    if isinstance(details, BashDetails | CommandDetails | ScenarioDetails) and details.replayed:
        return None
    return result.usage.cost_usd


def _mean(cases: Sequence[Sequence[Result]], value: Callable[[Result], float | None]) -> float | None:
    means = []
    for results in cases:
        known = [each for result in results if (each := value(result)) is not None]
        if len(known) < len(results):
            return None
        means.append(math.fsum(known) / len(known))
    return math.fsum(means) / len(means)
