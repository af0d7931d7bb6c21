"""A process that has loaded modules and forks itself: a Python that starts in milliseconds. See `warm`.

Started as a script, with Python's options and the environment that the processes shall have: SOCKET MODULES... A module
that ends with `.*` stands for a package and all below it. It ends when its standard input closes; what it has started
goes on. Standard library only, and no thread: it forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LENGTH = 8  # bytes in front of an order
FIRST_FREE = 3
MOST_OPEN = 1 << 20


@dataclass(frozen=True)
class Order:
    """A process that is wanted: `program` is what follows `-c`, descriptors are numbered as the process sees them."""

    program: str
    arguments: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    descriptors: Sequence[int]
    new_session: bool = False
    user: int | None = None
    group: int | None = None
    groups: Sequence[int] | None = None
    places: Mapping[str, str] = field(default_factory=dict)


def preload(names: Sequence[str]) -> None:
    """Import them, and leave the search path as it was."""
    path = list(sys.path)
    tests = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(tests.parent / "src"), str(tests)]
    for name in names:
        package = name.removesuffix(".*")
        module = importlib.import_module(package)
        if package != name:
            for found in pkgutil.walk_packages(module.__path__, f"{package}."):
                importlib.import_module(found.name)
    sys.path[:] = path


def complete() -> None:
    """Build the records' validators, which are built when they are first used: else each process builds its own."""
    base = sys.modules.get("evalward.records.base")
    todo = [base.Record] if base is not None else []
    while todo:
        model = todo.pop()
        todo += model.__subclasses__()
        model.model_rebuild(raise_errors=False)


def threads() -> int:
    """How many threads this process has: whoever has more than one can't fork safely."""
    return len(list(Path("/proc/self/task").iterdir()))


def receive(connection: socket.socket) -> tuple[Order, list[int]]:
    """An order, and the descriptors that belong to it."""
    head, descriptors, _, _ = socket.recv_fds(connection, LENGTH, 100)
    size, data = int.from_bytes(head, "big"), b""
    try:
        while len(data) < size or not size:
            part = connection.recv(size - len(data))
            if not part:
                raise EOFError("whoever orders has gone")
            data += part
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise
    return Order(**json.loads(data)), descriptors


def become(order: Order, descriptors: Sequence[int]) -> None:
    """In the new process: be what was ordered."""
    place(order.descriptors, descriptors)
    if order.new_session:
        os.setsid()
    os.chdir(order.cwd)
    if order.groups is not None:
        os.setgroups(list(order.groups))
    if order.group is not None:
        os.setregid(order.group, order.group)
    if order.user is not None:
        os.setreuid(order.user, order.user)
    os.environ.clear()
    os.environ.update(order.env)
    time.tzset()
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv[:] = ["-c", *order.arguments]
    tempfile.tempdir = None  # it remembers our environment's
    if "support.warm" in sys.modules:
        sys.modules["support.warm"].use(order.places)


def place(wanted: Sequence[int], descriptors: Sequence[int]) -> None:
    """Give descriptors the numbers that are wanted, and close all others."""
    room = max([FIRST_FREE, *wanted, *descriptors]) + 1
    for offset, descriptor in enumerate(descriptors):
        os.dup2(descriptor, room + offset, inheritable=False)
    for offset, number in enumerate(wanted):
        os.dup2(room + offset, number)
    last = FIRST_FREE
    for number in sorted(number for number in wanted if number >= FIRST_FREE):
        os.closerange(last, number)
        last = number + 1
    os.closerange(last, MOST_OPEN)


class Server:
    """Forks for whoever connects, tells the number of the process, and at its end how it ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, tuple[int, socket.socket]] = {}  # by the descriptor of the process

    def serve(self) -> Order | None:
        """Returns in every new process, with what it shall do; in this one, when nobody is left: `None`."""
        poll = select.poll()
        for descriptor in (0, self._listener.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == 0:
                    return None
                if descriptor != self._listener.fileno():
                    poll.unregister(descriptor)
                    self._reap(descriptor)
                    continue
                order = self._fork(poll)
                if order is not None:
                    return order

    def _fork(self, poll: Any) -> Order | None:
        connection, _ = self._listener.accept()
        try:
            order, descriptors = receive(connection)
        except (OSError, EOFError, ValueError):  # whoever ordered was killed meanwhile: others still want processes
            connection.close()
            return None
        pid = os.fork()
        if pid == 0:
            for ours in (self._listener, connection, *(one for _, one in self._running.values())):
                ours.detach()  # else it would close its number when it is forgotten, whatever has it by then
            become(order, descriptors)
            return order
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(OSError):  # gone meanwhile
            connection.sendall(pid.to_bytes(LENGTH, "big"))
        life = os.pidfd_open(pid)
        self._running[life] = pid, connection
        poll.register(life, select.POLLIN)
        return None

    def _reap(self, life: int) -> None:
        pid, connection = self._running.pop(life)
        os.close(life)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError):  # nobody wants to know any more
            connection.sendall(code.to_bytes(LENGTH, "big", signed=True))
        connection.close()


def open_descriptors() -> Iterator[int]:
    """Those of this process, without the three usual ones."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) >= FIRST_FREE and os.path.exists(f"/proc/self/fd/{name}"):  # noqa: PTH110
            yield int(name)


def start() -> Order | None:
    """Load, listen, serve."""
    place, *names = sys.argv[1:]
    preload(names)
    complete()
    if threads() != 1 or list(open_descriptors()):
        raise SystemExit("a module that was loaded has started a thread or opened a file: none of us can be forked")
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    print("ready", flush=True)  # noqa: T201
    return Server(listener).serve()


def run(order: Order) -> int:
    """Do what was ordered, as `python -c` would; the exit code."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        exec(compile(order.program, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        return _code(end.code)
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _code(given: object) -> int:
    if given is None or isinstance(given, int):
        return (given or 0) & 0xFF
    print(given, file=sys.stderr)  # noqa: T201 - as Python does
    return 1


def end(code: int) -> None:
    """What an interpreter does at its end, without taking down what was loaded: that takes longer than a start."""
    threading._shutdown()  # type: ignore[attr-defined]  # wait for the threads that are no daemons
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        code = 120
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ordered = start()
    if ordered is not None:
        end(run(ordered))
