"""Shares over cases of unequal numbers of trials: each case counts alike, however often it was tried.

A baseline has more trials of some cases than of others where trials were pooled, or a case is new. Pooled as they are,
a failing case with five trials would weigh five times as much as a passing one with one, and hide later drops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum

from evalward.records.metric import EPSILON, Measurement, Metric
from evalward.records.result import Result

Measure = Callable[[Sequence[Result]], Measurement]
"""A kind's metrics and category summaries of a list of results."""


def balanced(cases: Sequence[Sequence[Result]], measure: Measure) -> Measurement:
    """What these trials, case by case, measure.

    Where their numbers differ a share has the numerator and denominator of one pass of the suite.
    """
    whole = measure([result for results in cases for result in results])
    if len({len(results) for results in cases}) < 2:
        return whole
    each = [(measure(results).metrics, len(results)) for results in cases]
    metrics = {name: _balanced(name, metric, each) for name, metric in whole.metrics.items()}
    return whole.model_copy(update={"metrics": metrics})


def _balanced(name: str, metric: Metric, each: Sequence[tuple[dict[str, Metric], int]]) -> Metric:
    if not _is_share(metric):
        return metric
    found = [(metrics[name], count) for metrics, count in each if name in metrics]
    numerator = fsum((one.numerator or 0.0) / count for one, count in found)
    denominator = fsum((one.denominator or 0.0) / count for one, count in found)
    if denominator <= 0:
        return metric
    value = numerator / denominator
    return metric.model_copy(update={"value": value, "numerator": numerator, "denominator": denominator})


def _is_share(metric: Metric) -> bool:
    """True for a quotient of what the trials add up to."""
    if metric.value is None or metric.numerator is None or not metric.denominator:
        return False
    return abs(metric.value - metric.numerator / metric.denominator) <= EPSILON
