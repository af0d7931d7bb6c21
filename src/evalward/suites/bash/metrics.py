"""The metrics of a bash suite: the specification's `EvalSummary` and `CategorySummary`, field by field.

Everything runs over valid trials (passed or failed). Counts and totals are per pass of the suite: with several trials
a case counts with the mean over its valid ones. Rates and averages pool all valid trials. Sums are exact (`fsum`), so
that the order of cases is no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.metric import Measurement, amount
from evalward.records.result import Result
from evalward.suites.bash.details import BashDetails
from evalward.suites.pooling import (
    MEAN_DURATION,
    USAGE,
    USAGE_IDS,
    Amount,
    Metrics,
    Share,
    by_category,
    category_by_score,
    max_score_of,
    measured,
    one,
    passed,
    score_of,
    why_no_usage,
)

METRIC_IDS = (
    "overall_rate",
    "pass_rate",
    "tool_call_success_rate",
    "natural_stop_rate",
    "total_tasks",
    "total_passed",
    "total_score",
    "total_max_score",
    "total_tool_calls",
    "tool_calls_ok",
    "tool_calls_error",
    "total_turns",
    "avg_turns_per_task",
    "avg_tool_calls_per_task",
    *USAGE_IDS,
)


def _details(result: Result) -> BashDetails:
    return result.details if isinstance(result.details, BashDetails) else BashDetails()


def _calls(result: Result) -> float:
    return _details(result).tool_calls


def _calls_ok(result: Result) -> float:
    return _details(result).tool_calls_ok


def _calls_error(result: Result) -> float:
    return _calls(result) - _calls_ok(result)


def _turns(result: Result) -> float:
    return _details(result).turns


def _natural_stop(result: Result) -> float:
    return _details(result).natural_stop


PER_TRIAL: Metrics = {
    "overall_rate": Share(score_of, max_score_of),
    "pass_rate": Share(passed),
    "tool_call_success_rate": Share(_calls_ok, _calls),
    "natural_stop_rate": Share(_natural_stop),
    "total_tasks": Amount(one),
    "total_passed": Amount(passed, better="higher"),
    "total_score": Amount(score_of, "score", "higher"),
    "total_max_score": Amount(max_score_of, "score"),
    "total_tool_calls": Amount(_calls, better="lower"),
    "tool_calls_ok": Amount(_calls_ok),
    "tool_calls_error": Amount(_calls_error, better="lower"),
    "total_turns": Amount(_turns, better="lower"),
    "avg_turns_per_task": Share(_turns, better="lower", unit="count"),
    "avg_tool_calls_per_task": Share(_calls, better="lower", unit="count"),
    "avg_duration_ms": MEAN_DURATION,
    **USAGE,
}
"""What each trial adds to each metric."""

_WITHOUT = {"overall_rate": "no check carries weight", "tool_call_success_rate": "no tool call was made"}


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    found = measured(PER_TRIAL, results, {**(_WITHOUT if valid else {}), **why_no_usage(valid, "target")})
    if not valid:
        found["total_tasks"] = amount(0.0, "count")
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS}, categories=by_category(valid, category_by_score)
    )
