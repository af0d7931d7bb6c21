"""The launcher at work: it starts what it is asked to, tells how it ended, and watches what all of it takes."""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
from typing import Any, NoReturn

from evalward.sandbox.launcher.cgroups import Group
from evalward.sandbox.launcher.child import BROKEN, become
from evalward.sandbox.launcher.descend import FoundPath, SymbolicLink, descend
from evalward.sandbox.launcher.kernel import remove_messages
from evalward.sandbox.launcher.members import Members
from evalward.sandbox.launcher.owners import hand_over
from evalward.sandbox.launcher.plan import SandboxPlan, load_command
from evalward.sandbox.launcher.users import as_user
from evalward.sandbox.launcher.watch import LOOK_EVERY_S, Watch

START, LISTEN, END, QUIT = b"S", b"L", b"E", b"Q"  # what we are asked over the control socket
GIVE, TAKE, OPEN = b"G", b"T", b"O"
TERMINATE, KILL = b"T", b"K"  # and over a command's own


def read_line(connection: socket.socket) -> bytes:
    """One line, however long; nothing when the other side has gone."""
    text = b""
    while not text.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            return b""
        text += more
    return text


def receive(connection: socket.socket, most: int, descriptors: int) -> tuple[bytes, list[int]]:
    """Some bytes and the descriptors that came with them. No command inherits them, as from `socket.recv_fds`."""
    found = array.array("i")
    room = socket.CMSG_SPACE(descriptors * found.itemsize)
    data, ancillary, _, _ = connection.recvmsg(most, room, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    for descriptor in found:
        os.set_inheritable(descriptor, False)
    return data, list(found)


def say(connection: socket.socket, **words: Any) -> None:
    """Say something to whoever may still listen."""
    try:
        connection.sendall(json.dumps(words).encode() + b"\n")
    except OSError:
        return


def _kill(process: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, signal.SIGKILL)


class LauncherServer:
    """Serves one control socket until it is closed."""

    def __init__(self, control: socket.socket, plan: SandboxPlan, group: Group | None = None) -> None:
        self._control, self._plan, self._group = control, plan, group
        self._members = Members(plan.user, namespace=plan.namespaces)
        self._commands: dict[int, socket.socket] = {}  # process id → the command's own socket
        self._exceeded: str | None = None
        self._watch, self._watching = Watch(plan, self._members), False
        self._wake, wake_up = socket.socketpair()
        self._wake.setblocking(False)
        wake_up.setblocking(False)
        self._wake_up = wake_up
        signal.set_wakeup_fd(wake_up.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the other side closes; then everything ends."""
        while self._once():
            pass
        self._members.end(self._reap)
        if self._plan.user is not None and not self._plan.namespaces:
            self._remove_messages(self._plan.user)

    @staticmethod
    def _remove_messages(user: int) -> None:
        """What was left for the next one with this id. As that user: not every root may remove it."""

        def remove() -> bool:
            remove_messages(user)
            return True

        with contextlib.suppress(ChildProcessError):
            as_user(user, remove)

    def _once(self) -> bool:
        waiting = {connection.fileno(): process for process, connection in self._commands.items()}
        poll = select.poll()
        for descriptor in (self._control.fileno(), self._wake.fileno(), *waiting):
            poll.register(descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(LOOK_EVERY_S * 1000 if self._watching else None)]
        if self._wake.fileno() in ready:
            self._wake.recv(1 << 12)
        self._reap()
        for descriptor in ready:
            if waiting.get(descriptor) in self._commands:
                self._hear(waiting[descriptor])
        if self._watching and self._watch.due():
            self._look()
        return self._control.fileno() not in ready or self._obey()

    def _obey(self) -> bool:
        request, descriptors = receive(self._control, 1, 4)
        if request == START:
            self._start(socket.socket(fileno=descriptors[0]), descriptors[1:])
        elif request == LISTEN:
            self._listen()
        elif request == END:
            self._members.end(self._reap)
            say(self._control, ok=True)
        elif request in {GIVE, TAKE}:
            self._hand_over(give=request == GIVE)
        elif request == OPEN:
            self._open(read_line(self._control))
        return request not in {b"", QUIT}

    # --- commands ---------------------------------------------------------------------------------------------------

    def _start(self, connection: socket.socket, streams: list[int]) -> None:
        line = read_line(connection)
        process = os.fork() if line else -1
        if process == 0:
            self._turn_into(line, connection, streams)
        for descriptor in streams:
            os.close(descriptor)
        if process < 0:
            connection.close()
            return
        if not self._commands:
            self._exceeded = None
        if not self._watching:
            self._watch.begin()
        self._watching = self._watch.wanted
        self._commands[process] = connection

    def _turn_into(self, line: bytes, connection: socket.socket, streams: list[int]) -> NoReturn:
        code = BROKEN
        try:
            if self._group is not None:
                self._group.enter()
            code = become(load_command(line), streams, self._plan)
        except Exception as error:  # whatever it is: the command must not run half restricted
            say(connection, broken=f"{error}")
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if os.WIFSTOPPED(status):  # it made us its debugger, and waits for us to let it go on
                _kill(process)
                continue
            connection = self._commands.pop(process, None)
            if connection is not None:
                if os.WIFSIGNALED(status) and self._group is not None and self._group.out_of_memory():
                    self._exceeded = self._exceeded or "memory"
                say(connection, status=status, exceeded=self._exceeded)
                connection.close()

    def _hear(self, process: int) -> None:
        try:
            request = self._commands[process].recv(1)
        except OSError:
            request = b""
        if request == TERMINATE:
            self._signal(process, signal.SIGTERM)
            return
        self._signal(process, signal.SIGKILL)  # KILL, or nobody waits for it any more
        self._members.end(self._reap)

    def _signal(self, process: int, number: int) -> None:
        try:
            os.killpg(process, number)  # not yet reaped, so the number is still its own
        except OSError:
            return

    def _listen(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.send_fds(self._control, [json.dumps({"ok": True}).encode() + b"\n"], [server.fileno()])

    # --- files ------------------------------------------------------------------------------------------------------

    def _hand_over(self, *, give: bool) -> None:
        """Everything that the commands may change becomes theirs, or, after their end, the owner's again."""
        plan = self._plan
        owner = os.geteuid() if plan.owner is None else plan.owner
        user = owner if plan.user is None else plan.user
        if not give:
            self._members.end(self._reap)
        try:
            for folder in (*plan.folders, *plan.placed):
                hand_over(folder, *((owner, user) if give else (user, owner)))
        except OSError as error:
            say(self._control, error=str(error.strerror or error), number=error.errno)
            return
        say(self._control, ok=True)

    def _open(self, line: bytes) -> None:
        """Open a file or folder of the commands for somebody who may not; links are only told of."""
        root, *names = json.loads(line)
        mine = {*self._plan.folders, *self._plan.placed, *(["/tmp"] if self._plan.namespaces else [])}  # noqa: S108
        try:
            found = descend(root, names) if root in mine and not {"..", ""} & set(names) else None
        except OSError:
            found = None
        if isinstance(found, FoundPath) and found.descriptor is not None:
            if os.fstat(found.descriptor).st_uid in {self._plan.user, self._plan.owner}:
                answer = json.dumps({"ok": True, "kind": found.kind}).encode() + b"\n"
                socket.send_fds(self._control, [answer], [found.descriptor])
                os.close(found.descriptor)
                return
            os.close(found.descriptor)
            found = None  # a hard link to somebody else's
        if isinstance(found, SymbolicLink):
            say(self._control, ok=True, depth=found.depth, target=found.target)
        else:
            say(self._control, ok=True, kind=None if found is None else found.kind)

    # --- what they take ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        self._exceeded = self._exceeded or self._watch.look()
        if self._exceeded is not None:
            self._members.end(self._reap)
        self._watching = bool(self._commands) or self._members.left()
