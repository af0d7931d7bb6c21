"""A stream of server-sent events, read as it comes and within bounds.

Read here and not by the SDKs, which have no bounds: they make objects of whatever JSON an event holds, and one copies
what it has seen of an event for each line of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterable, Iterator, Sequence
from typing import NamedTuple

from evalward.targets.models import limits
from evalward.targets.models.reading import Json, MalformedError, ProviderError, object_of

DONE = b"[DONE]"
AFTER_DONE_S = 0.1  # for the rest of the body to arrive, so that its connection can be used again
_PIECE = 65_536  # bytes that are split into lines at once


class SentEvent(NamedTuple):
    """One event: its name, "" without one, and its data."""

    name: str
    data: bytes


class EventReader:
    """The events in pieces of a stream's bytes. Raises `MalformedError` for more lines than a stream may have."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []  # a line whose end has not come
        self._lines = 0
        self._name, self._data = "", list[bytes]()

    def feed(self, piece: bytes) -> Iterator[SentEvent]:
        """The events that end in this piece."""
        if b"\n" not in piece and b"\r" not in piece:
            self._begun.append(piece)
            return
        lines = b"".join([*self._begun, piece]).splitlines(keepends=True)
        # What a \r ends may go on with the \n that belongs to it.
        self._begun = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        yield from self._events(lines)

    def end(self) -> Iterator[SentEvent]:
        """The last event, of a stream that doesn't end with an empty line."""
        yield from self._events([*b"".join(self._begun).splitlines(), b""])

    def _events(self, lines: Sequence[bytes]) -> Iterator[SentEvent]:
        self._lines += len(lines)
        if self._lines > limits.MOST_LINES:
            raise MalformedError(f"the answer's stream has more than {limits.MOST_LINES:,} lines")
        for line in lines:
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                self._data.append(value)
            elif field == b"event":
                self._name = value[:100].decode("utf-8", "replace")
            elif not field and not value and b":" not in line:
                if self._data:
                    yield SentEvent(self._name, b"\n".join(self._data))
                self._name, self._data = "", []


async def received(pieces: AsyncIterable[bytes]) -> list[SentEvent]:
    """All events of a stream. What comes, or goes wrong, after one that says that it is done is no matter."""
    reader, found, done = EventReader(), list[SentEvent](), False
    try:
        async with asyncio.timeout(None) as rest:
            async for piece in pieces:
                came = [] if done else list(reader.feed(piece))
                found += came
                if any(map(_is_done, came)):
                    done = True
                    rest.reschedule(asyncio.get_running_loop().time() + AFTER_DONE_S)
    except Exception:
        if not done:
            raise
    return found if done else [*found, *reader.end()]


def events_in(body: bytes) -> Iterator[SentEvent]:
    """The events of a stream that is whole."""
    reader = EventReader()
    for start in range(0, len(body), _PIECE):
        yield from reader.feed(body[start : start + _PIECE])
    yield from reader.end()


def objects_of(events: Iterable[SentEvent], errors: str = "strict") -> Iterator[Json]:
    """What the events say, one after the other: nothing is kept of the earlier ones. `errors` as for `bytes.decode`.

    Raises `MalformedError` at one that is no JSON object, and `ProviderError` at one that tells an error.
    """
    for event in events:
        if _is_done(event):
            return
        if event.name == "ping" or not event.data:
            continue
        told = _object(event, errors)
        if event.name == "error" or told.get("error"):
            raise ProviderError(told.get("error") or told)
        yield told


def _object(event: SentEvent, errors: str) -> Json:
    try:
        return object_of(event.data, "an event of the answer", errors)
    except MalformedError:
        if event.name == "error":
            raise ProviderError(event.data.decode("utf-8", "replace")) from None
        raise


def _is_done(event: SentEvent) -> bool:
    return event.data.startswith(DONE)
