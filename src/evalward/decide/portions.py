"""What each single trial adds to a metric, and the numbers that a permutation test deals out between two sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from evalward.decide.statistics.permutation import CaseValues
from evalward.records.metric import Metric


class Portion(NamedTuple):
    """One trial's part of a metric: `value` of `of` for a share; `of` is `None` for an amount, such as tokens."""

    value: float
    of: float | None = None


NONE = Portion(0.0, 0.0)
"""What a trial adds to a share that it has no part in, as one without a tool call to the share of good calls."""


def portion_of(metric: Metric | None) -> Portion | None:
    """A trial's part of the metric that was measured over this trial alone; `None` where it isn't available."""
    if metric is None:
        return None
    if metric.denominator is not None and metric.numerator is not None:
        return Portion(metric.numerator, metric.denominator)
    return None if metric.value is None else Portion(metric.value)


def residuals(before: Sequence[Portion], now: Sequence[Portion]) -> CaseValues:
    """A share's trials as value − r·of, with r the share over both sides together.

    r stays the same however the trials are dealt out, so the test stays exact; and a side's sum is below 0 just when
    its share is below r.
    """
    every = [*before, *now]
    of = math.fsum(one.of or 0.0 for one in every)
    rate = math.fsum(one.value for one in every) / of if of else 0.0
    return CaseValues(*([one.value - rate * (one.of or 0.0) for one in side] for side in (before, now)))


def relative(before: Sequence[Portion], now: Sequence[Portion]) -> CaseValues:
    """Amounts as logarithms, for costs and times differ by factors: then each case counts alike, whatever its size.

    Where one of the case's amounts isn't above 0, all are in units of their mean size instead.
    """
    every = [one.value for one in (*before, *now)]
    if all(value > 0 for value in every):
        return CaseValues(*([math.log(one.value) for one in side] for side in (before, now)))
    size = fmean(abs(value) for value in every) or 1.0
    return CaseValues(*([one.value / size for one in side] for side in (before, now)))
