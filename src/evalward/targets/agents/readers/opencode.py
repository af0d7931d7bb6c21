"""opencode's `run --format json`, as version 1.18.33 prints it. It mixes stdout and stderr, and tells exit codes."""

from __future__ import annotations

from typing import Any

from evalward.records.trace import Message, SkillUse, Text, ToolCall, ToolResult, ToolUse
from evalward.targets.agents.base import Claim
from evalward.targets.agents.readers.common import (
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

SHELL, SKILL = "bash", "skill"
API_ERRORS = {"APIError", "ProviderAuthError", "UnknownError"}


def read(stdout: str) -> AgentAccount:
    """The output so far; a killed agent leaves a beginning."""
    messages: list[Message] = []
    calls: list[ToolCall] = []
    skills: list[SkillUse] = []
    claims: dict[str, Claim] = {}
    api_error: str | None = None
    lacking: str | None = None
    finished: bool | None = None
    skipped = 0
    for event in objects(stdout):
        step = part(event, "part")
        match kind_of(event, "type"):
            case None:
                skipped += event is None
            case "text":
                messages.append(Message(role="assistant", content=[Text(text=text_of(part(step, "text")))]))
            case "tool_use":
                messages += _used(step)
                if part(step, "tool") == SHELL:
                    calls.append(_call(part(step, "state")))
                elif part(step, "tool") == SKILL:
                    skills += _skill(part(step, "state"))
                    lacking = lacking or _lacking(part(step, "state"))
            case "step_finish":
                claims = _added(claims, step)
                finished = part(step, "reason") == "stop"
            case "error":
                finished = False
                said = claim(part(event, "error", "data", "message") or part(event, "error", "name"))
                claims["error"] = said
                if text_of(part(event, "error", "name")) in API_ERRORS:
                    api_error = str(said)
    return AgentAccount(messages, calls, claims, finished, skipped, skills=skills, api_error=api_error, lacking=lacking)


def _skill(state: Any) -> list[SkillUse]:
    """A use of the tool for skills; none where it names no skill."""
    name = part(state, "input", "name")
    if not isinstance(name, str):
        return []
    return [SkillUse(name=word(name), succeeded=part(state, "status") == "completed")]


def _lacking(state: Any) -> str | None:
    """The program without which every skill fails to load."""
    return "rg (ripgrep)" if text_of(part(state, "error")).startswith("ripgrep ") else None


def _used(step: Any) -> list[Message]:
    identity = word(part(step, "callID"))
    state = part(step, "state")
    failed = part(state, "status") == "error"
    use = ToolUse(id=identity, name=word(part(step, "tool")), input=part(state, "input"))
    content = text_of(part(state, "error") if failed else part(state, "output"))
    result = ToolResult(tool_use_id=identity, content=content, is_error=failed)
    return [Message(role="assistant", content=[use]), Message(role="tool_result", content=[result])]


def _call(state: Any) -> ToolCall:
    begun, ended = whole(part(state, "time", "start")), whole(part(state, "time", "end"))
    took = ended - begun if begun is not None and ended is not None else 0
    command = text_of(part(state, "input", "command"))
    if part(state, "status") == "error":
        return call(command, stderr=text_of(part(state, "error")), duration_ms=took)
    output = text_of(part(state, "metadata", "output")) or text_of(part(state, "output"))
    return call(command, output, "", whole(part(state, "metadata", "exit")), duration_ms=took)


def _added(claims: dict[str, Claim], step: Any) -> dict[str, Claim]:
    tokens = part(step, "tokens")
    counts = {
        "cost_usd": part(step, "cost"),
        "input_tokens": part(tokens, "input"),
        "output_tokens": part(tokens, "output"),
        "reasoning_tokens": part(tokens, "reasoning"),
        "cache_read_tokens": part(tokens, "cache", "read"),
        "cache_write_tokens": part(tokens, "cache", "write"),
        "turns": 1,
    }
    sums = dict(claims)
    for name, value in counts.items():
        if isinstance(value, int | float):
            sums[name] = added(sums.get(name), value)
    return sums
