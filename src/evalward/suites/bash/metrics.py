"""The metrics of a bash suite: the specification's `EvalSummary` and `CategorySummary`, field by field.

Everything runs over valid trials (passed or failed). Counts and totals are per pass of the suite: with several trials
a case counts with the mean over its valid ones. Rates and averages pool all valid trials. Sums are exact (`fsum`), so
that the order of cases is no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from evalward.records.metric import CategorySummary, Measurement, Metric, amount, ratio
from evalward.records.result import BashDetails, Result, Status
from evalward.suites.pooling import Number, by_category, per_pass

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
    "total_input_tokens",
    "total_output_tokens",
    "total_duration_ms",
    "avg_duration_ms",
    "cost_usd",
    "harness_error_rate",
)

NO_TRIAL = "no valid trial"


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    metrics = {
        **_rates(valid),
        **_totals(valid),
        **_averages(valid),
        "harness_error_rate": _error_rate(results, len(valid)),
    }
    return Measurement(metrics={name: metrics[name] for name in METRIC_IDS}, categories=by_category(valid, _category))


def _details(result: Result) -> BashDetails:
    return result.details if isinstance(result.details, BashDetails) else BashDetails()


def _passed(result: Result) -> float:
    return float(result.status is Status.PASSED)


def _calls(result: Result) -> float:
    return _details(result).tool_calls


def _calls_ok(result: Result) -> float:
    return _details(result).tool_calls_ok


def _turns(result: Result) -> float:
    return _details(result).turns


def _rates(valid: Sequence[Result]) -> dict[str, Metric]:
    calls, calls_ok = sum(map(_calls, valid)), sum(map(_calls_ok, valid))
    score, most = fsum(r.score for r in valid), fsum(r.max_score for r in valid)
    natural = sum(_details(r).natural_stop for r in valid)
    return {
        "overall_rate": ratio(score, most, "no check carries weight" if valid else NO_TRIAL),
        "pass_rate": ratio(sum(map(_passed, valid)), len(valid), NO_TRIAL),
        "tool_call_success_rate": ratio(calls_ok, calls, "no tool call was made" if valid else NO_TRIAL),
        "natural_stop_rate": ratio(natural, len(valid), NO_TRIAL),
    }


def _totals(valid: Sequence[Result]) -> dict[str, Metric]:
    def total(number: Number) -> float | None:
        return per_pass(valid, number)

    no_tokens, no_price = ("the target told no tokens", "the price is unknown") if valid else (NO_TRIAL, NO_TRIAL)
    return {
        "total_tasks": amount(float(len({result.id for result in valid})), "count"),
        "total_passed": amount(total(_passed), "count", NO_TRIAL, "higher"),
        "total_score": amount(total(lambda r: r.score), "score", NO_TRIAL, "higher"),
        "total_max_score": amount(total(lambda r: r.max_score), "score", NO_TRIAL),
        "total_tool_calls": amount(total(_calls), "count", NO_TRIAL, "lower"),
        "tool_calls_ok": amount(total(_calls_ok), "count", NO_TRIAL),
        "tool_calls_error": amount(total(lambda r: _calls(r) - _calls_ok(r)), "count", NO_TRIAL, "lower"),
        "total_turns": amount(total(_turns), "count", NO_TRIAL, "lower"),
        "total_input_tokens": amount(total(lambda r: r.usage.total_input_tokens), "tokens", no_tokens, "lower"),
        "total_output_tokens": amount(total(lambda r: r.usage.output_tokens), "tokens", no_tokens, "lower"),
        "total_duration_ms": amount(total(lambda r: r.duration_ms), "ms", NO_TRIAL, "lower"),
        "cost_usd": amount(total(lambda r: r.usage.cost_usd), "usd", no_price, "lower"),
    }


def _averages(valid: Sequence[Result]) -> dict[str, Metric]:
    n = len(valid)
    return {
        "avg_turns_per_task": ratio(sum(map(_turns, valid)), n, NO_TRIAL, "lower", "count"),
        "avg_tool_calls_per_task": ratio(sum(map(_calls, valid)), n, NO_TRIAL, "lower", "count"),
        "avg_duration_ms": ratio(sum(r.duration_ms for r in valid), n, NO_TRIAL, "lower", "ms"),
    }


def _error_rate(results: Sequence[Result], valid: int) -> Metric:
    errors = sum(result.status is Status.ERROR for result in results)
    return ratio(errors, valid + errors, "no trial was run", "lower")


def _category(results: Sequence[Result]) -> CategorySummary:
    score, most = fsum(r.score for r in results), fsum(r.max_score for r in results)
    return CategorySummary(
        tasks=per_pass(results, lambda _: 1.0) or 0.0,
        passed=per_pass(results, _passed) or 0.0,
        score=per_pass(results, lambda r: r.score) or 0.0,
        max_score=per_pass(results, lambda r: r.max_score) or 0.0,
        rate=score / most if most else None,
    )
