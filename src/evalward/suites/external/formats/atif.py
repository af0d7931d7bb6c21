"""Agents' trajectories (ATIF): the conversation of a trial, step by step, as `trajectory.json` tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalward.records.problem import InputError
from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn, Usage
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.values import MIB, including_cache, mapping, rows, text, whole

TITLE = "a trajectory (ATIF)"
MOST_BYTES = 32 * MIB
MOST_STEPS = 2_000
_COMMANDS = ("command", "cmd", "commands", "script", "keystrokes")
_MODEL = 200  # characters of a model's name


def trace_of(file: ForeignFile, duration_ms: int | None, total: Usage) -> Trace | None:
    """The conversation in a trajectory; `None` for a file that holds none, or can't be read: a trial stands without.

    `total` is the usage of the whole trial, which counts more than the sum of its steps.
    """
    try:
        found = mapping(whole(file, TITLE, MOST_BYTES))
    except (InputError, OSError):
        return None
    steps = rows(found.get("steps"))[:MOST_STEPS]
    messages = [message for step in steps for message in _messages(step)]
    if not messages:
        return None
    return Trace(
        messages=messages,
        tool_calls=[call for step in steps for call in _calls(step)],
        turns=[_turn(step, found) for step in steps if step.get("source") == "agent"],
        natural_stop=not rows(steps[-1].get("tool_calls")),
        duration_ms=duration_ms or 0,
        working_ms=duration_ms or 0,
        total=total,
    )


def _messages(step: Mapping[str, Any]) -> Iterator[Message]:
    words = _words(step.get("message"))
    if step.get("source") == "agent":
        uses: list[Block] = [_use(call) for call in rows(step.get("tool_calls"))]
        content = [*([Text(text=words)] if words else []), *uses]
        if content:
            yield Message(role="assistant", content=content)
    elif words:
        yield Message(role="user", content=[Text(text=words)])
    results: list[Block] = [_result(found) for found in _observed(step)]
    if results:
        yield Message(role="tool_result", content=results)


def _use(call: Mapping[str, Any]) -> ToolUse:
    return ToolUse(id=text(call.get("tool_call_id")), name=text(call.get("function_name")), input=call.get("arguments"))


def _result(found: Mapping[str, Any]) -> ToolResult:
    return ToolResult(tool_use_id=text(found.get("source_call_id")), content=_words(found.get("content")))


def _observed(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return rows(mapping(step.get("observation")).get("results"))


def _words(message: Any) -> str:
    """The words of a message, which is a text or a list of parts, images among them."""
    if isinstance(message, list):
        return "\n".join(words for part in rows(message) if (words := text(part.get("text"))))
    return text(message)


def _calls(step: Mapping[str, Any]) -> Iterator[ToolCall]:
    """The commands of a step, with what they printed. ATIF has no exit codes."""
    printed = {text(found.get("source_call_id")): _words(found.get("content")) for found in _observed(step)}
    for call in rows(step.get("tool_calls")):
        arguments = mapping(call.get("arguments"))
        command = next((text(arguments.get(key)) for key in _COMMANDS if text(arguments.get(key))), "")
        if command:
            yield ToolCall(commands=command, stdout=printed.get(text(call.get("tool_call_id")), ""), exit_code=None)


def _turn(step: Mapping[str, Any], trajectory: Mapping[str, Any]) -> Turn:
    metrics = mapping(step.get("metrics"))
    model = text(step.get("model_name")) or text(mapping(trajectory.get("agent")).get("model_name"))
    return Turn(
        usage=including_cache(
            metrics.get("prompt_tokens"),
            metrics.get("cached_tokens"),
            metrics.get("completion_tokens"),
            metrics.get("cost_usd"),
        ),
        stop="tool_use" if rows(step.get("tool_calls")) else "end",
        model=model[:_MODEL] or None,
    )
