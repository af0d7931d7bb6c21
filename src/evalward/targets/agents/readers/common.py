"""What the readers share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from evalward.records.base import clean_text, fitting
from evalward.records.trace import Message, SkillUse, ToolCall
from evalward.sandbox.base import OUTPUT_LIMIT, cut
from evalward.targets.agents.base import Claim

LONGEST_LINE = 4_000_000  # characters of one event
MOST_LINES = 100_000  # of one output
LONGEST_WORD = 1_000  # characters of an id or a name
LARGEST = 10**15  # number that anybody may tell: codes, milliseconds, tokens


@dataclass(frozen=True)
class AgentAccount:
    """What an agent told of its work. `finished`: whether it says that it came to a good end, `None` where it doesn't.

    `claims` is its own account of cost, tokens and turns. `skipped` lines were no JSON objects, or beyond what is read.
    `structured`: its commands are told, not only words. `skills` are those that it asked for by name. `api_error`: its
    words for the fault at its model that it ended with. `lacking`: a program that it needs here and that is missing.
    """

    messages: list[Message] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    claims: Mapping[str, Claim] = field(default_factory=dict)
    finished: bool | None = None
    skipped: int = 0
    structured: bool = True
    skills: list[SkillUse] = field(default_factory=list)
    api_error: str | None = None
    lacking: str | None = None


def objects(text: str) -> Iterator[dict[str, Any] | None]:
    """The JSON object of every line that isn't empty, as a record can hold it (`fitting`).

    `None` for a line that holds none, is longer than anything sensible, or comes after too many others.
    """
    lines = (line for line in text.splitlines() if line.strip())
    for number, line in enumerate(lines):
        yield _object(line) if number < MOST_LINES and len(line) <= LONGEST_LINE else None


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
        return fitting(value) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def text_of(value: Any) -> str:
    """The text, or nothing where there is none."""
    return clean_text(value) if isinstance(value, str) else ""


def part(value: Any, *path: str) -> Any:
    """What lies at a path of keys; `None` where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def word(value: Any) -> str:
    """An identity or a kind: a text of some length, as `str` has what is none."""
    return clean_text(value if isinstance(value, str) else str(value))[:LONGEST_WORD]


def kind_of(event: Any, *names: str) -> str | None:
    """What the first of these keys that holds anything says an event is; `None` where that is no text."""
    found = next((part(event, name) for name in names if part(event, name)), None)
    return found if isinstance(found, str) else None


def whole(value: Any) -> int | None:
    """A whole number of a size that something can have, else `None`."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST else None


def claim(value: Any) -> Claim:
    """A number or a short text that an agent claims; `None` for everything else, and for numbers that are none."""
    if isinstance(value, str):
        return clean_text(value)[:200]
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return whole(value)
    return value if isinstance(value, float) and isfinite(value) and abs(value) <= LARGEST else None


def added(before: Claim, more: Claim) -> Claim:
    """The sum of two claims, of which what is no number counts nothing; what no number can tell is `None`."""
    numbers = [value for value in map(claim, (before, more)) if isinstance(value, int | float)]
    return claim(sum(numbers)) if numbers else None


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
        duration_ms=min(max(0, duration_ms), LARGEST),
        cut=left_out,
        ran=ran,
    )
