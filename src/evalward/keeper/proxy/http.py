"""One HTTP/1.1 connection of an agent, spoken with h11 over asyncio's streams.

The head is judged before anything of the body is read, and what is read stays within bounds of size and time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

import h11

from evalward.keeper.proxy.exchange import (
    ByteRoom,
    ClientGoneError,
    ConnectionBounds,
    Refusal,
    RequestHead,
    Welcome,
    WholeRequest,
)
from evalward.keeper.proxy.wire import NO_ROOM, TOO_LONG

HEAD_LIMIT = 65_536  # bytes of a head
CHUNK = 65_536
LINGER_BYTES, LINGER_S = 4_000_000, 1.0  # read and dropped after a refusal, so that the agent comes to read it


class Exchange:
    """The answer to one request: whole by `answer`, or piece by piece by `begin`, `send` and `end`."""

    def __init__(self, connection: h11.Connection, writer: asyncio.StreamWriter, send_s: float) -> None:
        self._connection, self._writer, self._send_s = connection, writer, send_s
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
            async with asyncio.timeout(self._send_s):
                await self._writer.drain()
        except (OSError, TimeoutError, h11.LocalProtocolError) as error:
            raise ClientGoneError(str(error)) from None


class Handler(Protocol):
    """Who answers."""

    def judge(self, head: RequestHead) -> Refusal | Welcome:
        """Whether its body is to be read."""
        ...

    async def handle(self, asked: WholeRequest, exchange: Exchange) -> None:
        """Answer a request."""
        ...


class HttpConnection:
    """One connection. `idles` hears when it begins, and ends, to wait for a head."""

    def __init__(
        self,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        handler: Handler,
        bounds: ConnectionBounds,
        idles: Callable[[bool], None],
    ) -> None:
        self._reader, self._writer = streams
        self._handler, self._bounds, self._idles = handler, bounds, idles
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)
        self._silent = False  # the request wants no body back

    async def hold(self) -> None:
        """Hand each request to the handler until either side has enough."""
        try:
            while await self._one():
                self._connection.start_next_cycle()
        except (ClientGoneError, h11.RemoteProtocolError, OSError, TimeoutError):
            pass  # nobody is left to be told
        finally:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()

    async def _one(self) -> bool:
        self._idles(True)
        try:
            head = await self._head()
        finally:
            self._idles(False)
        if head is None:
            return False
        self._silent = head.method == "HEAD"
        judged = self._handler.judge(head)
        if isinstance(judged, Refusal):
            await self._refuse(judged)
            return False
        held = _HeldBody(judged.rooms)
        try:
            async with asyncio.timeout(self._bounds.body_s):
                refusal = await self._body(held)
            if refusal is not None:
                await self._refuse(refusal)
                return False
            await self._handler.handle(WholeRequest(head, held.out()), self._exchange())
        finally:
            held.free()
        return self._connection.our_state is h11.DONE and self._connection.their_state is h11.DONE

    async def _head(self) -> RequestHead | None:
        """The next request's head; `None` when there is none. Raises `TimeoutError`."""
        begun = self._connection.trailing_data[0] != b""
        async with asyncio.timeout(self._bounds.head_s if begun else self._bounds.idle_s) as waiting:
            while True:
                event = self._connection.next_event()
                if isinstance(event, h11.Request):
                    return _head(event)
                if event is not h11.NEED_DATA:  # the connection is closed, or was switched to something else
                    return None
                received = await self._reader.read(CHUNK)
                self._connection.receive_data(received)
                if not begun:
                    begun = True
                    waiting.reschedule(asyncio.get_running_loop().time() + self._bounds.head_s)

    async def _body(self, held: _HeldBody) -> Refusal | None:
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                if self._connection.they_are_waiting_for_100_continue:
                    going_on = h11.InformationalResponse(status_code=100, headers=[])
                    self._writer.write(self._connection.send(going_on) or b"")
                self._connection.receive_data(await self._reader.read(CHUNK))
            elif isinstance(event, h11.Data):
                if len(held.data) + len(event.data) > self._bounds.body:
                    return TOO_LONG
                if not held.add(event.data):
                    return NO_ROOM
            elif isinstance(event, h11.EndOfMessage):
                return None
            else:
                raise ClientGoneError("the request breaks off")

    async def _refuse(self, refusal: Refusal) -> None:
        await self._exchange().answer(refusal.status, b"" if self._silent else refusal.body, [("connection", "close")])
        self._writer.write_eof()
        dropped = 0
        async with asyncio.timeout(LINGER_S):
            while dropped < LINGER_BYTES and (received := await self._reader.read(CHUNK)):
                dropped += len(received)

    def _exchange(self) -> Exchange:
        return Exchange(self._connection, self._writer, self._bounds.send_s)


class _HeldBody:
    """A body as it comes, in its rooms."""

    def __init__(self, rooms: Iterable[ByteRoom]) -> None:
        self.data = bytearray()
        self._rooms = tuple(rooms)
        self._size = 0

    def add(self, data: bytes) -> bool:
        taken: list[ByteRoom] = []
        for room in self._rooms:
            if not room.take(len(data)):
                for earlier in taken:
                    earlier.give(len(data))
                return False
            taken.append(room)
        self.data += data
        self._size += len(data)
        return True

    def out(self) -> bytes:
        """The whole body, once; its room stays taken."""
        whole = bytes(self.data)
        self.data = bytearray()
        return whole

    def free(self) -> None:
        for room in self._rooms:
            room.give(self._size)


def _head(event: h11.Request) -> RequestHead:
    path, _, query = event.target.decode("latin-1").partition("?")
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
    return RequestHead(event.method.decode("ascii"), path, query, headers)
