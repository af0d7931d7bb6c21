"""A named number with its counts, unit and direction; not available is a value of its own."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from evalward.records.base import Record

Unit = Literal["ratio", "count", "tokens", "ms", "usd", "score", "speedup", "points"]
Better = Literal["higher", "lower", "neither"]

EPSILON = 1e-9  # values nearer than this are equal: .95 - .05 is not below .90


class Metric(Record):
    """One metric of one run.

    `value` is unrounded; `None` means not available, and `reason` then says why. A ratio carries `numerator`
    and `denominator`, and `n`, the number of trials behind it. `better` is the direction; a metric that only
    informs has `neither`. `points` is the unit of a difference of two shares: 0.05 is five per cent points.
    """

    value: float | None
    numerator: float | None = None
    denominator: float | None = None
    unit: Unit = "ratio"
    better: Better = "higher"
    reason: str | None = None

    @model_validator(mode="after")
    def _absent_has_reason(self) -> Metric:
        if self.value is None and not self.reason:
            raise ValueError("a metric without a value needs a reason")
        return self


def ratio(
    numerator: float, denominator: float, why_not: str, better: Better = "higher", unit: Unit = "ratio"
) -> Metric:
    """`numerator / denominator`, or not available (with the reason `why_not`) when the denominator is 0."""
    value = numerator / denominator if denominator else None
    return Metric(
        value=value,
        numerator=numerator,
        denominator=denominator,
        unit=unit,
        better=better,
        reason=None if denominator else why_not,
    )


def amount(value: float | None, unit: Unit, why_not: str = "", better: Better = "neither") -> Metric:
    """A count, sum or mean; `None` is not available, with the reason `why_not`."""
    return Metric(value=value, unit=unit, better=better, reason=None if value is not None else why_not)


class CategorySummary(Record):
    """All trials that share a category. `rate` is score / max_score, `None` when max_score is 0."""

    tasks: float
    passed: float
    score: float
    max_score: float
    rate: float | None


class Measurement(Record):
    """What a suite kind makes of a list of results."""

    metrics: dict[str, Metric]
    categories: dict[str, CategorySummary]
