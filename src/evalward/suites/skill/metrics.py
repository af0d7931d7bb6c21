"""The metrics of a skill suite. Everything runs over valid trials."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.metric import Measurement
from evalward.records.result import Result
from evalward.suites.pooling import (
    MEAN_DURATION,
    USAGE,
    USAGE_IDS,
    Metrics,
    Share,
    by_category,
    category_by_score,
    measured,
    passed,
    why_no_usage,
)

METRIC_IDS = ("pass_rate", *USAGE_IDS)
"""In the order in which people read them."""

PER_TRIAL: Metrics = {"pass_rate": Share(passed), "avg_duration_ms": MEAN_DURATION, **USAGE}
"""What each trial adds to each metric."""


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    found = measured(PER_TRIAL, results, why_no_usage(valid, "target"))
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS}, categories=by_category(valid, category_by_score)
    )
