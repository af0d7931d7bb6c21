"""What the readers share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalward.records.base import clean_text
from evalward.records.trace import Message, ToolCall
from evalward.sandbox.base import OUTPUT_LIMIT, cut
from evalward.targets.agents.base import Claim


@dataclass(frozen=True)
class Told:
    """What an agent told of its work. `finished`: whether it says that it came to a good end, `None` where it doesn't.

    `claims` is its own account of cost, tokens and turns. `skipped` lines were no JSON objects.
    `structured`: its commands are told, not only words.
    """

    messages: list[Message] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    finished: bool | None = None
    skipped: int = 0
    structured: bool = True


def objects(text: str) -> Iterator[dict[str, Any] | None]:
    """The JSON object of every line that isn't empty; `None` for a line that holds none."""
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        yield value if isinstance(value, dict) else None


def text_of(value: Any) -> str:
    """The text, or nothing where there is none."""
    return clean_text(value) if isinstance(value, str) else ""


def part(value: Any, *path: str) -> Any:
    """What lies at a path of keys; `None` where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def whole(value: Any) -> int | None:
    """A whole number, else `None`."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def claim(value: Any) -> Claim:
    """A number or a short text that an agent claims; `None` for everything else."""
    if isinstance(value, str):
        return clean_text(value)[:200]
    return value if isinstance(value, int | float | bool) else None


def call(
    commands: str,
    stdout: str = "",
    stderr: str = "",
    exit_code: int | None = None,
    *,
    duration_ms: int = 0,
    ran: bool = True,
) -> ToolCall:
    """A tool call with outputs that a trace can keep."""
    short, error = cut(stdout), cut(stderr)
    left_out = max(0, len(stdout) - OUTPUT_LIMIT) + max(0, len(stderr) - OUTPUT_LIMIT)
    return ToolCall(
        commands=commands,
        stdout=short,
        stderr=error,
        exit_code=exit_code,
        duration_ms=max(0, duration_ms),
        cut=left_out,
        ran=ran,
    )
