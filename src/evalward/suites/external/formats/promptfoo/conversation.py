"""A row of promptfoo's results as a conversation: the prompt, tool calls where the provider tells them, the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace, Usage
from evalward.suites.external.formats.commands import MOST_TEXT, command_of
from evalward.suites.external.formats.values import mapping, rows, text

_MOST_CALLS = 500
_CALLS = ("toolCalls", "tool_calls")
_MOST_CHAT = 1_000  # messages of a prompt


class _ToldCall(NamedTuple):
    id: str
    name: str
    arguments: Any
    answer: str | None
    failed: bool


def trace_of(row: Mapping[str, Any], usage: Usage, duration_ms: int | None) -> Trace | None:
    """The conversation of a row; `None` where it has neither prompt nor answer."""
    response = mapping(row.get("response"))
    asked = list(_asked(text(mapping(row.get("prompt")).get("raw"))))
    calls = _calls(response)
    answer = "" if _is_calls(response.get("output")) else as_text(response.get("output"))
    messages = [*asked, *_with_tools(calls), *([_said("assistant", answer)] if answer else [])]
    if not messages:
        return None
    return Trace(
        messages=messages,
        tool_calls=list(_commands(calls)),
        natural_stop=bool(answer),
        duration_ms=duration_ms or 0,
        working_ms=duration_ms or 0,
        total=usage,
    )


def as_text(value: Any) -> str:
    """An answer in words: what is no text is JSON."""
    if value is None:
        return ""
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))[:MOST_TEXT]


def _asked(raw: str) -> Iterator[Message]:
    """The prompt: a text, or messages in JSON."""
    chat = _chat(raw)
    if raw and not chat:
        yield _said("user", raw[:MOST_TEXT])
    for message in chat:
        content = message.get("content")
        parts = [text(part.get("text")) for part in rows(content)]
        yield _said(text(message.get("role")), "\n".join(filter(None, parts)) or as_text(content))


def _chat(raw: str) -> Sequence[Mapping[str, Any]]:
    """The messages of a prompt that is a list of them in JSON; none for any other."""
    if not raw.lstrip().startswith("["):
        return []
    try:
        found = rows(foreign_json(raw))
    except NoJsonError:
        return []
    return found[:_MOST_CHAT] if all("role" in message for message in found) else []


def _said(role: str, words: str) -> Message:
    return Message(role="assistant" if role == "assistant" else "user", content=[Text(text=words)])


def _is_calls(output: Any) -> bool:
    """Whether an answer is nothing but calls of functions, as OpenAI has them."""
    found = rows(output)
    return bool(found) and isinstance(output, list) and all(isinstance(one.get("function"), dict) for one in found)


def _calls(response: Mapping[str, Any]) -> list[_ToldCall]:
    told = mapping(response.get("metadata"))
    output = response.get("output")
    listed = next((told[key] for key in _CALLS if isinstance(told.get(key), list)), None)
    if listed is None:
        listed = output if _is_calls(output) else mapping(output).get("tool_calls")
    return [_call(call, number) for number, call in enumerate(rows(listed)[:_MOST_CALLS], 1)]


def _call(call: Mapping[str, Any], number: int) -> _ToldCall:
    function = mapping(call.get("function")) or call
    given = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
    answer = next((call[key] for key in ("output", "result") if call.get(key) is not None), None)
    return _ToldCall(
        id=text(call.get("id")) or f"call-{number}",
        name=text(function.get("name")),
        arguments=_decoded(given),
        answer=None if answer is None else as_text(answer),
        failed=call.get("is_error") is True or call.get("isError") is True,
    )


def _decoded(arguments: Any) -> Any:
    """The arguments of a call; OpenAI's are JSON in a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return foreign_json(arguments)
    except NoJsonError:
        return arguments


def _with_tools(calls: Sequence[_ToldCall]) -> Iterator[Message]:
    if calls:
        uses: list[Block] = [ToolUse(id=call.id, name=call.name, input=call.arguments) for call in calls]
        yield Message(role="assistant", content=uses)
    results: list[Block] = [
        ToolResult(tool_use_id=call.id, content=call.answer, is_error=call.failed)
        for call in calls
        if call.answer is not None
    ]
    if results:
        yield Message(role="tool_result", content=results)


def _commands(calls: Sequence[_ToldCall]) -> Iterator[ToolCall]:
    for call in calls:
        command = command_of(call.name, call.arguments)
        if command is not None:
            yield ToolCall(commands=command, stdout=call.answer or "", exit_code=None)
