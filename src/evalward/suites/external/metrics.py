"""The metrics of results that another harness measured: what passed, what its scorers gave, what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.metric import Measurement
from evalward.records.result import Result
from evalward.suites.external.details import ExternalDetails
from evalward.suites.pooling import (
    SCORE,
    SCORED_IDS,
    USAGE,
    Amount,
    Metrics,
    Pooled,
    Share,
    by_category,
    category_by_score,
    measured,
    passed,
    scored,
    scorers,
    why_no_usage,
)

_UNTOLD = {
    "mean_score": "the harness gave no score that stands for the whole trial",
    "total_duration_ms": "the harness doesn't say how long trials took",
    "avg_duration_ms": "the harness doesn't say how long trials took",
}
_PASS_RATE = Share(passed)


def details_of(result: Result) -> ExternalDetails:
    """The details of a foreign trial; empty ones of another."""
    return result.details if isinstance(result.details, ExternalDetails) else ExternalDetails()


def _main(result: Result) -> float:
    return details_of(result).score or 0.0


_MEAN_SCORE = Share(_main, unit="score", counts=lambda r: r.valid and details_of(r).score is not None, lasting=True)


def _duration(result: Result) -> float | None:
    return result.duration_ms if details_of(result).timed else None


PER_TRIAL: Metrics = {
    "pass_rate": _PASS_RATE,
    "mean_score": _MEAN_SCORE,
    **USAGE,
    "total_duration_ms": Amount(_duration, "ms", "lower"),
    "avg_duration_ms": Share(
        lambda result: result.duration_ms, better="lower", unit="ms", counts=lambda r: r.valid and details_of(r).timed
    ),
}


def _scores_of(result: Result) -> Mapping[str, float]:
    return details_of(result).scores


def per_trial(metric: str) -> Pooled | None:
    """What each trial adds to a metric; `None` for one that there is not."""
    if metric.startswith(SCORE):
        return scored(metric.removeprefix(SCORE), _scores_of)
    return PER_TRIAL.get(metric)


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results. Which way of a scorer is better, the results say."""
    valid = [result for result in results if result.valid]
    why_not = {**(_UNTOLD if valid else {}), **why_no_usage(valid, "harness")}
    found = measured(PER_TRIAL, results, why_not)
    fixed = {name: found[name] for name in SCORED_IDS if name in found}
    lower = {name for result in valid for name in details_of(result).lower}
    scores = scorers(valid, _scores_of, lower)
    return Measurement(metrics={**fixed, **scores}, categories=by_category(valid, category_by_score))
