"""The metrics of an mcp suite, by its reference's definitions.

Everything runs over valid trials. Rates over calls pool the calls of all trials; what is tested are trials: the calls
of one hang together. A metric without a denominator is not available.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalward.records.metric import Measurement
from evalward.records.result import Result
from evalward.suites.mcp.details import JudgedCalls, McpDetails
from evalward.suites.pooling import (
    MEAN_DURATION,
    NO_TRIAL,
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

METRIC_IDS = (
    "pass_rate",
    "tool_selection_accuracy",
    "call_recall",
    "call_precision",
    "argument_validity_rate",
    "argument_match_rate",
    "abstention_accuracy",
    "missed_call_rate",
    "forbidden_call_rate",
    "unknown_tool_rate",
    "tool_call_success_rate",
    "tool_error_rate",
    "calls_per_task",
    "catalogue_tokens",
    *USAGE_IDS,
)


def details_of(result: Result) -> McpDetails:
    """The details of an mcp trial; empty ones of a trial that broke."""
    return result.details if isinstance(result.details, McpDetails) else McpDetails()


def _number(number: Callable[[McpDetails], float | None]) -> Callable[[Result], float]:
    return lambda result: float(number(details_of(result)) or 0.0)


def _where(holds: Callable[[McpDetails], bool]) -> Callable[[Result], bool]:
    return lambda result: result.valid and holds(details_of(result))


def _of(judged: Callable[[JudgedCalls], float | None]) -> Callable[[Result], float]:
    return lambda result: float(judged(details_of(result).judged) or 0.0)


_expects_calls = _where(lambda details: details.judged.expects == "calls")
_expects_none = _where(lambda details: details.judged.expects == "none")
_forbids = _where(lambda details: details.judged.forbidden is not None)
_total = _number(lambda details: details.total)
_executed = _number(lambda details: details.executed)

PER_TRIAL: Metrics = {
    "pass_rate": Share(passed),
    "tool_selection_accuracy": Share(_of(lambda judged: judged.selected), counts=_expects_calls, lasting=True),
    "call_recall": Share(
        _of(lambda judged: judged.matched), _of(lambda judged: judged.expected), counts=_expects_calls, lasting=True
    ),
    "call_precision": Share(
        _of(lambda judged: judged.matched), _of(lambda judged: judged.counted), counts=_expects_calls
    ),
    "argument_validity_rate": Share(_number(lambda details: details.valid), _number(lambda details: details.checked)),
    "argument_match_rate": Share(
        _of(lambda judged: judged.args_matched), _of(lambda judged: judged.args_tried), counts=_expects_calls
    ),
    "abstention_accuracy": Share(_of(lambda judged: judged.counted == 0), counts=_expects_none, lasting=True),
    "missed_call_rate": Share(
        _number(lambda details: details.total == 0), better="lower", counts=_expects_calls, lasting=True
    ),
    "forbidden_call_rate": Share(
        _of(lambda judged: (judged.forbidden or 0) > 0), better="lower", counts=_forbids, lasting=True
    ),
    "unknown_tool_rate": Share(_number(lambda details: details.unknown), _total, better="lower"),
    "tool_call_success_rate": Share(_number(lambda details: details.executed - details.failed), _executed),
    "tool_error_rate": Share(_number(lambda details: details.failed), _executed, better="lower"),
    "calls_per_task": Share(_total, better="neither", unit="count"),
    "catalogue_tokens": Share(
        _number(lambda details: details.catalogue_tokens),
        better="lower",
        unit="tokens",
        counts=_where(lambda details: details.catalogue_tokens is not None),
    ),
    "avg_duration_ms": MEAN_DURATION,
    **USAGE,
}
"""What each trial adds to each metric."""

_NO_CALLS_EXPECTED = "no case expects a call"
_NO_CALL = "no call was made"
_NO_ARGUMENTS = "no tool was called whose arguments are expected"
_NOT_EXECUTED = "no call was executed"
_WITHOUT = {
    **dict.fromkeys(("tool_selection_accuracy", "call_recall", "missed_call_rate"), _NO_CALLS_EXPECTED),
    "argument_validity_rate": "no call of a known tool was made",
    "abstention_accuracy": "no case has none: true",
    "forbidden_call_rate": "no case forbids a call",
    "unknown_tool_rate": _NO_CALL,
    "tool_call_success_rate": _NOT_EXECUTED,
    "tool_error_rate": _NOT_EXECUTED,
    "catalogue_tokens": "no list of tools came",
}
"""Why a metric may be missing although there are valid trials."""


def measure(results: Sequence[Result]) -> Measurement:
    """All metrics and category summaries of these results."""
    valid = [result for result in results if result.valid]
    found = measured(PER_TRIAL, results, {**_why_not(valid), **why_no_usage(valid, "target")})
    return Measurement(
        metrics={name: found[name] for name in METRIC_IDS}, categories=by_category(valid, category_by_score)
    )


def _why_not(valid: Sequence[Result]) -> dict[str, str]:
    if not valid:
        return dict.fromkeys(_WITHOUT, NO_TRIAL)
    expecting = any(map(_expects_calls, valid))
    return {
        **_WITHOUT,
        "call_precision": "no counted call was made" if expecting else _NO_CALLS_EXPECTED,
        "argument_match_rate": _NO_ARGUMENTS if expecting else _NO_CALLS_EXPECTED,
    }
