"""What goes over the connection: frames of a kind, a number, a name, some data, and open files beside them.

Nothing here trusts the other side: a frame has a bound; a header that is none, and descriptors that were not announced,
end the connection.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

FRAME_LIMIT = 512 << 20  # bytes of one frame: a report of very many trials
NAME_LIMIT = 64
CALL, ANSWER, FAILURE, NOTE = range(4)
CHUNK = 1 << 16  # bytes at once; the system gives larger buffers anew each time
SEND_S = 60  # for the other side to take a frame
NOW = getattr(socket, "MSG_DONTWAIT", 0)
_HEADER = struct.Struct("!BBBQQ")  # kind, length of the name, descriptors, number of the call, length of the data
_MOST_DESCRIPTORS, _MOST_HELD = 4, 64
_ROOM = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)


class WireError(Exception):
    """The other side has gone, or speaks another language."""


class Frame(Struct, frozen=True):
    """One message."""

    kind: int
    number: int
    name: str
    data: bytes
    descriptors: tuple[int, ...] = ()


def send(connection: socket.socket, frame: Frame, descriptors: Sequence[int] = (), within_s: float = SEND_S) -> None:
    """Send a frame, whole and in that time. For one thread at a time. Raises `WireError`.

    The time is ours to count. The system counts it for a single call, so that whoever reads a little now and then, or a
    signal that interrupts the call, would give it anew. Of a frame that was broken off the other side would take the
    next one for the rest, and for one that was not sent in time it would wait: the connection ends with both.
    """
    if len(frame.data) > FRAME_LIMIT:
        raise WireError(f"{len(frame.data):,} bytes are too much for one message")
    name = frame.name.encode()
    header = _HEADER.pack(frame.kind, len(name), len(descriptors), frame.number, len(frame.data)) + name
    # What is small goes in one piece.
    pieces = [header + frame.data] if len(frame.data) < CHUNK else [header, frame.data]
    whole, sent = sum(map(len, pieces)), 0
    try:
        for count in _sending(connection, pieces, descriptors, time.monotonic() + within_s):
            sent += count
    except BaseException as error:
        if 0 < sent < whole or isinstance(error, TimeoutError):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if isinstance(error, OSError):
            raise WireError("the other process has gone, or doesn't listen") from error
        raise


def _sending(
    connection: socket.socket, pieces: Sequence[bytes], descriptors: Sequence[int], until: float
) -> Iterator[int]:
    """Send it all; how many bytes have gone with each step. Descriptors go with the first. Raises `OSError`."""
    beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    for piece in pieces:
        left = memoryview(piece)
        while left:
            try:
                sent = connection.sendmsg([left], beside, NOW)  # `socket.send_fds` passes over its flags
            except BlockingIOError:
                _wait_for_room(connection, until)
                continue
            left, beside = left[sent:], []
            yield sent


def _wait_for_room(connection: socket.socket, until: float) -> None:
    """Raises `TimeoutError` when the time is over."""
    poll = select.poll()
    poll.register(connection, select.POLLOUT)
    left = until - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError("the other process takes nothing")


class Frames:
    """What has come so far, and the frames in it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = 0
        self._descriptors: list[int] = []

    def receive(self, connection: socket.socket, flags: int = 0) -> bool:
        """Take what there is, waiting for it unless the flags say otherwise; false at the end of the connection.

        Raises `WireError` when the end comes in the middle of a frame, `BlockingIOError` when there is nothing.
        """
        cloexec = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        data, ancillary, _, _ = connection.recvmsg(CHUNK, _ROOM, flags | cloexec)
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                found = array.array("i")
                found.frombytes(content[: len(content) - len(content) % found.itemsize])
                for descriptor in found:
                    os.set_inheritable(descriptor, False)
                self._descriptors += found
        if len(self._descriptors) > _MOST_HELD:
            raise WireError("the other process sent an invalid message")
        if not data:
            if self._held or self._descriptors:
                raise WireError("the other process ended in the middle of a message")
            return False
        self._parts.append(data)
        self._held += len(data)
        return True

    def take(self) -> Iterator[Frame]:
        """The frames that are whole. Raises `WireError` for what is none."""
        while self._held >= _HEADER.size:
            if len(self._parts[0]) < _HEADER.size:
                self._parts = [b"".join(self._parts)]
            kind, name_length, announced, number, length = _HEADER.unpack_from(self._parts[0])
            # Every segment that carries descriptors begins with a header: those that are here are this frame's.
            if length > FRAME_LIMIT or name_length > NAME_LIMIT or kind > NOTE or announced > _MOST_DESCRIPTORS:
                raise WireError("the other process sent an invalid message")
            whole = _HEADER.size + name_length + length
            if self._held < whole:
                return
            data = b"".join(self._parts)
            self._parts, self._held = ([data[whole:]] if len(data) > whole else []), len(data) - whole
            odd = len(self._descriptors) - announced
            if odd < 0 or (odd and not self._held):
                raise WireError("the other process sent an invalid message")
            descriptors, self._descriptors = self._descriptors[:announced], self._descriptors[announced:]
            name = data[_HEADER.size : _HEADER.size + name_length].decode("ascii", "replace")
            yield Frame(kind, number, name, data[_HEADER.size + name_length : whole], tuple(descriptors))

    def close(self) -> None:
        """Close the files that came and belong to no frame."""
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
