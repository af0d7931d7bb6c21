"""The metrics of a prompt suite: what passed, what the evaluators gave, what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.metric import Measurement
from evalward.records.result import Result
from evalward.suites.pooling import (
    MEAN_DURATION,
    SCORE,
    SCORED_IDS,
    USAGE,
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
from evalward.suites.prompt.details import PromptDetails


def _scores_of(result: Result) -> Mapping[str, float]:
    return result.details.scores if isinstance(result.details, PromptDetails) else {}


def _share_of_score(result: Result) -> float:
    """The mean of a trial's evaluators."""
    return result.score / result.max_score if result.max_score else 0.0


PER_TRIAL: Metrics = {
    "pass_rate": Share(passed),
    "mean_score": Share(_share_of_score, unit="score"),
    **USAGE,
    "avg_duration_ms": MEAN_DURATION,
}


def per_trial(metric: str) -> Pooled | None:
    """What each trial adds to a metric; `None` for one that there is not."""
    if metric.startswith(SCORE):
        return scored(metric.removeprefix(SCORE), _scores_of)
    return PER_TRIAL.get(metric)


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics, and the summaries of the files."""
    valid = [result for result in results if result.valid]
    found = measured(PER_TRIAL, results, why_no_usage(valid, "target"))
    fixed = {name: found[name] for name in SCORED_IDS if name in found}
    scores = scorers(valid, _scores_of)
    return Measurement(metrics={**fixed, **scores}, categories=by_category(valid, category_by_score))
