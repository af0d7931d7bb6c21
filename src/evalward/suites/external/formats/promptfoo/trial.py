"""A row of promptfoo's results as a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.choice import SCORER_BROKE
from evalward.suites.external.formats.base import ForeignTrial, Score
from evalward.suites.external.formats.promptfoo.assertions import (
    Asserted,
    all_parts,
    assertions_of,
    best_verdict,
    words,
)
from evalward.suites.external.formats.promptfoo.case import asked_by, category
from evalward.suites.external.formats.promptfoo.conversation import trace_of
from evalward.suites.external.formats.promptfoo.survey import RowSurvey, arm_of
from evalward.suites.external.formats.values import amount, count, including_cache, mapping, number, text

_BROKE = 2
"""The `failureReason` of a row that promptfoo itself calls an error: no answer, or a grader that threw."""
_MAIN = "score"


def trial_of(row: Mapping[str, Any], survey: RowSurvey) -> ForeignTrial:
    """The trial that a row is."""
    assertions = assertions_of(mapping(row.get("gradingResult")))
    status, reason = _ending(row, assertions)
    arm = arm_of(row)
    usage, duration = _usage(row), count(row.get("latencyMs"))
    return ForeignTrial(
        case=survey.case(row),
        status=status,
        number=survey.number(row, arm),
        suite=survey.suite(arm),
        target=survey.target(arm),
        category=category(row),
        asked=asked_by(row),
        reason=reason,
        message=_message(row, status, assertions),
        scores=_scores(row, status, assertions),
        checks=[assertion.checked() for assertion in all_parts(assertions)],
        usage=usage,
        judge_usage=_judge_usage(row),
        duration_ms=duration,
        trace=partial(trace_of, row, usage, duration),
        again=text(mapping(row.get("testCase")).get("description")),
    )


def _ending(row: Mapping[str, Any], assertions: Sequence[Asserted]) -> tuple[Status | None, str | None]:
    """How it ended: `success` decides, whatever the score, where nothing broke."""
    if row.get("failureReason") == _BROKE:
        return Status.ERROR, "timeout" if "timed out" in text(row.get("error"))[:200] else "provider_error"
    if row.get("success") is True:
        return Status.PASSED, None
    if row.get("success") is not False:
        return None, None
    threshold = number(mapping(row.get("testCase")).get("threshold"))
    if any(assertion.broken for assertion in assertions) and best_verdict(assertions, threshold)[0]:
        return Status.ERROR, SCORER_BROKE
    return Status.FAILED, "failed"


def _message(row: Mapping[str, Any], status: Status | None, assertions: Sequence[Asserted]) -> str:
    if status is Status.PASSED:
        return ""
    broke = [part.reason for part in all_parts(assertions) if part.broke] if status is Status.ERROR else []
    reason = text(mapping(row.get("gradingResult")).get("reason"))
    return "; ".join(broke) or words(text(row.get("error")) or reason)


def _scores(row: Mapping[str, Any], status: Status | None, assertions: Sequence[Asserted]) -> dict[str, Score]:
    """The score of the row, and those that have a name. With an assertion that broke they are no measurements."""
    told = mapping(row.get("namedScores"))
    if status is Status.ERROR and not assertions:
        return {}
    broke = [part for part in all_parts(assertions) if part.broke]
    named = {name: _named(name, value, assertions) for name, value in told.items() if name != _MAIN}
    if broke:
        return {_MAIN: Score(error=broke[0].reason or "it ended in an error")} | named
    return {_MAIN: Score(value=number(row.get("score")), passed=status is Status.PASSED)} | named


def _named(name: str, value: Any, assertions: Sequence[Asserted]) -> Score:
    feeding = [part for part in all_parts(assertions) if part.metric == name]
    broke = next((part.reason or "it ended in an error" for part in feeding if part.broken), None)
    if broke is not None:
        return Score(error=broke)
    passed = all(part.passed for part in feeding) if feeding else None
    return Score(value=number(value), passed=passed, reason="; ".join(part.reason for part in feeding))


def _usage(row: Mapping[str, Any]) -> Usage:
    """What this run spent: nothing for an answer from promptfoo's cache. Zeros of a provider that counts nothing are
    unknown, and so is the cost of a model without a known price."""
    response = mapping(row.get("response"))
    if response.get("cached") is True:
        return Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
    return _tokens(mapping(row.get("tokenUsage")), row.get("cost"))


def _judge_usage(row: Mapping[str, Any]) -> Usage | None:
    spent = mapping(mapping(row.get("tokenUsage")).get("assertions"))
    return _tokens(spent, None) if count(spent.get("prompt")) or count(spent.get("completion")) else None


def _tokens(told: Mapping[str, Any], cost: Any) -> Usage:
    if not count(told.get("prompt")) and not count(told.get("completion")):
        return Usage(cost_usd=amount(cost) or None)
    details = mapping(told.get("completionDetails"))
    return including_cache(
        told.get("prompt"),
        details.get("cacheReadInputTokens") or None,
        told.get("completion"),
        amount(cost) or None,
        details.get("reasoning") or None,
        written=details.get("cacheCreationInputTokens") or None,
    )
