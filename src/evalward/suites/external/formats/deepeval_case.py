"""A case of a test run of deepeval: its name, what it asks, and how its metrics end it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from evalward.records.result import CheckResult, Status
from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace, Usage
from evalward.suites.external.choice import SCORER_BROKE
from evalward.suites.external.formats.base import ForeignTrial, Score
from evalward.suites.external.formats.commands import MOST_TEXT, command_of
from evalward.suites.external.formats.naming import category_of, short_name
from evalward.suites.external.formats.pytest_names import for_k
from evalward.suites.external.formats.values import amount, count, mapping, milliseconds, number, rows, text

_ASKED = ("input", "expectedOutput", "context", "expectedTools", "scenario", "expectedOutcome", "userDescription")
_UNNAMED = re.compile(r"(?:conversational_)?test_case_\d+")
"""What deepeval calls a case without a name: its place, and another case's after an insertion."""
_NO_SCORE = "it gave no score"
_MOST_WORDS = 2_000
_MOST_TURNS = 2_000


class TrialName(NamedTuple):
    """Which trial of which case; `None`: by the order of the file."""

    case: str
    number: int | None


def asked_by(case: Mapping[str, Any]) -> dict[str, Any]:
    """The definition: the input side of a case. Of a conversation without a scenario, what its user says."""
    found = {key: case.get(key) for key in (*_ASKED, "metadata")}
    if case.get("turns") and not found["scenario"]:
        found["turns"] = [turn.get("content") for turn in rows(case.get("turns")) if turn.get("role") == "user"]
    return {key: value for key, value in found.items() if value not in (None, {}, [])}


def name_of(case: Mapping[str, Any]) -> str:
    """The case's name; "" where nobody has given it one."""
    name = text(case.get("name")).strip()
    return "" if _UNNAMED.fullmatch(name) else name


def by_input(case: Mapping[str, Any]) -> str:
    """A name that a case without one keeps as long as it asks the same."""
    asked = asked_by(case)
    first = next(iter(asked.get("turns", [])), "")
    words = text(case.get("input")) or text(case.get("scenario")) or text(first)
    return short_name(" ".join(words.split()) or "case", asked)


def trial_of(case: Mapping[str, Any], called: TrialName, target: str) -> ForeignTrial:
    """The trial that a case is."""
    metrics = rows(case.get("metricsData"))
    status, reason = _ending(case, metrics)
    usage = Usage(
        input_tokens=count(case.get("inputTokenCount")),
        output_tokens=count(case.get("outputTokenCount")),
        cost_usd=amount(case.get("tokenCost")),
    )
    duration = milliseconds(case.get("completionTime"))
    return ForeignTrial(
        case=called.case,
        status=status,
        number=called.number,
        target=target,
        category=category_of(mapping(case.get("metadata")), case.get("tags")),
        asked=asked_by(case),
        reason=reason,
        message=_message(metrics, status),
        scores=_scores(metrics),
        checks=[_check(metric) for metric in metrics],
        usage=usage,
        judge_usage=_judge_usage(metrics),
        duration_ms=duration,
        trace=partial(_trace, case, usage, duration),
        again=for_k(called.case),
    )


def _decides(metric: Mapping[str, Any]) -> bool:
    return metric.get("flaky") is not True


def _error(metric: Mapping[str, Any]) -> str | None:
    """Why a metric broke. Without `--ignore-errors` the missing score is all that tells it."""
    if metric.get("error"):
        return text(metric["error"])[:_MOST_WORDS] or _NO_SCORE
    return _NO_SCORE if number(metric.get("score")) is None else None


def _ending(case: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> tuple[Status | None, str | None]:
    """How it ended, by the metrics that aren't flaky: one that really failed is believed beside one that broke."""
    deciding = [metric for metric in metrics if _decides(metric)]
    if any(_error(metric) is None and metric.get("success") is False for metric in deciding):
        return Status.FAILED, "failed"
    if any(_error(metric) is not None for metric in deciding):
        return Status.ERROR, SCORER_BROKE
    success = case.get("success")
    if not metrics or not isinstance(success, bool):
        return None, None
    return (Status.PASSED, None) if success else (Status.FAILED, "failed")


def _message(metrics: Sequence[Mapping[str, Any]], status: Status | None) -> str:
    """What the deciding metrics say that it didn't pass by."""
    if status not in {Status.FAILED, Status.ERROR}:
        return ""
    said = []
    for metric in filter(_decides, metrics):
        error = _error(metric)
        if (error is not None) == (status is Status.ERROR) and metric.get("success") is not True:
            said.append(f"{text(metric.get('name'))}: {error or text(metric.get('reason'))}")
    return "; ".join(said)[:_MOST_WORDS]


def _scores(metrics: Sequence[Mapping[str, Any]]) -> dict[str, Score]:
    """By the metrics' names; the second of one name with a number."""
    found: dict[str, Score] = {}
    for metric in metrics:
        name = again = text(metric.get("name")) or "metric"
        which = 1
        while again in found:
            which += 1
            again = f"{name} ({which})"
        found[again] = _score(metric)
    return found


def _score(metric: Mapping[str, Any]) -> Score:
    reason, error = text(metric.get("reason"))[:_MOST_WORDS], _error(metric)
    if error is not None:
        return Score(error=error, decides=_decides(metric), reason=reason)
    passed = metric.get("success")
    return Score(
        value=number(metric.get("score")),
        passed=passed if isinstance(passed, bool) else None,
        decides=_decides(metric),
        reason=reason,
    )


def _check(metric: Mapping[str, Any]) -> CheckResult:
    """The check in the report. One that is flaky weighs nothing."""
    name, error = text(metric.get("name")) or "metric", _error(metric)
    least = number(metric.get("threshold"))
    detail = text(metric.get("reason")) if error is None else f"error: {error}"
    return CheckResult(
        check=name if least is None else f"{name} ≥ {least:g}",
        passed=error is None and metric.get("success") is True,
        detail=detail[:_MOST_WORDS],
        weight=1.0 if _decides(metric) else 0.0,
    )


def _judge_usage(metrics: Sequence[Mapping[str, Any]]) -> Usage | None:
    """What the metrics' models used, of those that tell it."""
    found = Usage(
        input_tokens=count(_sum(metrics, "inputTokenCount")),
        output_tokens=count(_sum(metrics, "outputTokenCount")),
        cost_usd=amount(_sum(metrics, "evaluationCost")),
    )
    return None if found == Usage() else found


def _sum(metrics: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Of those that tell it; none, and a zero, is unknown."""
    return sum(amount(metric.get(key)) or 0.0 for metric in metrics) or None


def _trace(case: Mapping[str, Any], usage: Usage, duration_ms: int | None) -> Trace | None:
    """The conversation: its turns, or input, tools and answer."""
    turns = rows(case.get("turns"))[:_MOST_TURNS]
    if not turns:
        answer = {"role": "assistant", "content": case.get("actualOutput"), "toolsCalled": case.get("toolsCalled")}
        turns = [{"role": "user", "content": case.get("input")}, answer]
    messages = [message for place, turn in enumerate(turns, 1) for message in _turn(turn, place)]
    if not messages:
        return None
    return Trace(
        messages=messages,
        tool_calls=[call for turn in turns for call in _commands(turn)],
        natural_stop=True,
        duration_ms=duration_ms or 0,
        working_ms=duration_ms or 0,
        total=usage,
    )


def _turn(turn: Mapping[str, Any], place: int) -> Iterator[Message]:
    """What one side says; of the assistant, the tools that it used come first."""
    tools = rows(turn.get("toolsCalled"))
    if tools:
        uses: list[Block] = [
            ToolUse(id=f"call-{place}-{which}", name=text(tool.get("name")), input=tool.get("inputParameters"))
            for which, tool in enumerate(tools, 1)
        ]
        yield Message(role="assistant", content=uses)
        results: list[Block] = [
            ToolResult(tool_use_id=f"call-{place}-{which}", content=_output(tool))
            for which, tool in enumerate(tools, 1)
            if tool.get("output") is not None
        ]
        if results:
            yield Message(role="tool_result", content=results)
    words = text(turn.get("content"))[:MOST_TEXT]
    if words:
        yield Message(role="assistant" if turn.get("role") == "assistant" else "user", content=[Text(text=words)])


def _output(tool: Mapping[str, Any]) -> str:
    output = tool.get("output")
    return (output if isinstance(output, str) else str(output))[:MOST_TEXT]


def _commands(turn: Mapping[str, Any]) -> Iterator[ToolCall]:
    for tool in rows(turn.get("toolsCalled")):
        command = command_of(text(tool.get("name")), tool.get("inputParameters"))
        if command is not None:
            output = _output(tool) if tool.get("output") is not None else ""
            yield ToolCall(commands=command, stdout=output, exit_code=None)
