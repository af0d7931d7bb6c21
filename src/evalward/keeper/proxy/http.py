"""One HTTP/1.1 connection of an agent, spoken with h11 over asyncio's streams."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import h11

from evalward.keeper.proxy.exchange import ClientGoneError

BODY_LIMIT = 64_000_000  # bytes of one request
HEAD_LIMIT = 65_536  # bytes of its head
CHUNK = 65_536


@dataclass(frozen=True)
class Asked:
    """One request, header names in lower case. `body` is `None` when it is longer than the limit."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes | None


class Exchange:
    """The answer to one request: whole by `answer`, or piece by piece by `begin`, `send` and `end`."""

    def __init__(self, connection: h11.Connection, writer: asyncio.StreamWriter) -> None:
        self._connection, self._writer = connection, writer
        self.begun = False

    async def answer(self, status: int, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Status, headers and body at once, as JSON unless the headers say otherwise."""
        given = list(headers)
        if not any(name == "content-type" for name, _ in given):
            given.append(("content-type", "application/json"))
        await self.begin(status, [*given, ("content-length", str(len(body)))])
        if body:
            await self.send(body)
        await self.end()

    async def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The head."""
        self.begun = True
        await self._write(h11.Response(status_code=status, headers=list(headers)))

    async def send(self, data: bytes) -> None:
        """A piece of the body; it leaves at once."""
        await self._write(h11.Data(data=data))

    async def end(self) -> None:
        """The end of the body."""
        await self._write(h11.EndOfMessage())

    async def _write(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        try:
            self._writer.write(self._connection.send(event) or b"")
            await self._writer.drain()
        except (OSError, h11.LocalProtocolError) as error:
            raise ClientGoneError(str(error)) from None


Handle = Callable[[Asked, Exchange], Awaitable[None]]


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Handle) -> None:
    """Hand each request of a connection to `handle` until either side has enough."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)
    try:
        while (asked := await _request(connection, reader, writer)) is not None:
            await handle(asked, Exchange(connection, writer))
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                break
            connection.start_next_cycle()
    except (ClientGoneError, h11.RemoteProtocolError, OSError):
        pass  # nobody is left to be told
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _request(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Asked | None:
    head: h11.Request | None = None
    body = bytearray()
    too_long = False
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if connection.they_are_waiting_for_100_continue:
                writer.write(connection.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            connection.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            too_long = too_long or len(body) + len(event.data) > BODY_LIMIT
            if not too_long:
                body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return _asked(head, None if too_long else bytes(body))
        else:  # the connection is closed, or was switched to something else
            return None


def _asked(head: h11.Request, body: bytes | None) -> Asked:
    path, _, query = head.target.decode("latin-1").partition("?")
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    return Asked(head.method.decode("ascii"), path, query, headers, body)
