"""The process in which bashkit runs: what a model types may crash the interpreter, and must not take the run with it.

The sandbox's launcher loads this module, builds its walls and calls `serve_all` behind them, once. From there it only
forks: one child for every descriptor that it receives. A child serves requests on its descriptor until it is closed.
Requests and answers are JSON, one a line; this file knows nothing of the rest of Evalward.
"""

from __future__ import annotations

import base64
import contextvars  # noqa: F401 - bashkit loads it late, when this process may not reach any file
import json
import os
import resource
import select
import signal
import socket
import threading  # noqa: F401 - as above
from collections.abc import Callable, Iterator
from typing import Any

import bashkit

MAX_ADDRESS_SPACE = 4 << 30  # bytes; bashkit bounds files and output itself, this is for what it forgets
KERNEL_FOLDERS = frozenset({"/dev", "/proc", "/sys"})


class Interpreter:
    """One bashkit shell and what can be asked of it. Every method takes and returns JSON values."""

    def __init__(self) -> None:
        self._bash: Any = None
        self._fs: Any = None

    def start(self, options: dict[str, Any], home: str, files: dict[str, str]) -> list[str]:
        """Make the shell; the files that bashkit did not take."""
        mounted: dict[str, str | Callable[[], str]] = {**files}
        self._bash = bashkit.Bash(files=mounted, **options)
        self._fs = self._bash.fs()
        if self.type(home) != "file":
            self._fs.mkdir(home, recursive=True)  # where files are mounted, bashkit shows it but has none
        return [path for path in files if self.type(path) != "file"]

    def run(self, script: str) -> list[Any]:
        """Run a script: stdout, stderr, exit code."""
        result = self._bash.execute_sync(script)
        return [result.stdout, result.stderr, result.exit_code]

    def type(self, path: str) -> str | None:
        """`file`, `directory`, `other`, or nothing."""
        try:
            kind = str(self._fs.stat(path)["file_type"])
        except RuntimeError:  # bashkit's "not found", and any path that it can't make sense of
            return None
        return kind if kind in {"file", "directory"} else "other"

    def read(self, path: str) -> str | None:
        """The bytes of a regular file, in base64."""
        if self.type(path) != "file":
            return None
        try:
            return base64.b64encode(bytes(self._fs.read_file(path))).decode("ascii")
        except RuntimeError:
            return None

    def files(self) -> dict[str, str | None]:
        """All files with their content and, as nothing, all folders; without what the kernel shows."""
        found: dict[str, str | None] = {}
        for path, kind in self._walk("/"):
            found[path] = self.read(path) if kind == "file" else None
        return found

    def _walk(self, folder: str) -> Iterator[tuple[str, str]]:
        folders = [folder]
        while folders:
            here = folders.pop()
            try:
                entries = self._fs.read_dir(here)
            except RuntimeError:  # a script may have removed it, even the root
                continue
            for entry in entries:
                path = os.path.join(here, entry["name"])  # noqa: PTH118 - a path of the virtual system
                if path in KERNEL_FOLDERS:
                    continue
                kind = str(entry["metadata"]["file_type"])
                if kind == "directory":
                    folders.append(path)
                yield path, kind


def serve(connection: socket.socket) -> None:
    """Answer requests `[method, argument…]` with `{"ok": …}` or `{"error": …}` until the other side closes."""
    shell = Interpreter()
    methods: dict[str, Callable[..., Any]] = {
        "start": shell.start,
        "run": shell.run,
        "type": shell.type,
        "read": shell.read,
        "files": shell.files,
    }
    with connection.makefile("rwb") as stream:
        for line in stream:
            name, *arguments = json.loads(line)
            try:
                answer = {"ok": methods[name](*arguments)}
            except BaseException as error:  # a panic in the interpreter is none of Python's ordinary exceptions
                answer = {"error": f"{type(error).__name__}: {error}"}
            stream.write(json.dumps(answer).encode() + b"\n")
            stream.flush()


def _child(connection: socket.socket) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # its files exist only in memory
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(hard, MAX_ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        serve(connection)
    except (OSError, ValueError):
        os._exit(1)  # the other side has gone
    os._exit(0)


class _Children:
    """Those at work, each with our copy of its socket: so we see that its shell was given up, and end it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._sockets: dict[int, socket.socket] = {}
        self._wake, self._wake_up = socket.socketpair()
        for end in (self._wake, self._wake_up):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake_up.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the other side closes."""
        while True:
            poll = select.poll()
            for end in (self._control, self._wake):
                poll.register(end, select.POLLIN)
            for end in self._sockets.values():
                poll.register(end, 0)  # only its end is of interest
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake.fileno() in ready:
                self._wake.recv(1 << 12)
            self._reap()
            for process, end in self._sockets.items():
                if end.fileno() in ready:
                    os.kill(process, signal.SIGKILL)  # not yet reaped, so the number is still its own
            if self._control.fileno() in ready and not self._hear():
                return

    def _reap(self) -> None:
        while self._sockets:
            process, _ = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            self._sockets.pop(process).close()

    def _hear(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        for descriptor in descriptors:
            connection = socket.socket(fileno=descriptor)
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for end in (self._control, self._wake, self._wake_up, *self._sockets.values()):
                    end.close()
                _child(connection)
            self._sockets[process] = connection
        return bool(message)


def serve_all(descriptor: int) -> None:
    """Fork a child for every descriptor that comes over the socket; end when the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's business: it ends us by closing
    _Children(socket.socket(fileno=descriptor)).serve()
