"""Calls in both directions over one socket pair: bytes with a name, an answer or a failure, and open files with them.

There are two ends. The `Peer` has a thread that reads, so that any thread may ask: the runner. The `CallingPeer` has
none and reads where it waits, or on an event loop: the keeper's, whose loop has enough to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from msgspec import Struct

from evalward.wire.frames import ANSWER, CALL, FAILURE, NOTE, NOW, SEND_S, Frame, Frames, WireError, send


class CallFailedError(Exception):
    """The other side could not do what it was asked for. `data` says why, as it wrote it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        super().__init__("the call failed")


class Incoming(Struct, eq=False):
    """What the other side asks, or tells. `number` is `None` where it waits for no answer.

    `sender` is the other side's user id, `None` where it is our own.
    """

    name: str
    data: bytes
    descriptors: list[int]
    number: int | None
    sender: int | None = None

    @classmethod
    def of(cls, frame: Frame, sender: int | None = None) -> Incoming:
        """A frame that is a call or a note."""
        number = frame.number if frame.kind == CALL else None
        return cls(frame.name, frame.data, list(frame.descriptors), number, sender)

    def take(self) -> bytes:
        """What came with it, which is not kept here any longer."""
        data, self.data = self.data, b""
        return data

    def close(self) -> None:
        """Close the files that came with it. Again does nothing: by then their numbers may be others'."""
        while self.descriptors:
            os.close(self.descriptors.pop())


class _End:
    """What both ends have in common: they send, one frame at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def note(self, name: str, data: bytes = b"null") -> None:
        """Tell something that needs no answer. Raises `WireError`."""
        self._send(Frame(NOTE, 0, name, data))

    def answer(self, asked: Incoming, data: bytes = b"null") -> None:
        """Answer a call. That the other side has gone is no news to whoever answers."""
        self._respond(ANSWER, asked, data)

    def fail(self, asked: Incoming, data: bytes) -> None:
        """Say why a call could not be done."""
        self._respond(FAILURE, asked, data)

    def _respond(self, kind: int, asked: Incoming, data: bytes) -> None:
        if asked.number is not None:
            with contextlib.suppress(WireError):
                self._send(Frame(kind, asked.number, "", data))

    def _send(self, frame: Frame, descriptors: Sequence[int] = ()) -> None:
        with self._lock:
            send(self._connection, frame, descriptors, SEND_S)


class CallingPeer(_End):
    """An end without a thread: one call at a time, whose answer is read by whoever asked."""

    def __init__(self, connection: socket.socket, sender: int | None = None) -> None:
        """`sender` is the user at the other end, where that isn't us: every call says whose it is."""
        super().__init__(connection)
        self._frames, self._sender = Frames(), sender
        self._loop: asyncio.AbstractEventLoop | None = None
        self._readable: Callable[[], None] = lambda: None

    def call(
        self, name: str, data: bytes = b"null", refused: bytes = b"null", patience_s: float | None = None
    ) -> bytes:
        """Ask, and wait. What the other side asks meanwhile fails with `refused`.

        Raises `CallFailedError`, `WireError` when the other side goes, and `TimeoutError`.
        """
        number = next(self._numbers)
        until = None if patience_s is None else time.monotonic() + patience_s
        self._send(Frame(CALL, number, name, data))
        while True:
            for frame in self._frames.take():
                if frame.kind in {CALL, NOTE}:
                    asked = Incoming.of(frame)
                    asked.close()
                    self.fail(asked, refused)
                elif frame.number == number:
                    return _result(frame)
            self._wait(until)
            self._receive()

    def _wait(self, until: float | None) -> None:
        """Until there is something to be read. Raises `TimeoutError`."""
        left = None if until is None else max(0.0, until - time.monotonic())
        if not select.select([self._connection], [], [], left)[0]:
            raise TimeoutError("the other process gives no answer")

    async def serve(self, name: str, data: bytes, on_call: Callable[[Incoming], None]) -> bytes:
        """Ask, and while waiting give what the other side asks to `on_call`. Raises as `call`."""
        number = next(self._numbers)
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[bytes] = loop.create_future()

        def readable() -> None:
            try:
                self._receive(NOW)
                self._give(number, on_call, ended)
            except BlockingIOError:
                return
            except WireError as error:
                if not ended.done():
                    ended.set_exception(error)
                loop.remove_reader(self._connection)

        self._send(Frame(CALL, number, name, data))
        self._loop, self._readable = loop, readable
        self.go_on()
        try:
            return await ended
        finally:
            self.pause()
            self._loop = None

    def pause(self) -> None:
        """Read nothing more for now: whoever asks faster than it is answered has to wait."""
        if self._loop is not None:
            self._loop.remove_reader(self._connection)

    def go_on(self) -> None:
        """Read again."""
        if self._loop is not None:
            self._loop.add_reader(self._connection, self._readable)

    def _give(self, number: int, on_call: Callable[[Incoming], None], ended: asyncio.Future[bytes]) -> None:
        for frame in self._frames.take():
            if frame.kind in {CALL, NOTE}:
                on_call(Incoming.of(frame, self._sender))
            elif frame.number == number and not ended.done():
                try:
                    ended.set_result(_result(frame))
                except CallFailedError as error:
                    ended.set_exception(error)

    def _receive(self, flags: int = 0) -> None:
        try:
            if self._frames.receive(self._connection, flags):
                return
        except BlockingIOError:
            raise
        except OSError as error:
            raise WireError("the other process has gone") from error
        raise WireError("the other process has gone")

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
        self._frames.close()


def _result(frame: Frame) -> bytes:
    for descriptor in frame.descriptors:
        os.close(descriptor)
    if frame.kind == FAILURE:
        raise CallFailedError(frame.data)
    return frame.data


class Peer(_End):
    """An end with a thread that reads. Calls may come from any other; `on_call` is called in the reader's own."""

    def __init__(self, connection: socket.socket, on_call: Callable[[Incoming], None]) -> None:
        super().__init__(connection)
        self._on_call = on_call
        self._waiting: dict[int, Future[bytes]] = {}
        self._ended: str | None = None
        self._state = threading.Lock()  # guards the two above
        self._reader = threading.Thread(target=self._read, name="wire", daemon=True)

    def start(self, on_end: Callable[[], None] = lambda: None) -> None:
        """Begin to read. `on_end` is called once, in the reader's thread, when the connection has ended."""
        self._on_end = on_end
        self._reader.start()

    def call(self, name: str, data: bytes = b"null", descriptors: Sequence[int] = ()) -> bytes:
        """Ask, and wait for the answer. Raises `CallFailedError`, and `WireError` when the other side goes."""
        return self.begin(name, data, descriptors).result()

    async def ask(self, name: str, data: bytes = b"null", descriptors: Sequence[int] = ()) -> bytes:
        """The same for coroutines. Where it is cancelled the answer is dropped."""
        return await asyncio.wrap_future(self.begin(name, data, descriptors))

    def begin(self, name: str, data: bytes = b"null", descriptors: Sequence[int] = ()) -> Future[bytes]:
        """Ask; the answer comes later. Raises `WireError`."""
        future: Future[bytes] = Future()
        with self._state:
            if self._ended is not None:
                raise WireError(self._ended)
            number = next(self._numbers)
            self._waiting[number] = future
        self._send(Frame(CALL, number, name, data), descriptors)
        return future

    def _read(self) -> None:
        why, frames = "the other process has gone", Frames()
        try:
            while frames.receive(self._connection):
                for frame in frames.take():
                    self._heard(frame)
        except WireError as error:
            why = str(error)
        except OSError:
            pass
        frames.close()
        with self._state:
            self._ended = why
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(WireError(why))
        self._on_end()

    def _heard(self, frame: Frame) -> None:
        if frame.kind in {CALL, NOTE}:
            self._on_call(Incoming.of(frame))
            return
        with self._state:
            future = self._waiting.pop(frame.number, None)
        try:
            result = _result(frame)
        except CallFailedError as error:
            if future is not None and future.set_running_or_notify_cancel():
                future.set_exception(error)
            return
        if future is not None and future.set_running_or_notify_cancel():
            future.set_result(result)

    def close(self) -> None:
        """End the connection; whoever waits for an answer gets a `WireError`."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
        if threading.current_thread() is not self._reader and self._reader.is_alive():
            self._reader.join(5)
