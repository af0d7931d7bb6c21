"""A sample of inspect as a trial."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from evalward.records.result import Status
from evalward.records.trace import Trace
from evalward.suites.external.formats.base import ForeignTrial, Score
from evalward.suites.external.formats.inspect.header import Header
from evalward.suites.external.formats.inspect.scores import scores_of
from evalward.suites.external.formats.inspect.usage import usage_of
from evalward.suites.external.formats.values import mapping, milliseconds, text, word

CANCELLED = "CancelledError("
"""How the error of a sample begins that was under way when the run was stopped."""


@dataclass(frozen=True)
class InspectSample:
    """A sample of a log: its summary, or itself; what it asks; whether somebody declared it invalid, and why."""

    row: Mapping[str, Any]
    asked: Any
    invalid: str | None = None
    trace: Callable[[], Trace | None] | None = None


@dataclass(frozen=True)
class Verdicts:
    """What the scores of a log mean: `deciding` is the one that says pass or fail, where there is exactly one."""

    graded: Collection[str]
    deciding: str | None


@dataclass(frozen=True)
class _Ending:
    status: Status | None
    reason: str | None = None
    message: str = ""


def identity(row: Mapping[str, Any]) -> tuple[str, int] | None:
    """The case and the number of its trial; `None` for what is no sample."""
    case, epoch = row.get("id"), row.get("epoch")
    if isinstance(case, bool) or not isinstance(case, str | int) or isinstance(epoch, bool):
        return None
    if not isinstance(epoch, int) or not 1 <= epoch <= 10**6:
        return None
    return str(case), epoch


def trial_of(sample: InspectSample, header: Header, verdicts: Verdicts) -> ForeignTrial:
    """The trial that a sample is. Its row has an identity."""
    row = sample.row
    case, number = identity(row) or ("", 1)
    scores = scores_of(row, verdicts.graded)
    ending = _ending(sample, scores, verdicts)
    usage, judge_usage = usage_of(row)
    return ForeignTrial(
        case=case,
        number=number,
        suite=header.task,
        target=header.model,
        category=text(mapping(row.get("metadata")).get("category")),
        asked=sample.asked,
        status=ending.status,
        reason=ending.reason,
        message=ending.message,
        scores=scores,
        usage=usage,
        judge_usage=judge_usage,
        duration_ms=milliseconds(row.get("total_time")),
        trace=sample.trace,
    )


def _ending(sample: InspectSample, scores: Mapping[str, Score], verdicts: Verdicts) -> _Ending:
    """An error counts whatever was scored before it; a limit is the target's and counts as its score says."""
    if sample.invalid is not None:
        return _Ending(Status.SKIPPED, "invalidated", sample.invalid)
    error = error_of(sample.row)
    if error.startswith(CANCELLED):
        return _Ending(Status.SKIPPED, "cancelled", "it was under way when the run was stopped")
    if error:
        return _Ending(Status.ERROR, "sample_error", error)
    return _by_score(sample.row, scores, verdicts)


def _by_score(row: Mapping[str, Any], scores: Mapping[str, Score], verdicts: Verdicts) -> _Ending:
    if verdicts.deciding is None:
        return _Ending(None)
    score = scores.get(verdicts.deciding)
    limit, words = limit_of(row)
    if score is None:
        return _Ending(None, message=f"the scorer {verdicts.deciding} gave it no score")
    if score.error is not None:
        return _Ending(Status.ERROR, "scorer_error", f"{verdicts.deciding}: {score.error}")
    if score.passed is None:
        return _Ending(None)
    if score.passed:
        return _Ending(Status.PASSED)
    return _Ending(Status.FAILED, word(f"{limit}_limit", "limit") if limit else "failed", words or score.reason)


def error_of(row: Mapping[str, Any]) -> str:
    """What broke a sample: a text in summaries, an object in samples; "" where nothing did."""
    return text(row.get("error")) or text(mapping(row.get("error")).get("message"))


def limit_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Which limit stopped a sample, and inspect's words for it; both "" where none did."""
    if text(row.get("limit")):
        return text(row.get("limit")), text(row.get("limit_reason"))
    limit = mapping(row.get("limit"))
    return text(limit.get("type")), text(limit.get("reason"))
