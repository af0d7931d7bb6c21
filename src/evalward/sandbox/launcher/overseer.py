"""Runs one program for whoever started us, and ends it with all that it has started.

It gets what to run over a socket, so that no key stands in an environment that is not the program's own, and ends
everything when the other side closes it: also when that was killed. It is root where the other side is, so that the
program, which never is, can't end it. Loaded without `site`, as the launcher is.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from functools import partial
from typing import NamedTuple

from evalward.sandbox.launcher import kernel
from evalward.sandbox.launcher.members import PAUSE_S, ROUNDS, Members

GRACE_S = 5.0  # for a program that is asked to end
LOOK_S = 0.05  # between two looks at it, where the kernel tells nothing
_SIZE = struct.Struct("!I")
_MOST = 4 << 20  # bytes of an order: arguments and environment of one program


class ProgramOrder(NamedTuple):
    """What to run: arguments, environment, folder; and as which user, `None` for whoever we are."""

    words: list[str]
    env: dict[str, str]
    folder: str
    user: int | None

    def written(self) -> bytes:
        """As it goes over the socket."""
        data = json.dumps([self.words, self.env, self.folder, self.user]).encode()
        return _SIZE.pack(len(data)) + data


class ProgramAnswer(NamedTuple):
    """How the program ended, a signal as its negative number; or why it could not be started."""

    exit_code: int | None = None
    error: str = ""

    def written(self) -> bytes:
        """As it goes over the socket."""
        return json.dumps([self.exit_code, self.error]).encode()

    @classmethod
    def read(cls, data: bytes) -> ProgramAnswer:
        """What the overseer said; nothing where it was ended before."""
        try:
            return cls(*json.loads(data))
        except (ValueError, TypeError):
            return cls(error="its overseer was ended")


def read_order(control: socket.socket) -> ProgramOrder | None:
    """The order, `None` when the other side went before it was complete."""
    head = _exactly(control, _SIZE.size)
    if head is None or (size := _SIZE.unpack(head)[0]) > _MOST:
        return None
    data = _exactly(control, size)
    return None if data is None else ProgramOrder(*json.loads(data))


def _exactly(control: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        part = control.recv(min(size - len(data), 1 << 16))
        if not part:
            return None
        data += part
    return data


def oversee(control: socket.socket) -> ProgramAnswer:
    """Run what is ordered until it ends, a byte asks for its end, or the other side goes."""
    order = read_order(control)
    if order is None:
        return ProgramAnswer(error="there was no order")
    try:
        program = subprocess.Popen(  # noqa: S603 - what the configuration that judges names
            order.words,
            env=order.env,
            cwd=order.folder,
            stdin=subprocess.DEVNULL,
            stdout=sys.stdout.fileno(),
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=order.user,
            group=order.user,
            extra_groups=None if order.user is None else [],
            preexec_fn=partial(_enter, os.getpid(), os.geteuid() == 0 and order.user is None),  # noqa: PLW1509 - no threads
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return ProgramAnswer(error=getattr(error, "strerror", None) or "its arguments can't be used")
    try:
        _until_end(program, control)
    finally:
        _end_all(program)
    return ProgramAnswer(program.returncode)


def _enter(overseer: int, strip: bool) -> None:
    """In the program's process, before it begins: it ends with us, and, where it is root, is so in name only."""
    if sys.platform != "linux":
        return
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != overseer:
        os._exit(1)
    if strip:
        kernel.drop_capabilities()


def _until_end(program: subprocess.Popen[bytes], control: socket.socket) -> None:
    """Until the program has ended by itself, or asked to; at once when the other side is gone."""
    life = [os.pidfd_open(program.pid)] if hasattr(os, "pidfd_open") else []
    while program.poll() is None:
        readable = select.select([control.fileno(), *life], [], [], None if life else LOOK_S)[0]
        if control.fileno() in readable:
            if control.recv(1):
                _signal(program, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(GRACE_S)
            return


def _signal(program: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.killpg(program.pid, number)


def _end_all(program: subprocess.Popen[bytes]) -> None:
    """The program, its group, and whatever left the group: on Linux they are our descendants wherever they went."""
    _signal(program, signal.SIGKILL)
    program.wait()
    if sys.platform == "linux":
        Members(None, namespace=False).end(_reap)
        _reap_all()


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _reap_all() -> None:
    """Take notice of all that were ended: of those too that came to us when their parents were."""
    with contextlib.suppress(ChildProcessError):
        for _ in range(ROUNDS):
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(PAUSE_S)


def main() -> None:
    """The argument is the number of the socket's descriptor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    if sys.platform == "linux":
        kernel.hide_memory()
        kernel.become_subreaper()
        kernel.no_new_privileges()
    found = oversee(control)
    with contextlib.suppress(OSError):
        control.sendall(found.written())
