"""The conversation that vitest-evals keeps of a test, as a trace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.trace import Block, Message, Role, Text, ToolCall, ToolResult, ToolUse, Trace
from evalward.suites.external.formats.values import mapping, rows

MOST_EVENTS = 5_000
MOST_TEXT = 200_000
"""Characters of one message."""
_COMMANDS = ("command", "cmd", "commands")


def vitest_trace(run: Mapping[str, Any]) -> Trace | None:
    """The conversation of `meta.harness.run`; `None` where it has none. System prompts are no message of it."""
    known = rows(mapping(run.get("session")).get("events"))[:MOST_EVENTS]
    messages = [Message(role=role, content=blocks) for role, blocks in _joined(known)]
    if not messages:
        return None
    return Trace(
        messages=messages,
        tool_calls=_calls(known),
        natural_stop=messages[-1].role == "assistant" and not messages[-1].tool_uses,
    )


def _joined(events: Sequence[Mapping[str, Any]]) -> list[tuple[Role, list[Block]]]:
    """The blocks of each message: calls and results belong to what was before them in their role."""
    found: list[tuple[Role, list[Block]]] = []
    for role, block in filter(None, map(_block, events)):
        if found and found[-1][0] == role and not isinstance(block, Text):
            found[-1][1].append(block)
        else:
            found.append((role, [block]))
    return found


def _block(event: Mapping[str, Any]) -> tuple[Role, Block] | None:
    kind, role = event.get("type"), event.get("role")
    if kind == "message" and role in {"user", "assistant"}:
        return ("user" if role == "user" else "assistant"), Text(text=_shown(event.get("content")))
    if kind == "tool_call":
        use = ToolUse(id=_shown(event.get("id")), name=_shown(event.get("name")), input=event.get("arguments"))
        return "assistant", use
    if kind == "tool_result":
        error = event.get("error")
        content = _shown(event.get("content") if error is None else error)
        result = ToolResult(tool_use_id=_shown(event.get("toolCallId")), content=content, is_error=error is not None)
        return "tool_result", result
    return None


def _calls(events: list[Mapping[str, Any]]) -> list[ToolCall]:
    """The calls of tools that take a command; whether it succeeded isn't told."""
    results = {_shown(event.get("toolCallId")): event for event in events if event.get("type") == "tool_result"}
    calls = []
    for event in events:
        command = _command(event)
        if command is not None:
            result = results.get(_shown(event.get("id")), {})
            calls.append(ToolCall(commands=command, stdout=_shown(result.get("content")), exit_code=None))
    return calls


def _command(event: Mapping[str, Any]) -> str | None:
    given = event.get("arguments")
    if event.get("type") != "tool_call" or not isinstance(given, Mapping):
        return None
    return next((given[key][:MOST_TEXT] for key in _COMMANDS if isinstance(given.get(key), str)), None)


def _shown(content: object) -> str:
    if content is None:
        return ""
    return (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))[:MOST_TEXT]
