"""The virtual interpreter: bashkit, on a file system that exists only in memory, in a process of its own.

That process stands behind the same walls as real commands: whoever breaks out of the interpreter is still inside. It
loads nothing from the working directory, which may be a stranger's. A script can crash the interpreter (a stack
overflow is enough). Then that one trial is an error of the sandbox; the run, and every other trial, goes on.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import contextlib
import json
import os
import posixpath
import select
import socket
import sysconfig
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalward.records.base import clean_text
from evalward.sandbox.base import Execution, FileType, SandboxError
from evalward.sandbox.launcher.plan import Command
from evalward.sandbox.process.client import LauncherClient, LauncherSocket
from evalward.sandbox.process.probe import Layers, strongest, yard

if TYPE_CHECKING:
    from evalward.sandbox.process.places import Copied

HOME = "/home/eval"
USER = "eval"
HOST = "bashkit-eval"

MAX_COMMANDS = 10_000
MAX_LOOP_ITERATIONS = 10_000
MAX_MEMORY = 64 * 1024 * 1024  # bytes of files
FILE_LIMITS = "a file may have 10 MB, a name 255 bytes, a case 10,000 files"
GRACE_S = 5.0  # bashkit ends a script itself at its time limit; only if it doesn't do we
CRASHED = "the interpreter crashed"
MOST_FREE = 64  # children that wait for their next shell
MOST_USES = 500  # shells after which a child is replaced, whatever it may have leaked
_CHUNK = 1 << 16


@cache
def bashkit_version() -> str:
    """The version of the interpreter, part of the subject of every run that uses it."""
    from importlib.metadata import version  # noqa: PLC0415 - only when a sandbox is used

    return version("bashkit")


@dataclass(eq=False)
class _Connection:
    """One child: its socket, its process, and what it has said that nobody has read yet."""

    socket: socket.socket
    unread: bytes = b""
    uses: int = 0

    def is_idle(self) -> bool:
        """Whether a free child still waits for its next shell: one that ended has closed its socket."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not poll.poll(0)


class _Workers:
    """The process that forks the children, and those that are free.

    It is started when the first shell is made and ended with this process. A child serves one shell after the other,
    each with an interpreter of its own; one that broke is never used again.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a shell may be collected, and released, while we hold it
        self._started: _Started | None = None
        self._free: list[_Connection] = []
        # A shell that is collected in a cycle must find its socket alive: so the socket is held here, outside of it.
        self._lent: set[_Connection] = set()

    def connect(self) -> _Connection:
        """A free child, or a new one, whose first line is still to be read."""
        with self._lock:
            if self._started is not None and self._started.has_ended():
                self._end()  # and those that are free have ended with it
            connection = self._waiting() or self._forked()
            self._lent.add(connection)
            return connection

    def _waiting(self) -> _Connection | None:
        """A free child; those that ended meanwhile, for want of memory, are given up."""
        while self._free:
            connection = self._free.pop()
            if connection.is_idle():
                return connection
            connection.socket.close()
        return None

    def _forked(self) -> _Connection:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                try:
                    socket.send_fds(self._running(), [b"."], [theirs.fileno()])
                except OSError:
                    self._end()  # it was killed: by an operator, or for want of memory. Another one, once
                    socket.send_fds(self._running(), [b"."], [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        return _Connection(ours)

    def discard(self, connection: _Connection) -> None:
        """Close a child that can't be used any more."""
        with self._lock:
            self._lent.discard(connection)
        connection.socket.close()

    def release(self, connection: _Connection) -> None:
        """Give back a child that is idle."""
        with self._lock:
            self._lent.discard(connection)
            if self._started is not None and len(self._free) < MOST_FREE and connection.uses < MOST_USES:
                self._free.append(connection)
                return
        connection.socket.close()

    def start(self) -> None:
        """Start the process, unless it runs. Raises `SandboxError`."""
        with self._lock:
            self._running()

    def _running(self) -> socket.socket:
        if self._started is None:
            self._started = _start()
        return self._started.control

    def stop(self) -> None:
        """End the process and all its children."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        started, free = self._started, self._free
        self._started, self._free = None, []
        for connection in free:
            connection.socket.close()
        if started is not None:
            started.end()


@dataclass(frozen=True)
class _Started:
    """The process and its walls. `command`: while it is open the process runs."""

    client: LauncherClient
    command: socket.socket
    control: socket.socket
    held: contextlib.ExitStack

    def has_ended(self) -> bool:
        """Was it killed: by an operator, or for want of memory?"""
        poll = select.poll()
        poll.register(self.control, 0)
        return bool(poll.poll(0))

    def end(self) -> None:
        self.control.close()
        self.command.close()
        self.client.close()
        self.held.close()


def _start() -> _Started:
    """Raises `SandboxError`."""
    _, started = strongest(_start_behind)
    return started


def _start_behind(walls: Layers, patience_s: float, spares: list[LauncherSocket]) -> _Started:
    with contextlib.ExitStack() as held:
        library = os.path.realpath(sysconfig.get_path("stdlib"))  # of which modules may be loaded later
        plan = held.enter_context(yard(walls))._replace(worker=True, readable=[library])
        client = LauncherClient(plan, patience_s, spares)
        held.callback(client.close)
        control, theirs = socket.socketpair()
        held.callback(control.close)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            with theirs:
                command = client.start([theirs.fileno(), nothing, nothing])
        finally:
            os.close(nothing)
        held.callback(command.close)
        command.sendall(Command([], {}, "/", []).dump())
        return _Started(client, command, control, held.pop_all())
    raise AssertionError("unreachable")


_WORKERS = _Workers()
atexit.register(_WORKERS.stop)


def start_early() -> None:
    """Start the interpreters' process while we load something else. Who needs a shell and gets none learns why."""

    def start() -> None:
        with contextlib.suppress(SandboxError):
            _WORKERS.start()

    threading.Thread(target=start, daemon=True).start()


class VirtualShell:
    """One bashkit interpreter: user `eval`, host `bashkit-eval`, no network, bounded time, loops, output and files."""

    def __init__(self, files: Mapping[str, str], timeout_s: float) -> None:
        """Start with these files (path: text); each script may take `timeout_s` seconds."""
        self._limit = timeout_s + GRACE_S
        self._idle = False
        try:
            self._child = _WORKERS.connect()
            self._child.socket.settimeout(self._limit)
        except OSError as error:
            raise SandboxError(f"the virtual shell could not be made: {error}") from error
        self._owed: list[Callable[[VirtualShell, Any], None]] = [VirtualShell._started]
        self._child.uses += 1
        self._idle = True
        options = {
            "username": USER,
            "hostname": HOST,
            "cwd": HOME,
            "env": {"HOME": HOME, "USER": USER},
            "timeout_seconds": timeout_s,
            "max_commands": MAX_COMMANDS,
            "max_loop_iterations": MAX_LOOP_ITERATIONS,
            "max_memory": MAX_MEMORY,
        }
        with self._crashes_told():
            self._child.socket.sendall(
                _line("start", options, HOME, {_absolute(p): clean_text(t) for p, t in files.items()})
            )

    async def ready(self) -> None:
        """Wait for the interpreter while others work. Whoever doesn't waits in their first question.

        Raises `SandboxError` when it can't be made as it was asked for.
        """
        async with self._patience():
            await self._settle()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give the interpreter's process back. A shell that nobody holds any more closes itself."""
        if not getattr(self, "_idle", False):
            return
        self._idle = False
        if self._owed:  # an answer is still under way: the next shell would take it for its own
            _WORKERS.discard(self._child)
        else:
            _WORKERS.release(self._child)

    async def run(self, script: str) -> Execution:
        """Run a script in the state that the earlier ones left."""
        started = time.monotonic()
        async with self._patience():
            await self._settle()
            await asyncio.get_running_loop().sock_sendall(self._child.socket, _line("run", clean_text(script)))
            stdout, stderr, exit_code = await self._heard()
        return Execution(stdout, stderr, exit_code, round((time.monotonic() - started) * 1000))

    def file_type(self, path: str) -> FileType | None:
        """What is at the path: bashkit's own answer, relative paths from the home folder."""
        return cast("FileType | None", self._ask("type", _absolute(path)))

    def read_file(self, path: str) -> bytes | None:
        """The bytes of a regular file."""
        content = self._ask("read", _absolute(path))
        return None if content is None else base64.b64decode(content)

    def files(self) -> dict[str, bytes | None]:
        """All files with their content and, as `None`, all folders; devices and what the kernel shows are left out."""
        found: dict[str, str | None] = self._ask("files")
        return {path: None if text is None else base64.b64decode(text) for path, text in found.items()}

    @property
    def home(self) -> str:
        """What relative paths count from."""
        return HOME

    async def copy_out(self, files: Path, elsewhere: Path, most_mb: int) -> Copied:
        """Copy what the scripts left: the home folder, and what else lies there but the interpreter's own programs.

        A link becomes the file that it leads to; one that leads to a folder is left out.
        """
        from evalward.sandbox.virtual_copy import copy_out  # noqa: PLC0415 - few suites have graders

        return await asyncio.to_thread(copy_out, self, files, elsewhere, most_mb << 20)

    # --- the conversation with the process --------------------------------------------------------------------------

    def _started(self, refused: list[str]) -> None:
        if refused:  # bashkit passes over what it doesn't take, and the target would be blamed for it
            raise SandboxError(f"the virtual shell didn't take the file {refused[0]!r}: {FILE_LIMITS}")

    @contextlib.contextmanager
    def _crashes_told(self) -> Iterator[None]:
        """Around any exchange with the process."""
        if not self._idle:
            raise SandboxError("the virtual shell is closed, or failed before")
        try:
            yield
        except OSError as error:
            self._kill()
            raise SandboxError(CRASHED) from error

    @contextlib.asynccontextmanager
    async def _patience(self) -> AsyncIterator[None]:
        """Around an exchange that others needn't wait for. What was broken off can't be used any more."""
        with self._crashes_told():
            self._child.socket.setblocking(False)
            try:
                async with asyncio.timeout(self._limit):
                    yield
            except TimeoutError as error:
                self._kill()
                raise SandboxError(f"the virtual shell didn't stop after {self._limit:g} s") from error
            except asyncio.CancelledError:
                self._kill()
                raise
            self._child.socket.settimeout(self._limit)

    async def _settle(self) -> None:
        while self._owed:
            self._owed.pop(0)(self, await self._heard())

    async def _heard(self) -> Any:
        """The next answer."""
        while b"\n" not in self._child.unread:
            self._take(await asyncio.get_running_loop().sock_recv(self._child.socket, _CHUNK))
        return self._answer()

    def _ask(self, *request: Any) -> Any:
        """A question whose answer takes no time."""
        with self._crashes_told():
            while self._owed:
                self._owed.pop(0)(self, self._heard_at_once())
            self._child.socket.sendall(_line(*request))
            return self._heard_at_once()

    def _heard_at_once(self) -> Any:
        while b"\n" not in self._child.unread:
            self._take(self._child.socket.recv(_CHUNK))
        return self._answer()

    def _take(self, data: bytes) -> None:
        if not data:
            self._kill()
            raise SandboxError(f"{CRASHED}, or was killed for want of memory")
        self._child.unread += data

    def _answer(self) -> Any:
        line, _, self._child.unread = self._child.unread.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise SandboxError(f"the virtual shell failed: {answer['error']}")
        return answer["ok"]

    def _kill(self) -> None:
        """Give up a process that can't be relied on any more: it is ended when it finds its socket closed."""
        self._idle = False
        _WORKERS.discard(self._child)


def _line(*request: Any) -> bytes:
    return json.dumps(request).encode() + b"\n"


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join(HOME, clean_text(path)))
