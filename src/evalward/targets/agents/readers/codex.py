"""codex's `exec --json`, as version 0.169.0 prints it. It mixes stdout and stderr, and tells exit codes."""

from __future__ import annotations

import shlex
from typing import Any

from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse
from evalward.targets.agents.base import Claim
from evalward.targets.agents.readers.common import Told, call, claim, objects, part, text_of, whole

SHELL = "command_execution"
SILENT = {"reasoning", "error"}  # items that are neither words for people nor uses of a tool
_SHELLS = {"bash", "sh", "zsh", "dash"}


def read(stdout: str) -> Told:
    """The output so far; a killed agent leaves a beginning."""
    messages: list[Message] = []
    calls: dict[str, ToolCall] = {}
    claims: dict[str, Claim] = {}
    finished: bool | None = None
    skipped = 0
    for event in objects(stdout):
        item = part(event, "item")
        kind = event.get("type") if event else None
        if event is None:
            skipped += 1
        elif kind in {"item.started", "item.completed"} and isinstance(item, dict):
            if item.get("type") == SHELL:
                calls[str(item.get("id"))] = _call(item)
            if kind == "item.completed":
                messages += _messages(item)
        elif kind == "turn.completed":
            finished = True
            claims = _added(claims, part(event, "usage"))
        elif kind == "turn.failed":
            finished = False
            claims["error"] = claim(part(event, "error", "message"))
    return Told(messages, list(calls.values()), claims, finished, skipped)


def _call(item: dict[str, Any]) -> ToolCall:
    declined = item.get("status") == "declined"
    command = unwrapped(text_of(item.get("command")))
    return call(command, text_of(item.get("aggregated_output")), "", whole(item.get("exit_code")), ran=not declined)


def unwrapped(command: str) -> str:
    """What the model typed: codex shows it as `/bin/bash -lc '…'`."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in {"-c", "-lc"}
    return words[2] if is_shell else command


def _messages(item: dict[str, Any]) -> list[Message]:
    kind, identity = str(item.get("type")), str(item.get("id"))
    if kind == "agent_message":
        return [Message(role="assistant", content=[Text(text=text_of(item.get("text")))])]
    if kind in SILENT:
        return []
    if kind != SHELL:
        given = {name: value for name, value in item.items() if name not in {"id", "type"}}
        return [Message(role="assistant", content=[ToolUse(id=identity, name=kind, input=given)])]
    did = _call(item)
    use = ToolUse(id=identity, name="shell", input={"command": did.commands})
    result: Block = ToolResult(tool_use_id=identity, content=did.stdout, is_error=did.exit_code != 0)
    return [Message(role="assistant", content=[use]), Message(role="tool_result", content=[result])]


def _added(claims: dict[str, Claim], usage: Any) -> dict[str, Claim]:
    """Each turn of the conversation tells its own tokens."""
    sums = dict(claims)
    for name, value in usage.items() if isinstance(usage, dict) else ():
        before, number = sums.get(name), whole(value)
        if number is not None:
            sums[name] = number + (before if isinstance(before, int) else 0)
    return sums
