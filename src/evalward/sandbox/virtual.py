"""The virtual interpreter: bashkit, on a file system that exists only in memory, in a process of its own.

A script can crash the interpreter (a stack overflow is enough). Then that one trial is an error of the sandbox; the
run, and every other trial, goes on.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import contextlib
import json
import os
import posixpath
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from evalward.records.base import clean_text
from evalward.sandbox.base import Execution, FileType, SandboxError

HOME = "/home/eval"
USER = "eval"
HOST = "bashkit-eval"

MAX_COMMANDS = 10_000
MAX_LOOP_ITERATIONS = 10_000
MAX_MEMORY = 64 * 1024 * 1024  # bytes of files
FILE_LIMITS = "a file may have 10 MB, a name 255 bytes, a case 10,000 files"
GRACE_S = 5.0  # bashkit ends a script itself at its time limit; only if it doesn't do we
CRASHED = "the interpreter crashed"
MOST_FREE = 16  # children that wait for their next shell
MOST_USES = 500  # shells after which a child is replaced, whatever it may have leaked
_CHUNK = 1 << 16


@cache
def bashkit_version() -> str:
    """The version of the interpreter, part of the subject of every run that uses it."""
    from importlib.metadata import version  # noqa: PLC0415 - only when a sandbox is used

    return version("bashkit")


@dataclass
class _Connection:
    """One child: its socket, its process, and what it has said that nobody has read yet."""

    socket: socket.socket
    pid: int = 0
    unread: bytes = b""
    uses: int = 0


class _Workers:
    """The process that forks the children, and those that are free.

    It is started when the first shell is made and ended with this process. A child serves one shell after the other,
    each with an interpreter of its own; one that broke is never used again.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a shell may be collected, and released, while we hold it
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._free: list[_Connection] = []

    def connect(self) -> _Connection:
        """A free child, or a new one, whose first line is still to be read."""
        with self._lock:
            if self._free:
                return self._free.pop()
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    socket.send_fds(self._running(), [b"."], [theirs.fileno()])
                except OSError:
                    self._end()  # it was killed: by an operator, or for want of memory. Another one, once
                    socket.send_fds(self._running(), [b"."], [theirs.fileno()])
            return _Connection(ours)

    def release(self, connection: _Connection) -> None:
        """Give back a child that is idle."""
        with self._lock:
            if self._control is not None and len(self._free) < MOST_FREE and connection.uses < MOST_USES:
                self._free.append(connection)
                return
        connection.socket.close()

    def _running(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair()
            # Nothing of our environment, which may hold keys: only where Python finds its modules.
            env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"}
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
                    [sys.executable, "-m", "evalward.sandbox.worker", str(theirs.fileno())],
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        return self._control

    def stop(self) -> None:
        """End the process and the children that are free; the others end when their shells are closed."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        control, process, free = self._control, self._process, self._free
        self._control, self._process, self._free = None, None, []
        for connection in free:
            connection.socket.close()
        if control is not None:
            control.close()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2)


_WORKERS = _Workers()
atexit.register(_WORKERS.stop)


class VirtualShell:
    """One bashkit interpreter: user `eval`, host `bashkit-eval`, no network, bounded time, loops, output and files."""

    def __init__(self, files: Mapping[str, str], timeout_s: float) -> None:
        """Start with these files (absolute path: text); each script may take `timeout_s` seconds."""
        self._timeout_s = timeout_s
        self._idle = False
        try:
            self._child = _WORKERS.connect()
            self._child.socket.settimeout(timeout_s + GRACE_S)
            if not self._child.uses:
                self._child.pid = self._answer(self._line())
        except OSError as error:
            raise SandboxError(f"the virtual shell could not be made: {error}") from error
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
        refused = self._ask("start", options, HOME, {path: clean_text(text) for path, text in files.items()})
        if refused:  # bashkit passes over what it doesn't take, and the target would be blamed for it
            raise SandboxError(f"the virtual shell didn't take the file {refused[0]!r}: {FILE_LIMITS}")

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give the interpreter's process back. A shell that nobody holds any more closes itself."""
        if getattr(self, "_idle", False):
            self._idle = False
            _WORKERS.release(self._child)

    async def run(self, script: str) -> Execution:
        """Run a script in the state that the earlier ones left."""
        self._refuse_broken()
        started = time.monotonic()
        limit = self._timeout_s + GRACE_S
        self._child.socket.setblocking(False)
        try:
            async with asyncio.timeout(limit):
                stdout, stderr, exit_code = self._answer(await self._asked("run", clean_text(script)))
        except TimeoutError as error:
            self._kill()
            raise SandboxError(f"the virtual shell didn't stop after {limit:g} s") from error
        except asyncio.CancelledError:
            self._kill()
            raise
        self._child.socket.settimeout(limit)
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

    # --- the conversation with the process --------------------------------------------------------------------------

    def _refuse_broken(self) -> None:
        if not self._idle:
            raise SandboxError("the virtual shell is closed, or has broken before")

    def _ask(self, *request: Any) -> Any:
        self._refuse_broken()
        try:
            self._child.socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._line()
        except OSError as error:
            self._kill()
            raise SandboxError(CRASHED) from error
        return self._answer(line)

    def _line(self) -> bytes:
        while b"\n" not in self._child.unread:
            self._take(self._child.socket.recv(_CHUNK))
        return self._split()

    async def _asked(self, *request: Any) -> bytes:
        loop = asyncio.get_running_loop()
        connection = self._child.socket
        try:
            await loop.sock_sendall(connection, json.dumps(request).encode() + b"\n")
            while b"\n" not in self._child.unread:
                self._take(await loop.sock_recv(connection, _CHUNK))
        except OSError as error:
            self._kill()
            raise SandboxError(CRASHED) from error
        return self._split()

    def _take(self, data: bytes) -> None:
        if not data:
            self._kill()
            raise SandboxError(f"{CRASHED}, or was killed for want of memory")
        self._child.unread += data

    def _split(self) -> bytes:
        line, _, self._child.unread = self._child.unread.partition(b"\n")
        return line

    def _answer(self, line: bytes) -> Any:
        answer = json.loads(line)
        if "error" in answer:
            raise SandboxError(f"the virtual shell broke: {answer['error']}")
        return answer["ok"]

    def _kill(self) -> None:
        """End a process that can't be relied on any more."""
        self._idle = False
        self._child.socket.close()
        if self._child.pid:
            with contextlib.suppress(OSError):
                os.kill(self._child.pid, signal.SIGKILL)


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join(HOME, clean_text(path)))
