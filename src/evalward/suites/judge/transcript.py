"""A trace as a judge reads it: one step after the other, shortened where it is long, saying what was left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Trace
from evalward.render.escape import plain

HEAD, TAIL = 1_500, 700  # characters that are kept of one text, from its beginning and from its end
BUDGET = 24_000  # characters of all steps together
FIRST_SHARE = 0.4  # of the budget for the first steps; the last ones matter more

# What some models read as the beginning of somebody else's turn, or as an order of the system's.
_SPECIAL = re.compile(r"<(?=\|)|(?<=\|)>|<(?=/?(?:system|human|user|assistant|instructions?)\b)", re.IGNORECASE)
_INST = re.compile(r"\[(/?(?:INST|SYS))\]|<<(/?SYS)>>", re.IGNORECASE)
_ROLE = re.compile(r"^(\s*)(human|assistant|system|user|developer)(\s*):", re.IGNORECASE | re.MULTILINE)


def neutral(text: str) -> str:
    """The text without control characters and without marks that models take for the border between speakers."""
    text = _SPECIAL.sub(lambda found: {"<": "‹", ">": "›"}[found[0]], plain(text))
    text = _INST.sub(lambda found: f"({found[1] or found[2]})", text)
    return _ROLE.sub(r"\1[\2]\3:", text)


def shortened(text: str, head: int = HEAD, tail: int = TAIL) -> str:
    """Beginning and end of the text, with the number of characters left out between them."""
    left_out = len(text) - head - tail
    if left_out <= 0:
        return text
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{text[-tail:]}"


def written(trace: Trace, budget: int = BUDGET) -> str:
    """All steps of the trace, in at most `budget` characters and the lines that say what was left out."""
    steps = [neutral(step) for step in _steps(trace)]
    if not steps:
        return "(The agent did nothing and said nothing.)"
    return "\n\n".join(_within(steps, budget))


def _within(steps: Sequence[str], budget: int) -> list[str]:
    """The first and the last steps that fit; between them, how many were left out."""
    if sum(len(step) for step in steps) <= budget:
        return list(steps)
    first = _fitting(steps, budget * FIRST_SHARE)
    rest = steps[len(first) :]
    used = sum(len(step) for step in first)
    last = _fitting(rest[::-1], budget - used)[::-1]
    dropped = rest[: len(rest) - len(last)]
    note = f"[… {len(dropped)} steps ({sum(map(len, dropped)):,} characters) left out …]"
    return [*first, note, *last] if dropped else [*first, *last]


def _fitting(steps: Sequence[str], budget: float) -> list[str]:
    fitting: list[str] = []
    for step in steps:
        budget -= len(step)
        if budget < 0:
            break
        fitting.append(step)
    return fitting


def _steps(trace: Trace) -> Iterator[str]:
    """What the agent said and did, and what came back. The task itself, which comes first, is shown elsewhere."""
    uses = [use for message in trace.messages for use in message.tool_uses]
    calls = iter(trace.tool_calls) if len(uses) == len(trace.tool_calls) else None
    for number, message in enumerate(trace.messages):
        if number or message.role != "user":
            yield from _of_message(message, calls)
    if not uses:
        for call in trace.tool_calls:
            yield _call(call)


def _of_message(message: Message, calls: Iterator[ToolCall] | None) -> Iterator[str]:
    speaker = "AGENT SAID" if message.role == "assistant" else "AGENT WAS TOLD"
    for block in message.content:
        if isinstance(block, Text) and block.text.strip():
            yield f"{speaker}:\n{shortened(block.text)}"
        elif isinstance(block, ToolUse):
            yield _call(next(calls)) if calls is not None else _use(block)
        elif isinstance(block, ToolResult) and calls is None:
            yield f"CAME BACK{' (an error)' if block.is_error else ''}:\n{shortened(block.content)}"


def _use(use: ToolUse) -> str:
    return f"AGENT USED {use.name}:\n{shortened(json.dumps(use.input, ensure_ascii=False, default=str))}"


def _call(call: ToolCall) -> str:
    parts = [f"AGENT RAN:\n{shortened(call.commands)}"]
    parts += [
        f"{name}:\n{shortened(text)}" for name, text in (("STDOUT", call.stdout), ("STDERR", call.stderr)) if text
    ]
    if call.cut:
        parts.append(f"[… {call.cut:,} more characters of output were not kept …]")
    parts.append("EXIT CODE: unknown" if call.exit_code is None else f"EXIT CODE: {call.exit_code}")
    return "\n".join(parts)
