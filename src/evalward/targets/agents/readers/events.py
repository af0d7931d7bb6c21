"""Events as llm-tool-test writes them (one JSON object a line), printed by a program of one's own on stdout.

Beside them a program says `{"event": "skill", "skill": "NAME"}` when it has loaded a skill; with `"success": false` it
has tried to.
"""

from __future__ import annotations

from typing import Any

from evalward.records.trace import Message, SkillUse, Text, ToolCall, ToolResult, ToolUse
from evalward.targets.agents.readers.common import AgentAccount, call, kind_of, objects, text_of, whole, word

SHELLS = {"bash", "shell", "Bash", "sh"}


def read(stdout: str) -> AgentAccount:
    """Calls in order, each with the result that follows it; a call without one has an unknown exit code."""
    messages: list[Message] = []
    calls: list[ToolCall] = []
    skills: list[SkillUse] = []
    finished: bool | None = None
    skipped = 0
    for event in objects(stdout):
        kind = kind_of(event, "event", "type")
        if event is None or kind is None:
            skipped += 1
        elif kind == "output":
            messages.append(Message(role="assistant", content=[Text(text=text_of(event.get("text")))]))
        elif kind == "tool_call":
            _called(event, messages, calls)
        elif kind == "tool_result":
            _answered(event, messages, calls)
        elif kind == "skill" and isinstance(event.get("skill"), str):
            skills.append(SkillUse(name=word(event["skill"]), succeeded=event.get("success") is not False))
        elif kind == "complete":
            finished = event.get("exit_code") == 0
    return AgentAccount(messages, calls, {}, finished, skipped, skills=skills)


def _called(event: dict[str, Any], messages: list[Message], calls: list[ToolCall]) -> None:
    name, command = word(event.get("tool") or "bash"), text_of(event.get("command"))
    use = ToolUse(id=f"call_{len(messages)}", name=name, input={"command": command})
    messages.append(Message(role="assistant", content=[use]))
    if name in SHELLS:
        calls.append(call(command))


def _answered(event: dict[str, Any], messages: list[Message], calls: list[ToolCall]) -> None:
    uses = messages[-1].tool_uses if messages else []
    if not uses:
        return  # an answer to nothing
    code, output = whole(event.get("exit_code")), text_of(event.get("output"))
    if uses[0].name in SHELLS:
        calls[-1] = call(calls[-1].commands, output, "", code)
    result = ToolResult(tool_use_id=uses[0].id, content=output, is_error=code not in (None, 0))
    messages.append(Message(role="tool_result", content=[result]))
