"""Our end of a launcher: it is started, asked and ended here."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.descend import FoundPath, SymbolicLink
from evalward.sandbox.launcher.plan import SandboxPlan
from evalward.sandbox.launcher.serve import END, GIVE, LISTEN, OPEN, START, TAKE, read_line, receive
from evalward.sandbox.process.launching import LauncherProcess, launching

PATIENCE_S = 30.0  # for what takes the launcher milliseconds, on a machine that has none left
LAST_BREATH_S = 5.0  # a machine that is busy takes its time to tell of an end
_MOST = 1 << 12
_MOST_PATH = 1 << 17  # a path that the kernel takes has 4096 bytes, and JSON may need six for each


@dataclass(frozen=True)
class LauncherSocket:
    """A launcher's process and our end of the socket over which it is asked."""

    control: socket.socket
    process: LauncherProcess

    @classmethod
    def start(cls) -> LauncherSocket:
        """Start one. It waits for a plan. Raises `SandboxError`."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                return cls(ours, launching().start(theirs))
        except OSError as error:
            ours.close()
            raise SandboxError(f"the sandbox's launcher could not be started: {error}") from error

    def close(self, patience_s: float = PATIENCE_S) -> None:
        """It ends everything, then itself. When this returns nothing of its sandbox runs any more."""
        self.control.close()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()  # with a process namespace all in it end too
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)


class SandboxRefusedError(SandboxError):
    """The machine doesn't let us build this sandbox. `number`: the `errno` that it gave.

    `waits`: the launcher is as it was before it was asked, and takes another plan.
    """

    def __init__(self, message: str, number: int | None, *, waits: bool = False) -> None:
        super().__init__(message)
        self.number, self.waits = number, waits


class LauncherClient:
    """One launcher and everything in its sandbox."""

    def __init__(
        self, plan: SandboxPlan, patience_s: float = PATIENCE_S, spares: list[LauncherSocket] | None = None
    ) -> None:
        """Start it and wait until its sandbox stands. Raises `SandboxError`, `SandboxRefusedError` where it can't.

        `spares`: where a launcher is taken from, and left when it refuses and waits for another plan. To start one
        takes longer than to ask it.
        """
        self._lock = threading.Lock()  # requests that wait for an answer are made in threads
        self._launcher = spares.pop() if spares else LauncherSocket.start()
        self._control = self._launcher.control
        self._patience_s, self._root = patience_s, plan.root
        self._control.settimeout(patience_s)
        try:
            self._control.sendall(plan.dump())
            self._confirmed(read_line(self._control))
        except BaseException as error:
            if spares is not None and isinstance(error, SandboxRefusedError) and error.waits:
                spares.append(self._launcher)
                raise
            self.close()
            if isinstance(error, OSError):
                raise SandboxError(f"the sandbox's launcher gave no answer: {error}") from error
            raise

    def start(self, streams: Sequence[int]) -> socket.socket:
        """Hand over standard input, output and error of a command; the socket over which to say what it is."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                socket.send_fds(self._control, [START], [theirs.fileno(), *streams])
        except OSError as error:
            ours.close()
            raise SandboxError("the sandbox is closed, or its launcher was killed") from error
        return ours

    def listen(self) -> socket.socket:
        """A socket that listens on the sandbox's loopback address, ours to accept on."""
        with self._lock:
            try:
                self._control.sendall(LISTEN)
                answer, descriptors = receive(self._control, _MOST, 1)
            except OSError as error:
                raise SandboxError("the sandbox is closed, or its launcher was killed") from error
            self._confirmed(answer)
        return socket.socket(fileno=descriptors[0])

    def end_all(self) -> None:
        """End every process in the sandbox; it can still be used."""
        self._ask(END)

    def give(self) -> None:
        """Everything in the sandbox's folders becomes the commands'."""
        self._ask(GIVE)

    def take(self) -> None:
        """End every process; then everything in the sandbox's folders becomes the owner's, who can read it all."""
        self._ask(TAKE)

    def _ask(self, request: bytes) -> None:
        with self._lock:
            try:
                self._control.sendall(request)
                self._confirmed(read_line(self._control))
            except OSError as error:
                raise SandboxError("the sandbox is closed, or its launcher was killed") from error

    def lost(self) -> bool:
        """True when the launcher has ended although nobody closed it: an operator killed it, or the system did."""
        try:
            self._launcher.process.wait(LAST_BREATH_S)  # its sockets close a moment before it can be seen to have ended
        except subprocess.TimeoutExpired:
            return False
        return True

    def open(self, root: str, names: Sequence[str]) -> FoundPath | SymbolicLink | None:
        """What is there, opened by the launcher: see `descend`."""
        with self._lock:
            try:
                self._control.sendall(OPEN + json.dumps([root, *names]).encode() + b"\n")
                line, descriptors = receive(self._control, _MOST_PATH, 1)
            except OSError as error:
                raise SandboxError("the sandbox is closed, or its launcher was killed") from error
        self._confirmed(line)
        answer = json.loads(line)
        if "target" in answer:
            return SymbolicLink(answer["depth"], answer["target"])
        kind = answer["kind"]
        return None if kind is None else FoundPath(descriptors[0] if descriptors else None, kind)

    def close(self) -> None:
        """End everything. When this returns nothing of the sandbox runs any more."""
        with self._lock:
            self._launcher.close(self._patience_s)

    def _confirmed(self, line: bytes) -> None:
        if not line:
            raise SandboxError("the sandbox's launcher ended unexpectedly")
        answer = json.loads(line)
        if "error" in answer:
            said = answer["error"].replace(self._root, "")  # a name of this once, which would be news in each report
            why, waits = f"the sandbox could not be built: {said}", answer.get("waits", False)
            raise SandboxRefusedError(why, answer.get("number"), waits=waits)
