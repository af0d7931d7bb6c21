"""The runner's process: started with nothing of our environment that could be a secret, ended with us."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from evalward.edge import FEWER_COLLECTIONS, NO_PLUGINS, SOURCE, harmless
from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.users import as_user
from evalward.sandbox.process.users import OwnUser, end_all_of, take_user

PROGRAM = (
    f"import gc, sys; gc.set_threshold({FEWER_COLLECTIONS}); sys.path.insert(0, sys.argv.pop()); "
    "from evalward.runner.service import main; main()"
)
STARTER = "import sys; sys.path.insert(0, sys.argv.pop()); from evalward.sandbox.process.starter import main; main()"
PATIENCE_S = 25.0  # for ending its sandboxes
SAID_LIMIT = 10_000  # bytes of its last words

NOT_FOR_THE_RUNNER = re.compile(r"(GITHUB_(?!ACTIONS$)|RUNNER_|XDG_|HOME$|USER$|LOGNAME$|.*_?PROXY$).*", re.IGNORECASE)
"""Harmless, and none of its business: files of the workflow, ways out."""


def runner_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Of an environment, what the runner may know."""
    return {name: value for name, value in harmless(env).items() if not NOT_FOR_THE_RUNNER.fullmatch(name)}


_PYTHON = (sys.executable, "-I", "-X", "utf8", "-c")


def own_user(folder: Path) -> OwnUser | None:
    """A user id of its own for a runner that works in this folder; `None` where we are not root.

    Also `None` where another user could not work: in a folder, or with a Python, that only root may open. The runner
    is then as we are, and has no keys all the same.
    """
    if os.geteuid() != 0 or sys.platform != "linux":
        return None
    user = take_user()
    if user is not None and not _can_work(user.number, folder):
        user.release()
        return None
    return user


def _can_work(user: int, folder: Path) -> bool:
    """Try it."""

    def tried() -> bool:
        paths = sysconfig.get_paths()
        readable: list[str | Path] = [folder, SOURCE, paths["stdlib"], paths["purelib"], paths["platlib"]]
        return (
            os.access(sys.executable, os.X_OK)
            and os.access(tempfile.gettempdir(), os.W_OK | os.X_OK)
            and all(os.access(place, os.R_OK | os.X_OK) for place in readable)
        )

    return as_user(user, tried)


def _wait_for(pid: int) -> None:
    """Until the process has ended, or patience has: without delay, where `subprocess` looks now and then."""
    if not hasattr(os, "pidfd_open"):
        return
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [], PATIENCE_S)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _starter(user: OwnUser | None, started: list[subprocess.Popen[bytes]]) -> Iterator[socket.socket | None]:
    """Who starts launchers for a runner that is not root: it is, and has no key. It ends with the runner."""
    if user is None:
        yield None
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
            [*_PYTHON, STARTER, str(theirs.fileno()), str(user.number), SOURCE],
            env={"PATH": os.defpath},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        started.append(process)
        theirs.close()
        yield ours


class RunnerProcess:
    """A runner and our end of the connection to it."""

    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        """Start it. Raises `OSError`."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._user = own_user(cwd)
        self._starters: list[subprocess.Popen[bytes]] = []
        self.connection, theirs = socket.socketpair()
        try:
            with theirs, _starter(self._user, self._starters) as starter:
                passed = [theirs.fileno(), *([starter.fileno()] if starter is not None else [])]
                number = None if self._user is None else self._user.number
                self._process = subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
                    [*_PYTHON, PROGRAM, *map(str, passed), SOURCE],
                    env={**runner_environment(env), **NO_PLUGINS},
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._said,
                    pass_fds=passed,
                    start_new_session=True,  # a terminal's Ctrl-C is for us: we pass it on
                    user=number,
                    group=number,
                    extra_groups=None if number is None else [],
                )
        except BaseException:
            self.connection.close()
            self._said.close()
            if self._user is not None:
                self._user.release()
            raise

    @property
    def user(self) -> int | None:
        """The user id that it alone has; `None` where it is as we are."""
        return None if self._user is None else self._user.number

    def signal(self, number: signal.Signals) -> None:
        """Pass a signal on."""
        with contextlib.suppress(OSError):
            self._process.send_signal(number)

    def ended(self) -> tuple[str, str]:
        """How it ended, when its end of the connection is closed; and for a log, what it said last."""
        try:
            code = self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "it closed the connection", ""
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - SAID_LIMIT))
        stderr = self._said.read().decode("utf-8", "replace").strip()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return how, stderr

    def close(self) -> None:
        """Wait for its end; by force, if it takes too long. The connection has to be closed before."""
        _wait_for(self._process.pid)
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._said.close()
        if self._user is not None:
            end_all_of(self._user.number)  # it may have started what doesn't end with it
            for starter in self._starters:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    starter.wait(PATIENCE_S)
            self._user.release()


_EARLY: list[tuple[Path, RunnerProcess]] = []


def start_early(env: Mapping[str, str], cwd: Path) -> None:
    """Start a runner now: it loads what it needs while we load what we need. Whoever starts it ends an unused one."""
    if any(folder == cwd for folder, _ in _EARLY):
        return
    with contextlib.suppress(OSError, SandboxError):  # whoever wants it will be told
        _EARLY.append((cwd, RunnerProcess(env, cwd)))


def started(env: Mapping[str, str], cwd: Path) -> RunnerProcess:
    """The runner that was started early, or a new one. Raises `OSError`."""
    if _EARLY and _EARLY[0][0] == cwd:
        return _EARLY.pop()[1]
    return RunnerProcess(env, cwd)


def end_unused() -> None:
    """End the runner that was started early and that nothing needed. In time: an interpreter that ends can't fork."""
    while _EARLY:
        process = _EARLY.pop()[1]
        process.connection.close()
        process.signal(signal.SIGKILL)  # it has been asked for nothing, and may not have loaded yet
        process.close()
