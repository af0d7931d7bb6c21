"""One command from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.plan import Command
from evalward.sandbox.launcher.serve import KILL, TERMINATE
from evalward.sandbox.process.client import PATIENCE_S, LauncherClient
from evalward.sandbox.process.streams import Sink, StandardInput

LINGER_S = 0.5  # for output that a background child still holds after the command itself has ended
TIMED_OUT = 124  # the exit code of a command that was ended for its time, as timeout(1) has it

Exceeded = Literal["memory", "disk"]


@dataclass(frozen=True)
class Finished:
    """How a command ended. Text has U+FFFD for bytes that are no UTF-8.

    `exit_code` is 128 + N after signal N, as in a shell; 127 or 126 when nothing could be started; 124 after its time.
    `exceeded`: everything was ended because of that limit of the workspace.
    """

    stdout: str
    stderr: str
    exit_code: int
    signal: int | None = None
    timed_out: bool = False
    duration_ms: int = 0
    dropped_bytes: int = 0
    exceeded: Exceeded | None = None


@dataclass(frozen=True)
class Handling:
    """How we deal with a command while it runs. `grace_s`: between a polite end at its time and SIGKILL."""

    timeout_s: float
    grace_s: float
    output_bytes: int
    stdin: bytes | None
    on_line: Callable[[str], None] | None


async def run_command(client: LauncherClient, command: Command, handling: Handling) -> Finished:
    """Run a command to its end, or to the end of its time. When we are cancelled, it ends with all it started."""
    running = _start(client, handling)
    try:
        return await running.finish(command, handling)
    finally:
        running.close()


class Pipes:
    """Descriptors that are closed unless somebody took them."""

    def __init__(self) -> None:
        self._held: set[int] = set()

    def pair(self) -> tuple[int, int]:
        """The ends of a new pipe, to read from and to write to."""
        read, write = os.pipe()
        self._held |= {read, write}
        return read, write

    def nothing(self) -> int:
        """An end from which nothing comes."""
        descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._held.add(descriptor)
        return descriptor

    def take(self, descriptor: int) -> int:
        """From here on it belongs to whoever asks."""
        self._held.discard(descriptor)
        return descriptor

    def close(self) -> None:
        """Close what is left."""
        for descriptor in self._held:
            os.close(descriptor)


def _start(client: LauncherClient, handling: Handling) -> _Running:
    pipes = Pipes()
    try:
        given, input_write = pipes.pair() if handling.stdin is not None else (pipes.nothing(), None)
        out_read, out_write = pipes.pair()
        error_read, error_write = pipes.pair()
        connection = client.start([given, out_write, error_write])
        out = Sink(pipes.take(out_read), handling.output_bytes, handling.on_line)
        error = Sink(pipes.take(error_read), handling.output_bytes)
        source = None if input_write is None else StandardInput(pipes.take(input_write), handling.stdin or b"")
        return _Running(connection, out, error, source)
    except OSError as failure:
        raise SandboxError(f"the command could not be started: {failure}") from failure
    finally:
        pipes.close()


async def ended(connection: socket.socket, command: Command) -> dict[str, Any]:
    """Have the launcher start a command, and wait for what it says when that has ended. Raises `SandboxError`."""
    loop = asyncio.get_running_loop()
    data = b""
    try:
        await loop.sock_sendall(connection, command.dump())
        while not data.endswith(b"\n") and (more := await loop.sock_recv(connection, 1 << 12)):
            data += more
    except OSError as error:
        raise SandboxError("the sandbox's launcher was killed") from error
    answers: dict[str, Any] = {}
    for line in data.splitlines():
        answers |= json.loads(line)
    if "broken" in answers:
        raise SandboxError(f"the command's rights could not be restricted: {answers['broken']}")
    if "status" not in answers:
        raise SandboxError("the sandbox's launcher was killed")
    return answers


def exit_code_of(status: int) -> int:
    """The exit code for a status of `waitpid`: 128 + N after signal N, as in a shell."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


class _Running:
    def __init__(self, connection: socket.socket, out: Sink, error: Sink, source: StandardInput | None) -> None:
        self._connection, self._out, self._error, self._source = connection, out, error, source
        connection.setblocking(False)

    def close(self) -> None:
        self._connection.close()  # if it still runs the launcher ends it now
        self._out.close()
        self._error.close()
        if self._source is not None:
            self._source.close()

    async def finish(self, command: Command, handling: Handling) -> Finished:
        started = time.monotonic()
        timed_out = False
        answer = asyncio.ensure_future(ended(self._connection, command))
        try:
            done, _ = await asyncio.wait([answer], timeout=handling.timeout_s)
            if not done:
                timed_out = True
                await self._stop(answer, handling.grace_s)
            status = await answer
        finally:
            answer.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await asyncio.gather(self._out.ended.wait(), self._error.ended.wait())
        return self._finished(status, timed_out=timed_out, started=started)

    async def _stop(self, answer: asyncio.Future[dict[str, Any]], grace_s: float) -> None:
        """Its time is over: ask it to end if there is a grace, then end everything in the workspace."""
        if grace_s > 0:
            self._say(TERMINATE)
            await asyncio.wait([answer], timeout=grace_s)
        self._say(KILL)
        done, _ = await asyncio.wait([answer], timeout=PATIENCE_S)
        if not done:
            raise SandboxError("a command could not be ended")

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._connection.send(word)

    def _finished(self, answer: dict[str, Any], *, timed_out: bool, started: float) -> Finished:
        code = os.waitstatus_to_exitcode(answer["status"])
        return Finished(
            stdout=self._out.text,
            stderr=self._error.text,
            exit_code=TIMED_OUT if timed_out else 128 - code if code < 0 else code,
            signal=-code if code < 0 else None,
            timed_out=timed_out,
            duration_ms=round((time.monotonic() - started) * 1000),
            dropped_bytes=self._out.dropped + self._error.dropped,
            exceeded=answer.get("exceeded"),
        )
