"""What a case costs and takes, and how many trials pass: the mean of cases, each of which is the mean of its trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evalward.decide.kinds import ComparedKind
from evalward.records.result import Result, Status
from evalward.records.succession import PerCase


def per_case(cases: Sequence[Sequence[Result]], kind: ComparedKind) -> PerCase | None:
    """Over the valid trials of these cases; `None` where there is none.

    Of recordings and of what was measured elsewhere cost and time may be unknown: they are then no number, not 0.
    """
    valid = [found for results in cases if (found := [result for result in results if result.valid])]
    trials = [result for results in valid for result in results]
    if not trials:
        return None

    def cost(result: Result) -> float | None:  # a replay asks no model, so that it says nothing about a price
        return None if kind.evidence(result).replayed else result.usage.cost_usd

    return PerCase(
        passed=sum(result.status is Status.PASSED for result in trials),
        trials=len(trials),
        cost_usd=_mean(valid, cost),
        duration_ms=_mean(valid, lambda result: result.duration_ms or None),
    )


def _mean(cases: Sequence[Sequence[Result]], value: Callable[[Result], float | None]) -> float | None:
    means = []
    for results in cases:
        known = [each for result in results if (each := value(result)) is not None]
        if len(known) < len(results):
            return None
        means.append(math.fsum(known) / len(known))
    return math.fsum(means) / len(means)
