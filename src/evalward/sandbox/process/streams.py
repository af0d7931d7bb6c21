"""Reading what a command prints while it runs, and writing what it reads; never blocking, never without bounds."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

from evalward.records.base import clean_text

_CHUNK = 1 << 18


class OutputStream:
    """An output stream of a command, read for as long as it lasts. What is kept of it, who inherits says."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._data = descriptor, bytearray()
        self.ended = asyncio.Event()
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    @property
    def text(self) -> str:
        """What was kept, with U+FFFD for what is no UTF-8."""
        return clean_text(self._data.decode("utf-8", "replace"))

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._keep(data)
        else:
            self.close()

    def _keep(self, data: bytes) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Read no more. What comes later meets a closed pipe."""
        if self.ended.is_set():
            return
        self.ended.set()
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)


class Sink(OutputStream):
    """One output stream: kept up to a limit, read to its end."""

    def __init__(self, descriptor: int, limit: int, on_line: Callable[[str], None] | None = None) -> None:
        self._limit, self._on_line = limit, on_line
        self._line = bytearray()
        self.dropped = 0
        super().__init__(descriptor)

    def _keep(self, data: bytes) -> None:
        room = max(0, self._limit - len(self._data))
        self._data += data[:room]
        self.dropped += max(0, len(data) - room)
        if self._on_line is not None:
            self._tell_lines(data, self._on_line)

    def _tell_lines(self, data: bytes, tell: Callable[[str], None]) -> None:
        self._line += data
        while (end := self._line.find(b"\n")) >= 0 or len(self._line) > self._limit:
            length = end if end >= 0 else self._limit
            line = bytes(self._line[:length])
            del self._line[: length + (end >= 0)]
            tell(clean_text(line.decode("utf-8", "replace")))

    def close(self) -> None:
        """Read no more, and hand on the line that was begun."""
        if self.ended.is_set():
            return
        super().close()
        if self._line and self._on_line is not None:
            self._on_line(clean_text(self._line.decode("utf-8", "replace")))


class Tail(OutputStream):
    """The last `most` bytes of an output stream."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._most = most
        super().__init__(descriptor)

    def _keep(self, data: bytes) -> None:
        self._data += data
        del self._data[: -self._most]


class StandardInput:
    """Standard input: written as fast as the command reads it; one that doesn't is no error."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        self._descriptor, self._rest = descriptor, memoryview(data)
        self._open = True
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_writer(descriptor, self._write)

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                self._rest = self._rest[os.write(self._descriptor, self._rest[:_CHUNK]) :] if self._rest else self._rest
            except BrokenPipeError:
                self._rest = self._rest[:0]
        if not self._rest:
            self.close()

    def close(self) -> None:
        """The command reads the end of its input."""
        if self._open:
            self._open = False
            asyncio.get_running_loop().remove_writer(self._descriptor)
            os.close(self._descriptor)
