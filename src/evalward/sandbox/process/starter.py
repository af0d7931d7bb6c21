"""A process of root's that starts launchers and claims user ids for an ordinary user. It has no key and opens nothing.

Whoever opens a stranger's files need not be root for it: see `launching`. One request is one byte, and a launcher's
control socket with it; the answer is a descriptor: of the launcher's process, or of the claim of an id.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

from evalward.sandbox.base import SandboxError
from evalward.sandbox.process.launching import Launching, start_here
from evalward.sandbox.process.users import take_user

START, CLAIM, REFUSED = b"S", b"C", b"!"
_MOST = 64


def serve(asked: socket.socket, asker: int) -> None:
    """Until the other side closes: then the launchers end by themselves."""
    started: list[subprocess.Popen[bytes]] = []
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, 1, 1)
        if not request:
            return
        started = [process for process in started if process.poll() is None]  # what has ended is reaped here
        try:
            answer, found = _claimed() if request == CLAIM else _started(descriptors, asker, started)
        except (OSError, SandboxError):
            answer, found = REFUSED, -1
        for descriptor in descriptors:
            os.close(descriptor)
        socket.send_fds(asked, [answer], [found] if found >= 0 else [])
        if found >= 0:
            os.close(found)


def _started(descriptors: list[int], asker: int, started: list[subprocess.Popen[bytes]]) -> tuple[bytes, int]:
    with socket.socket(fileno=os.dup(descriptors[0])) as control:
        process = start_here(control, asker)
    started.append(process)
    return START, os.pidfd_open(process.pid)


def _claimed() -> tuple[bytes, int]:
    user = take_user()
    if user is None or user.claim is None:
        return REFUSED, -1
    return CLAIM + str(user.number).encode(), user.claim


@dataclass(frozen=True)
class Elsewhere:
    """A launcher that the starter has started; `life` is readable when it has ended."""

    life: int

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        poll = select.poll()
        poll.register(self.life, select.POLLIN)
        if not poll.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("launcher", timeout or 0)
        return 0

    def kill(self) -> None:
        """It ends by itself when its control socket closes."""

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.life)


class Starter:
    """Our end of the connection to the starter, for all threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def launching(self) -> Launching:
        """This way of starting launchers."""
        return Launching(self.start, privileged=True, claim=self.claim)

    def start(self, control: socket.socket) -> Elsewhere:
        """Have a launcher started with this control socket. Raises `OSError`."""
        answer, descriptors = self._asked(START, [control.fileno()])
        if answer != START or not descriptors:
            raise OSError("the launcher was refused")
        return Elsewhere(descriptors[0])

    def claim(self) -> tuple[int, int] | None:
        """A user id for a workspace, and what holds it; `None` when all are taken. Raises `SandboxError`."""
        try:
            answer, descriptors = self._asked(CLAIM, [])
        except OSError as error:
            raise SandboxError("user ids can't be claimed: the process that claims them has ended") from error
        number = answer.removeprefix(CLAIM)
        if not descriptors or not number.isdigit():
            return None
        return int(number), descriptors[0]

    def _asked(self, request: bytes, descriptors: list[int]) -> tuple[bytes, list[int]]:
        with self._lock:
            socket.send_fds(self._connection, [request], descriptors)
            answer, found, _, _ = socket.recv_fds(self._connection, _MOST, 1)
        if not answer:
            raise OSError("the process that starts launchers has ended")
        return answer, found


def main() -> None:
    """The arguments are the number of the connection's descriptor and the user at its other end."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)
    serve(connection, int(sys.argv[2]))
