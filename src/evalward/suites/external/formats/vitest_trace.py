"""The conversation that vitest-evals keeps of a test, as a trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalward.records.trace import Block, Message, Role, Text, ToolCall, ToolResult, ToolUse, Trace

MOST_EVENTS = 5_000
MOST_TEXT = 200_000
"""Characters of one message."""
_COMMANDS = ("command", "cmd", "commands")


def vitest_trace(run: Mapping[str, Any]) -> Trace | None:
    """The conversation of `meta.harness.run`; `None` where it has no event. System prompts are no message of it."""
    session = run.get("session")
    events = session.get("events") if isinstance(session, Mapping) else None
    if not isinstance(events, list) or not events:
        return None
    known = [event for event in events[:MOST_EVENTS] if isinstance(event, Mapping)]
    messages: list[Message] = []
    for event in known:
        _add(messages, event)
    return Trace(
        messages=messages,
        tool_calls=_calls(known),
        natural_stop=bool(messages) and messages[-1].role == "assistant" and not messages[-1].tool_uses,
    )


def _add(messages: list[Message], event: Mapping[str, Any]) -> None:
    """Blocks that follow each other in one role are one message."""
    found = _block(event)
    if found is None:
        return
    role, block = found
    if messages and messages[-1].role == role and not isinstance(block, Text):
        messages[-1] = Message(role=role, content=[*messages[-1].content, block])
    else:
        messages.append(Message(role=role, content=[block]))


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
