"""codex's `exec --json`, as version 0.169.0 prints it. It mixes stdout and stderr, and tells exit codes."""

from __future__ import annotations

import shlex
from typing import Any

from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse
from evalward.targets.agents.base import Claim
from evalward.targets.agents.readers.common import (
    LONGEST_WORD,
    AgentAccount,
    added,
    call,
    claim,
    kind_of,
    objects,
    part,
    text_of,
    whole,
    word,
)

SHELL = "command_execution"
SILENT = {"reasoning", "error"}  # items that are neither words for people nor uses of a tool
LONGEST_COMMAND = 100_000  # characters that are looked into
MOST_CLAIMS = 50
_SHELLS = {"bash", "sh", "zsh", "dash"}


def read(stdout: str) -> AgentAccount:
    """The output so far; a killed agent leaves a beginning."""
    messages: list[Message] = []
    calls: dict[str, ToolCall] = {}
    claims: dict[str, Claim] = {}
    api_error: str | None = None
    finished: bool | None = None
    skipped = 0
    for event in objects(stdout):
        item = part(event, "item")
        kind = kind_of(event, "type")
        if event is None:
            skipped += 1
        elif kind in {"item.started", "item.completed"} and isinstance(item, dict):
            did = _call(item) if item.get("type") == SHELL else None
            if did is not None:
                calls[word(item.get("id"))] = did
            if kind == "item.completed":
                messages += _messages(item, did)
        elif kind == "turn.completed":
            finished = True
            claims = _added(claims, part(event, "usage"))
        elif kind == "turn.failed":
            finished = False
            claims["error"] = claim(part(event, "error", "message"))
            api_error = text_of(part(event, "error", "message"))[:LONGEST_WORD] or "the turn failed"
    return AgentAccount(messages, list(calls.values()), claims, finished, skipped, api_error=api_error)


def _call(item: dict[str, Any]) -> ToolCall:
    declined = item.get("status") == "declined"
    command = unwrapped(text_of(item.get("command")))
    return call(command, text_of(item.get("aggregated_output")), "", whole(item.get("exit_code")), ran=not declined)


def unwrapped(command: str) -> str:
    """What the model typed: codex shows it as `/bin/bash -lc '…'`."""
    if len(command) > LONGEST_COMMAND:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in {"-c", "-lc"}
    return words[2] if is_shell else command


def _messages(item: dict[str, Any], did: ToolCall | None) -> list[Message]:
    kind, identity = word(item.get("type")), word(item.get("id"))
    if kind == "agent_message":
        return [Message(role="assistant", content=[Text(text=text_of(item.get("text")))])]
    if kind in SILENT:
        return []
    if did is None:
        given = {name: value for name, value in item.items() if name not in {"id", "type"}}
        return [Message(role="assistant", content=[ToolUse(id=identity, name=kind, input=given)])]
    use = ToolUse(id=identity, name="shell", input={"command": did.commands})
    result: Block = ToolResult(tool_use_id=identity, content=did.stdout, is_error=did.exit_code != 0)
    return [Message(role="assistant", content=[use]), Message(role="tool_result", content=[result])]


def _added(claims: dict[str, Claim], usage: Any) -> dict[str, Claim]:
    """Each turn of the conversation tells its own tokens."""
    sums = dict(claims)
    for name, value in usage.items() if isinstance(usage, dict) else ():
        if len(sums) < MOST_CLAIMS and whole(value) is not None:
            sums[word(name)] = added(sums.get(word(name)), value)
    return sums
