"""The messages of a sample of inspect as a conversation of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace
from evalward.suites.external.formats.commands import MOST_TEXT, command_of
from evalward.suites.external.formats.inspect.usage import usage_of
from evalward.suites.external.formats.values import mapping, milliseconds, rows, text


def trace_of(messages: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> Trace | None:
    """The conversation of a sample; `None` where it has no message. `row` is its summary."""
    shown = [message for message in map(_message, messages) if message is not None]
    if not shown:
        return None
    return Trace(
        messages=shown,
        tool_calls=list(_commands(messages)),
        natural_stop=not row.get("limit") and not row.get("error"),
        duration_ms=milliseconds(row.get("total_time")) or 0,
        working_ms=milliseconds(row.get("working_time")) or 0,
        total=usage_of(row)[0],
    )


def _message(value: Mapping[str, Any]) -> Message | None:
    """A message; one of the system is shown before the user's, as words of theirs."""
    match value.get("role"):
        case "user" | "system":
            return Message(role="user", content=_words(value))
        case "assistant":
            return Message(role="assistant", content=[*_words(value), *_uses(value)])
        case "tool":
            return Message(role="tool_result", content=[_result(value)])
    return None


def _words(value: Mapping[str, Any]) -> list[Block]:
    said = _text(value)
    return [Text(text=said)] if said else []


def _text(value: Mapping[str, Any]) -> str:
    content = value.get("content")
    if isinstance(content, str):
        return content[:MOST_TEXT]
    return "\n".join(filter(None, map(_part, rows(value.get("content")))))[:MOST_TEXT]


def _part(part: Mapping[str, Any]) -> str:
    """A part of a content in words: what isn't text is named."""
    kind = text(part.get("type"))
    if kind == "reasoning":
        return text(part.get("summary")) or text(part.get("reasoning"))
    return text(part.get("text")) if kind == "text" else f"({kind})"


def _uses(value: Mapping[str, Any]) -> Iterator[ToolUse]:
    for call in rows(value.get("tool_calls")):
        yield ToolUse(id=text(call.get("id")), name=text(call.get("function")), input=call.get("arguments"))


def _result(value: Mapping[str, Any]) -> ToolResult:
    """What a tool gave. After an error of a tool the content is empty, and the words are the error's."""
    error = text(mapping(value.get("error")).get("message"))
    content = "\n".join(filter(None, (_text(value), error)))
    return ToolResult(tool_use_id=text(value.get("tool_call_id")), content=content, is_error="error" in value)


def _commands(messages: Sequence[Mapping[str, Any]]) -> Iterator[ToolCall]:
    """The commands of shells, with what they gave; inspect keeps no exit code."""
    results = {text(each.get("tool_call_id")): each for each in messages if each.get("role") == "tool"}
    for message in messages:
        for call in rows(message.get("tool_calls")):
            command = command_of(text(call.get("function")), call.get("arguments"))
            if command is not None:
                yield _tool_call(command, results.get(text(call.get("id"))))


def _tool_call(command: str, result: Mapping[str, Any] | None) -> ToolCall:
    if result is None:
        return ToolCall(commands=command, exit_code=None, ran=False)
    error = text(mapping(result.get("error")).get("message"))
    return ToolCall(commands=command, stdout=_text(result), stderr=error, exit_code=None)
