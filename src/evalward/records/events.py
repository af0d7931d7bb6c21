"""What happened in a scenario trial, as `events.jsonl` has it: one JSON object a line.

`{"ts","event":"spawn","command","args"}`, `output{text}`, `tool_call{tool,command}`, `tool_result{output,exit_code}`,
`complete{exit_code,duration_secs}`. A key that nobody knows the value of is left out. The optional `id` ties a result
to its call; without it, results answer calls by their order (`answered_calls`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from evalward.records.base import Record, clean_text
from evalward.records.pairing import paired
from evalward.records.trace import Text, ToolCall, ToolUse, Trace

SHELL_TOOL = "shell"
"""The tool of a call where the trace doesn't say which one it was."""


class Spawn(Record):
    """The agent was started."""

    event: Literal["spawn"] = "spawn"
    ts: str | None = None
    command: str
    args: list[str] = []


class OutputEvent(Record):
    """The agent said something."""

    event: Literal["output"] = "output"
    ts: str | None = None
    text: str


class ToolCalled(Record):
    """The agent called a tool; `command` is the command line."""

    event: Literal["tool_call"] = "tool_call"
    ts: str | None = None
    id: str | None = None
    tool: str = SHELL_TOOL
    command: str


class RanCommand(Record):
    """One command that a call ran, with its own exit code; `command` is quoted as for a shell."""

    command: str
    exit_code: int


class ToolAnswered(Record):
    """What the call gave. `exit_code` is `None` where nobody told it.

    `commands`: what the shell that ran the call tells of the target's commands in it, in the order in which they ended;
    `None` where no shell told it. A claim: agents and tools share the shell's rights.
    """

    event: Literal["tool_result"] = "tool_result"
    ts: str | None = None
    id: str | None = None
    output: str = ""
    exit_code: int | None = None
    commands: list[RanCommand] | None = None


class Complete(Record):
    """The agent ended. Without a known exit code nobody has proof of a normal end."""

    event: Literal["complete"] = "complete"
    ts: str | None = None
    exit_code: int | None = None
    duration_secs: float | None = Field(default=None, ge=0)


class OtherEvent(Record):
    """An event of a kind that isn't ours, kept as it is."""

    model_config = ConfigDict(extra="allow")
    event: str
    ts: str | None = None


_KINDS = {"spawn", "output", "tool_call", "tool_result", "complete"}


def _tag(value: Any) -> str:
    kind = value.get("event") if isinstance(value, dict) else getattr(value, "event", None)
    return kind if isinstance(kind, str) and kind in _KINDS else "other"


Event = Annotated[
    Annotated[Spawn, Tag("spawn")]
    | Annotated[OutputEvent, Tag("output")]
    | Annotated[ToolCalled, Tag("tool_call")]
    | Annotated[ToolAnswered, Tag("tool_result")]
    | Annotated[Complete, Tag("complete")]
    | Annotated[OtherEvent, Tag("other")],
    Discriminator(_tag),
]
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def read_events(text: str) -> tuple[list[Event], int]:
    """The events of a JSONL text, and how many lines are none. The kind may stand at `event` or at `type`."""
    events: list[Event] = []
    skipped = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            events.append(_EVENT.validate_python(_with_kind(json.loads(line))))
        except (ValueError, RecursionError, ValidationError):
            skipped += 1
    return events, skipped


def _with_kind(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value if "event" in value else {**value, "event": value.get("type")}


def dump_events(events: Sequence[Event]) -> str:
    """The events as JSONL, each line ended."""
    lines = (_EVENT.dump_python(event, mode="json", exclude_none=True) for event in events)
    return "".join(clean_text(json.dumps(line, ensure_ascii=False)) + "\n" for line in lines)


@dataclass(frozen=True)
class AnsweredCall:
    """A tool call with its result, `None` where there is none."""

    call: ToolCalled
    answer: ToolAnswered | None


def answered_calls(events: Sequence[Event]) -> list[AnsweredCall]:
    """Every tool call with its result.

    An `id` decides where both have one. The others are paired in batches, calls first and then their results: as many
    results as calls answer them in order; fewer answer the last ones, for an agent goes on after a lost result and
    waits for the newest; more than calls belong to nothing.
    """
    by_id = {event.id: event for event in events if isinstance(event, ToolAnswered) and event.id is not None}
    paired: list[AnsweredCall] = []
    for calls, answers in _batches(events):
        late: list[ToolAnswered | None] = [None] * max(0, len(calls) - len(answers))
        paired += [AnsweredCall(call, answer) for call, answer in zip(calls, [*late, *answers], strict=False)]
    known = {id(pair.call): pair.answer for pair in paired}
    calls_in_order = [event for event in events if isinstance(event, ToolCalled)]
    return [
        AnsweredCall(call, by_id.get(call.id) if call.id is not None else known.get(id(call)))
        for call in calls_in_order
    ]


def _batches(events: Sequence[Event]) -> Iterator[tuple[list[ToolCalled], list[ToolAnswered]]]:
    """Runs of calls without an id, each with the results that follow before the next call."""
    calls: list[ToolCalled] = []
    answers: list[ToolAnswered] = []
    for event in events:
        if isinstance(event, ToolCalled) and event.id is None:
            if answers:
                yield calls, answers
                calls, answers = [], []
            calls.append(event)
        elif isinstance(event, ToolAnswered) and event.id is None:
            answers.append(event)
    if calls:
        yield calls, answers


def completed(events: Sequence[Event]) -> bool:
    """True when the last `complete` event proves a normal end: exit code 0."""
    ends = [event for event in events if isinstance(event, Complete)]
    return bool(ends) and ends[-1].exit_code == 0


def events_of(
    trace: Trace,
    started_at: str | None = None,
    *,
    command: Sequence[str] = (),
    exit_code: int | None = None,
    duration_ms: int | None = None,
) -> list[Event]:
    """The trace as events: `spawn` with the agent's `command` line, what it said and called, `complete`.

    `exit_code` is the agent's own. A trace has no clock times beside its start (ISO 8601) and its duration, so only
    `spawn` and `complete` get a `ts`.
    """
    duration = trace.duration_ms if duration_ms is None else duration_ms
    program, *args = command or [""]
    return [
        Spawn(ts=started_at, command=program, args=args),
        *_conversation(trace),
        Complete(ts=_later(started_at, duration), exit_code=exit_code, duration_secs=duration / 1000),
    ]


def _conversation(trace: Trace) -> Iterator[Event]:
    """What the agent said and called, in order."""
    for piece in paired(trace):
        for part in piece.parts:
            if part.call is not None:
                yield from _call_events(part.call, part.block.name if isinstance(part.block, ToolUse) else SHELL_TOOL)
            elif piece.role == "assistant" and isinstance(part.block, Text) and part.block.text:
                yield OutputEvent(text=part.block.text)


def _call_events(call: ToolCall, tool: str) -> Iterator[Event]:
    yield ToolCalled(tool=tool, command=call.commands)
    yield ToolAnswered(output="\n".join(part for part in (call.stdout, call.stderr) if part), exit_code=call.exit_code)


def _later(started_at: str | None, duration_ms: int) -> str | None:
    if started_at is None:
        return None
    try:
        return (datetime.fromisoformat(started_at) + timedelta(milliseconds=duration_ms)).isoformat()
    except (ValueError, OverflowError):
        return None
