"""A program of a workspace that goes on while we talk with it, line by line, over standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from typing import Any, cast

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.plan import Command
from evalward.sandbox.process.client import LauncherClient
from evalward.sandbox.process.running import LINGER_S, Pipes, ended, exit_code_of
from evalward.sandbox.process.streams import Tail

_CHUNK = 1 << 16
TAIL_BYTES = 16_384
"""What is kept of the end of standard error: where a program that fails says why."""


class LineTooLongError(Exception):
    """A program prints a line that is longer than `limit` bytes. Nothing more is read of it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"a line of more than {limit} bytes")


class LiveProgram:
    """A program that runs, made by `Workspace.start`. `end` closes it; with its workspace it ends at the latest."""

    def __init__(
        self, connection: socket.socket, input_end: int, output: asyncio.StreamReader, tail: Tail, line_bytes: int
    ) -> None:
        self._connection, self._input, self._output, self._tail = connection, input_end, output, tail
        self._line_bytes = line_bytes
        self._reading: asyncio.ReadTransport | None = None
        self._ended: asyncio.Future[dict[str, Any]] | None = None
        self._writing = asyncio.Lock()

    @classmethod
    async def start(cls, client: LauncherClient, command: Command, line_bytes: int) -> LiveProgram:
        """Start it. Raises `SandboxError`. One that can't be started ends at once, with 126 or 127 as in a shell."""
        pipes = Pipes()
        try:
            given, input_end = pipes.pair()
            output_end, printed = pipes.pair()
            error_end, complained = pipes.pair()
            connection = client.start([given, printed, complained])
            connection.setblocking(False)
            os.set_blocking(input_end, False)
            tail = Tail(pipes.take(error_end), TAIL_BYTES)
            live = cls(connection, pipes.take(input_end), asyncio.StreamReader(line_bytes), tail, line_bytes)
            await live._listen(pipes.take(output_end), command)
        except OSError as failure:
            raise SandboxError(f"the program could not be started: {failure}") from failure
        finally:
            pipes.close()
        return live

    async def _listen(self, output_end: int, command: Command) -> None:
        loop = asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(self._output)
        self._reading, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(output_end, "rb", 0))
        self._ended = asyncio.ensure_future(ended(self._connection, command))
        self._ended.add_done_callback(self._over)

    def _over(self, done: asyncio.Future[dict[str, Any]]) -> None:
        """It has ended. What it has left running may hold its output open; that isn't waited for."""
        if not done.cancelled():
            done.exception()  # looked at: whoever still asks hears of it
            asyncio.get_running_loop().call_later(LINGER_S, self._output.feed_eof)

    async def line(self) -> bytes | None:
        """The next line of standard output without its end, `None` after the last. Raises `LineTooLongError`."""
        try:
            return (await self._output.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError as error:
            return error.partial or None
        except asyncio.LimitOverrunError:
            raise LineTooLongError(self._line_bytes) from None

    async def write(self, data: bytes) -> None:
        """Write to standard input, as fast as the program reads. Raises `BrokenPipeError` when it reads no more."""
        async with self._writing:
            rest = memoryview(data)
            while rest:
                if self._input < 0:
                    raise BrokenPipeError
                try:
                    rest = rest[os.write(self._input, rest[:_CHUNK]) :]
                except BlockingIOError:
                    await self._writable()

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        free = asyncio.Event()
        loop.add_writer(self._input, free.set)
        try:
            await free.wait()
        finally:
            if self._input >= 0:
                loop.remove_writer(self._input)

    def close_input(self) -> None:
        """The program reads the end of its input."""
        if self._input >= 0:
            asyncio.get_running_loop().remove_writer(self._input)
            os.close(self._input)
            self._input = -1

    @property
    def complaints(self) -> str:
        """The end of what it printed to standard error so far, with U+FFFD for what is no UTF-8."""
        return self._tail.text

    async def exit_code(self, within_s: float) -> int | None:
        """Its exit code, 128 + N after signal N; `None` while it runs on after `within_s`. Raises `SandboxError`."""
        if self._ended is None:
            return None
        done, _ = await asyncio.wait([self._ended], timeout=within_s)
        if not done:
            return None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await self._tail.ended.wait()
        return exit_code_of(self._ended.result()["status"])

    @property
    def exceeded(self) -> str | None:
        """The limit of the workspace because of which it was ended, once it has ended."""
        if self._ended is None or not self._ended.done() or self._ended.cancelled() or self._ended.exception():
            return None
        return cast("str | None", self._ended.result().get("exceeded"))

    async def end(self, grace_s: float) -> None:
        """Close its input, wait `grace_s` for it to end by itself, then end it with all it started."""
        self.close_input()
        if self._ended is not None:
            await asyncio.wait([self._ended], timeout=grace_s)
            self._ended.cancel()
        self._connection.close()  # if it still runs the launcher ends it now
        if self._reading is not None:
            self._reading.close()
        self._tail.close()
