"""Calls in both directions over one socket pair: bytes with a name, an answer or a failure, and open files beside them.

Nothing here trusts the other side: a frame has a bound, a header that is none ends the connection, descriptors that
were not announced are closed.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import itertools
import os
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

FRAME_LIMIT = 512 << 20  # bytes of one frame: a report of very many trials
NAME_LIMIT = 64
PATIENCE_S = 60  # for the other side to take a byte of what we send
_HEADER = struct.Struct("!BBBQQ")  # kind, length of the name, descriptors, number of the call, length of the data
_CALL, _ANSWER, _FAILURE, _NOTE = range(4)
_MOST_DESCRIPTORS = 4


class WireError(Exception):
    """The other side has gone, or speaks another language."""


class CallFailedError(Exception):
    """The other side could not do what it was asked for. `data` says why, as it wrote it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        super().__init__("the call failed")


@dataclass(frozen=True)
class Incoming:
    """What the other side asks, or tells. `number` is `None` where it waits for no answer.

    `sender` is the other side's user id, `None` where it is our own.
    """

    name: str
    data: bytes
    descriptors: list[int]
    number: int | None
    sender: int | None = None

    def close(self) -> None:
        """Close the files that came with it. Again does nothing: by then their numbers may be others'."""
        while self.descriptors:
            os.close(self.descriptors.pop())


class Peer:
    """One end of the connection. Calls may come from any thread; `on_call` is called in the reader's own."""

    def __init__(
        self, connection: socket.socket, on_call: Callable[[Incoming], None], sender: int | None = None
    ) -> None:
        self._connection, self._on_call, self._sender = connection, on_call, sender
        # Whoever doesn't read what we send shall not keep us for ever.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", PATIENCE_S, 0))
        self._lock = threading.Lock()  # one frame at a time
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[bytes]] = {}
        self._ended: str | None = None
        self._state = threading.Lock()  # guards the two above
        self._reader = threading.Thread(target=self._read, name="wire", daemon=True)

    def start(self, on_end: Callable[[], None] = lambda: None) -> None:
        """Begin to read. `on_end` is called once, in the reader's thread, when the connection has ended."""
        self._on_end = on_end
        self._reader.start()

    # --- asking -----------------------------------------------------------------------------------------------------

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
        self._send(_CALL, name, number, data, descriptors)
        return future

    def note(self, name: str, data: bytes = b"null") -> None:
        """Tell something that needs no answer. Raises `WireError`."""
        self._send(_NOTE, name, 0, data)

    # --- answering --------------------------------------------------------------------------------------------------

    def answer(self, asked: Incoming, data: bytes = b"null") -> None:
        """Answer a call. That the other side has gone is no news to whoever answers."""
        self._respond(_ANSWER, asked, data)

    def fail(self, asked: Incoming, data: bytes) -> None:
        """Say why a call could not be done."""
        self._respond(_FAILURE, asked, data)

    def _respond(self, kind: int, asked: Incoming, data: bytes) -> None:
        if asked.number is not None:
            try:
                self._send(kind, "", asked.number, data)
            except WireError:
                return

    # --- frames -----------------------------------------------------------------------------------------------------

    def _send(self, kind: int, name: str, number: int, data: bytes, descriptors: Sequence[int] = ()) -> None:
        if len(data) > FRAME_LIMIT:
            raise WireError(f"{len(data):,} bytes are too much for one message")
        encoded = name.encode()
        header = _HEADER.pack(kind, len(encoded), len(descriptors), number, len(data)) + encoded
        try:
            with self._lock:
                # Descriptors go with the first byte of the header, which is small enough to leave in one piece.
                socket.send_fds(self._connection, [header], list(descriptors))
                self._connection.sendall(data)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)  # half a message may be on its way: nothing can follow
            raise WireError("the other process has gone") from error

    def _read(self) -> None:
        why = "the other process has gone"
        try:
            while self._frame():
                pass
        except WireError as error:
            why = str(error)
        except OSError:
            pass
        with self._state:
            self._ended = why
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(WireError(why))
        self._on_end()

    def _frame(self) -> bool:
        header, descriptors = self._exactly(_HEADER.size)
        if not header:
            return False
        try:
            kind, name_length, announced, number, length = _HEADER.unpack(header)
            if length > FRAME_LIMIT or name_length > NAME_LIMIT or kind > _NOTE or announced != len(descriptors):
                raise WireError("the other process sent a message that is none")
            name = self._whole(name_length).decode("ascii", "replace")
            data = self._whole(length)
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        if kind in {_CALL, _NOTE}:
            self._on_call(Incoming(name, data, descriptors, number if kind == _CALL else None, self._sender))
        else:
            self._resolve(kind, number, data)
        return True

    def _resolve(self, kind: int, number: int, data: bytes) -> None:
        with self._state:
            future = self._waiting.pop(number, None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        if kind == _ANSWER:
            future.set_result(data)
        else:
            future.set_exception(CallFailedError(data))

    def _whole(self, length: int) -> bytes:
        buffer = bytearray(length)
        view, done = memoryview(buffer), 0
        while done < length:
            count = self._connection.recv_into(view[done:])
            if not count:
                raise WireError("the other process broke off in the middle of a message")
            done += count
        return bytes(buffer)

    def _exactly(self, length: int) -> tuple[bytes, list[int]]:
        """So many bytes and the descriptors that came with them; nothing at the end of the connection."""
        found, data = array.array("i"), b""
        room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * found.itemsize)
        while len(data) < length:
            more, ancillary, _, _ = self._connection.recvmsg(
                length - len(data), room, getattr(socket, "MSG_CMSG_CLOEXEC", 0)
            )
            for level, kind, content in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    found.frombytes(content[: len(content) - len(content) % found.itemsize])
            if not more:
                if data:
                    raise WireError("the other process broke off in the middle of a message")
                return b"", []
            data += more
        for descriptor in found:
            os.set_inheritable(descriptor, False)
        return data, list(found)

    def close(self) -> None:
        """End the connection; whoever waits for an answer gets a `WireError`."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
        if threading.current_thread() is not self._reader and self._reader.is_alive():
            self._reader.join(5)
