"""claude-code's `--output-format stream-json`, as version 2.1.197 prints it.

A shell call has no exit code as such: an error says `Exit code N`; a success was 0, unless the agent interprets the
code (`grep` without a match, `diff` with a difference), or the command went on in the background: then it is unknown.
A skill is loaded by a call of `Skill` whose result is no error, by the agent itself or by a sub-agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalward.records.trace import Block, Message, Role, SkillUse, Text, ToolCall, ToolResult, ToolUse
from evalward.targets.agents.base import Claim
from evalward.targets.agents.readers.common import (
    LONGEST_WORD,
    AgentAccount,
    call,
    claim,
    kind_of,
    objects,
    part,
    text_of,
    word,
)

SHELL, SKILL = "Bash", "Skill"
API_ERROR = "its request to the model failed"
_EXIT = re.compile(r"Exit code (-?\d{1,4})(?:\n|\Z)")
_UNCLEAR = ("returnCodeInterpretation", "backgroundTaskId")


def read(stdout: str) -> AgentAccount:
    """The output so far; a killed agent leaves a beginning."""
    reader = _ClaudeReader()
    for event in objects(stdout):
        if event is None:
            reader.skipped += 1
        else:
            reader.take(event)
    return reader.account()


class _ClaudeReader:
    def __init__(self) -> None:
        self.skipped = 0
        self._messages: list[tuple[Role, list[Block]]] = []
        self._ids: list[str] = []  # of the assistant's messages; those of others are empty
        self._commands: dict[str, str] = {}  # shell calls by id, in order
        self._calls: dict[str, ToolCall] = {}
        self._skills: dict[str, SkillUse] = {}  # by the id of the call, in order
        self._claims: dict[str, Claim] = {}
        self._api_error: str | None = None
        self._finished: bool | None = None

    def take(self, event: dict[str, Any]) -> None:
        blocks = part(event, "message", "content")
        match kind_of(event, "type"):
            case "system" if event.get("subtype") == "init":
                self._claims["version"] = claim(event.get("claude_code_version"))
            case "assistant" if isinstance(blocks, list):
                self._take_message(event, [block for block in blocks if isinstance(block, dict)])
            case "user" if isinstance(blocks, list):
                self._answered(event, [block for block in blocks if isinstance(block, dict)])
            case "result":
                self._ended(event)

    def _take_message(self, event: dict[str, Any], raw: list[dict[str, Any]]) -> None:
        blocks: list[Block] = []
        for block in raw:
            if block.get("type") == "text":
                blocks.append(Text(text=text_of(block.get("text"))))
            elif block.get("type") == "tool_use":
                use = ToolUse(id=word(block.get("id")), name=word(block.get("name")), input=block.get("input"))
                blocks.append(use)
                command = part(block, "input", "command")
                if use.name == SHELL and isinstance(command, str):
                    self._commands[use.id] = command
                skill = part(block, "input", "skill")
                if use.name == SKILL and isinstance(skill, str):
                    helper = bool(event.get("parent_tool_use_id"))
                    self._skills[use.id] = SkillUse(name=word(skill), succeeded=False, subagent=helper)
        if not event.get("parent_tool_use_id"):  # a sub-agent's words are no part of this conversation
            self._add("assistant", word(part(event, "message", "id") or ""), blocks)

    def _answered(self, event: dict[str, Any], raw: list[dict[str, Any]]) -> None:
        blocks: list[Block] = []
        for block in raw:
            if block.get("type") != "tool_result":
                continue
            identity, content = word(block.get("tool_use_id")), _content(block.get("content"))
            failed = bool(block.get("is_error"))
            blocks.append(ToolResult(tool_use_id=identity, content=content, is_error=failed))
            if identity in self._commands:
                self._calls[identity] = _call(self._commands[identity], content, event.get("tool_use_result"), failed)
            if identity in self._skills:
                loaded = not failed and part(event.get("tool_use_result"), "success") is not False
                self._skills[identity] = self._skills[identity].model_copy(update={"succeeded": loaded})
        if not event.get("parent_tool_use_id"):
            self._add("tool_result", "", blocks)

    def _add(self, role: Role, identity: str, blocks: list[Block]) -> None:
        if identity and self._ids and self._ids[-1] == identity:  # one message comes in several lines
            self._messages[-1][1].extend(blocks)
        elif blocks:
            self._messages.append((role, blocks))
            self._ids.append(identity)

    def _ended(self, event: dict[str, Any]) -> None:
        self._finished = event.get("subtype") == "success" and not event.get("is_error")
        names = {"cost_usd": "total_cost_usd", "turns": "num_turns", "duration_ms": "duration_ms", "result": "result"}
        self._claims |= {ours: claim(event.get(theirs)) for ours, theirs in names.items()}
        if event.get("api_error_status") or (event.get("subtype") == "success" and event.get("is_error")):
            self._api_error = text_of(event.get("result"))[:LONGEST_WORD] or API_ERROR
        usage = part(event, "usage")
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"):
            self._claims[name] = claim(part(usage, name))

    def account(self) -> AgentAccount:
        calls = [self._calls.get(identity) or call(command) for identity, command in self._commands.items()]
        claims = {name: value for name, value in self._claims.items() if value is not None}
        messages = [Message(role=role, content=blocks) for role, blocks in self._messages]
        return AgentAccount(
            messages,
            calls,
            claims,
            self._finished,
            self.skipped,
            skills=list(self._skills.values()),
            api_error=self._api_error,
        )


def _content(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(text_of(part(piece, "text")) for piece in value)
    return text_of(value)


def _call(command: str, content: str, result: Any, failed: bool) -> ToolCall:
    if failed:
        found = _EXIT.match(content)
        if found is None:  # refused, or broken before or while it ran
            return call(command, stderr=content, ran=not content.startswith("<tool_use_error>"))
        return call(command, stdout=content[found.end() :], exit_code=int(found[1]))
    if not isinstance(result, Mapping):
        return call(command, stdout=content, exit_code=0)
    unclear = bool(result.get("interrupted")) or any(result.get(name) for name in _UNCLEAR)
    stdout = text_of(result.get("stdout")) if "stdout" in result else content
    return call(command, stdout, text_of(result.get("stderr")), None if unclear else 0)
