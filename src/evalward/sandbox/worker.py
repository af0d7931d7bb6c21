"""The process in which bashkit runs: what a model types may crash the interpreter, and must not take the run with it.

`python -m evalward.sandbox.worker FD` is started once. It imports bashkit and then only forks: one child for every file
descriptor that it receives over the socket FD. A child serves requests on its descriptor until it is closed. Requests
and answers are JSON, one a line; this file knows nothing of the rest of Evalward.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import socket
import sys
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
        stream.write(json.dumps({"ok": os.getpid()}).encode() + b"\n")
        stream.flush()
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
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_ADDRESS_SPACE if hard == resource.RLIM_INFINITY else min(hard, MAX_ADDRESS_SPACE)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        serve(connection)
    except (OSError, ValueError):
        os._exit(1)  # the other side has gone
    os._exit(0)


def main() -> None:
    """Fork a child for every descriptor that comes; end when the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's business: it ends us by closing
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        for descriptor in descriptors:
            if os.fork() == 0:
                control.close()
                _child(socket.socket(fileno=descriptor))
            os.close(descriptor)


if __name__ == "__main__":
    main()
