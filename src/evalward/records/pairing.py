"""A trace's messages with the calls that they led to: which tool use is which execution."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from evalward.records.base import clean_text
from evalward.records.trace import Block, Role, ToolCall, ToolUse, Trace

LONGEST_CALL = 10_000  # characters


def named_call(name: str, given: Any) -> str:
    """What a call's record has as its command where a tool takes arguments and no script: the tool, then these."""
    plain = given is None or isinstance(given, str)
    words = (given or "") if plain else json.dumps(given, ensure_ascii=False)
    text = clean_text(f"{name} {words}".rstrip())
    return text if len(text) <= LONGEST_CALL else f"{text[:LONGEST_CALL]}…"


class PairedBlock(Struct, frozen=True):
    """A block of a message, and the call of a tool use. A call that no message asks for has no block."""

    block: Block | None
    call: ToolCall | None = None


class PairedMessage(Struct, frozen=True):
    """A message by its blocks. The last one has no role where calls are left over that no message asks for."""

    role: Role | None
    parts: list[PairedBlock]


def paired(trace: Trace) -> Iterator[PairedMessage]:
    """Words and calls in order. A call stands where a message asks for just this command.

    Calls that no message asks for (a sub-agent's) come before the next one that a message does ask for, or at the end.
    """
    calls = _Calls(trace.tool_calls)
    for message in trace.messages:
        parts: list[PairedBlock] = []
        for block in message.content:
            if message.role == "assistant" and isinstance(block, ToolUse):
                parts += calls.used(block)
            else:
                parts.append(PairedBlock(block))
        yield PairedMessage(message.role, parts)
    left = calls.until(len(trace.tool_calls))
    if left:
        yield PairedMessage(None, left)


class _Calls:
    """The calls of a trace, taken in order; by their commands, so that long traces take no longer call by call."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls, self._next = calls, 0
        self._places: dict[str, deque[int]] = defaultdict(deque)
        self._broken: dict[str, deque[int]] = defaultdict(deque)  # of those for which nothing was run
        for place, call in enumerate(calls):
            self._places[call.commands].append(place)
            if not call.ran:
                self._broken[call.commands].append(place)

    def used(self, use: ToolUse) -> list[PairedBlock]:
        """A tool use with its call, and before it the calls that came earlier and belong to no message."""
        place = self._place(use)
        if place is None:
            return [PairedBlock(use)]
        earlier = self.until(place)
        self._next = place + 1
        return [*earlier, PairedBlock(use, self._calls[place])]

    def until(self, place: int) -> list[PairedBlock]:
        """The calls before a place that no message asked for."""
        earlier = [PairedBlock(None, call) for call in self._calls[self._next : place]]
        self._next = max(self._next, place)
        return earlier

    def _place(self, use: ToolUse) -> int | None:
        """Of the next call of just this command. A call that was not run has the name of an unknown tool, or the
        arguments that could not be used.
        """
        given = use.input.values() if isinstance(use.input, Mapping) else ()
        found = [self._first(self._places, value) for value in given if isinstance(value, str)]
        if self._broken:
            found += [self._first(self._broken, shown) for shown in (use.name, str(use.input))]
        places = [place for place in found if place is not None]
        return min(places) if places else self._first(self._places, named_call(use.name, use.input))

    def _first(self, index: Mapping[str, deque[int]], command: str) -> int | None:
        places = index.get(command)
        while places and places[0] < self._next:
            places.popleft()
        return places[0] if places else None
