"""Processes of ours that start in milliseconds: forks of one that has loaded what they need.

An `evalward` command starts a Python, loads a second's worth of modules, and has a runner, a starter and launchers
started, each with its own. Where that beginning isn't what is tested, the same program runs in a fork of `warm_server`:
a process of its own with the arguments, environment, descriptors, user and folder that were asked for. Tests of the
beginning are marked `cold`: what `python` itself does with environment and memory is real there.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Protocol

from support.warm_server import LENGTH, Order

EVALWARD = Path(sys.executable).with_name("evalward")
SERVER = Path(__file__).with_name("warm_server.py")
PATIENCE_S = 900.0
LONGEST_FOLDER = 60  # characters: a socket's address has room for 107
AVAILABLE = sys.platform == "linux"  # elsewhere everything starts cold
FIRST_ENVIRONMENT = {"FIRST_ENVIRONMENT": "canary-5b20c4-of-the-first-environment"}
"""What `/proc/self/environ` tells in the servers' forks: the system shows what a process began with, not what it has.

Nobody finds it in `os.environ`; who prints it has read that file.
"""
_PYTHON = ("-I", "-X", "utf8")


@dataclass(frozen=True)
class Kind:
    """A kind of process: Python's options, and what is loaded."""

    options: Sequence[str]
    modules: Sequence[str]


KINDS: Mapping[str, Kind] = {
    "launcher": Kind(("-I", "-S", "-X", "utf8"), ["evalward.sandbox.launcher.program"]),
    "starter": Kind(_PYTHON, ["support.warm", "evalward.sandbox.process.starter"]),
    "runner": Kind(
        _PYTHON,
        [
            *("support.warm", "re2", "evalward.runner.*", "evalward.suites.*", "evalward.engine.*"),
            *("evalward.sandbox.process.*", "evalward.targets.agents.*", "evalward.targets.programs"),
            *("evalward.targets.replay", "evalward.targets.scripted", "evalward.targets.per_task"),
        ],
    ),
    "command": Kind(
        _PYTHON,
        [
            *("support.warm", "support.anew", "support.loaded_sdks", "evalward.cli"),
            *("evalward.action", "evalward.commands.*", "evalward.keeper.*", "evalward.github.*"),
            *("evalward.targets.models.*", "evalward.importers.*", "evalward.render.*", "evalward.decide.*"),
            *("evalward.suites.bash.kind", "evalward.suites.bash.evidence", "evalward.suites.bash.trial_sections"),
            *("evalward.suites.bash.diagnose", "evalward.suites.judge.shown", "tabulate"),
        ],
    ),
}
OF_A_COMMAND = ("launcher", "starter", "runner")  # what is started by it
COMMAND = (
    "import gc, sys; from evalward.edge import FEWER_COLLECTIONS; gc.set_threshold(FEWER_COLLECTIONS); "  # as `entry`
    "from support import anew; anew.use(); sys.argv[0] = 'evalward'; from evalward.cli import main; main()"
)

SCRIPT = (
    "import runpy, sys; from pathlib import Path; sys.argv.pop(0); sys.path.insert(0, str(Path(sys.argv[0]).parent)); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)

_places: dict[str, str] = {}  # of the servers' sockets, by kind
_servers: list[subprocess.Popen[bytes]] = []  # those of ours
_starting = threading.Lock()


class WarmProcess:
    """A process under way, as `subprocess.Popen` shows it."""

    def __init__(self, kind: str, order: Order, descriptors: Sequence[int]) -> None:
        """Have it forked. Raises `OSError`."""
        data = json.dumps(asdict(order)).encode()
        self._connection = socket.socket(socket.AF_UNIX)
        try:
            self._connection.connect(order.places[kind])
            socket.send_fds(self._connection, [len(data).to_bytes(LENGTH, "big")], list(descriptors))
            self._connection.sendall(data)
            self.pid = int.from_bytes(self._connection.recv(LENGTH), "big")
        except OSError:
            self._connection.close()
            raise
        self.args = order.arguments
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, when it has ended."""
        with_end, _, _ = ([], [], []) if self.returncode is not None else select.select([self._connection], [], [], 0)
        return self.wait() if with_end else self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            answer = self._connection.recv(LENGTH)
            self._connection.close()
            if not answer:
                raise AssertionError("the server of warm processes has ended before its process")
            self.returncode = int.from_bytes(answer, "big", signed=True)
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()


# --- in the place of subprocess ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WarmSubprocess:
    """The module `subprocess` for one of our modules: the programs that it starts run in forks, all others as ever."""

    programs: Mapping[str, str]  # kind by the text of the program
    DEVNULL: int = subprocess.DEVNULL
    PIPE: int = subprocess.PIPE
    TimeoutExpired: type[Exception] = subprocess.TimeoutExpired

    def Popen(self, words: Sequence[str], **given: Any) -> Any:  # noqa: N802 - the name of what it stands for
        """Start a process."""
        kind, program, arguments = self._of(words)
        if kind is None or not Path(given.get("cwd") or ".").is_dir():
            return subprocess.Popen(words, **given)
        return _forked(kind, program, arguments, **given)

    def _of(self, words: Sequence[str]) -> tuple[str | None, str, Sequence[str]]:
        if "-c" not in words:
            return None, "", ()
        start = words.index("-c") + 1
        return self.programs.get(words[start]), words[start], words[start + 1 :]


def _forked(
    kind: str,
    program: str,
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | Path,
    stdin: int,
    stdout: int,
    stderr: Any,
    pass_fds: Sequence[int] = (),
    start_new_session: bool = False,
    user: int | None = None,
    group: int | None = None,
    extra_groups: Sequence[int] | None = None,
) -> WarmProcess:
    null = os.open(os.devnull, os.O_RDWR)
    streams = (stdin, stdout, stderr)
    try:
        usual = [
            null if one == subprocess.DEVNULL else one if isinstance(one, int) else one.fileno() for one in streams
        ]
        order = Order(
            program=program,
            arguments=list(arguments),
            env=dict(env),
            cwd=str(Path(cwd).absolute()),
            descriptors=[0, 1, 2, *pass_fds],
            new_session=start_new_session,
            user=user,
            group=group,
            groups=None if extra_groups is None else list(extra_groups),
            places=places(*OF_A_COMMAND),
        )
        return WarmProcess(kind, order, [*usual, *pass_fds])
    finally:
        os.close(null)


def use(known: Mapping[str, str] = {}) -> None:
    """From here on what our modules start is forked by servers: by the known ones, or by servers of ours."""
    if not AVAILABLE:
        return
    _places.update(known)
    for module, programs in _started_by().items():
        module.subprocess = WarmSubprocess(programs)  # type: ignore[attr-defined]


def in_use() -> bool:
    """Does what starts here start warm?"""
    return any(isinstance(module.__dict__["subprocess"], WarmSubprocess) for module in _started_by())


def use_none() -> None:
    """Everything is started as users start it."""
    for module in _started_by():
        module.subprocess = subprocess  # type: ignore[attr-defined]


def _started_by() -> dict[ModuleType, Mapping[str, str]]:
    """Of the modules that are loaded: which programs they start."""
    keeper = sys.modules.get("evalward.keeper.process")
    launching = sys.modules.get("evalward.sandbox.process.launching")
    found: dict[ModuleType, Mapping[str, str]] = {}
    if keeper is not None:
        found[keeper] = {keeper.PROGRAM: "runner", keeper.STARTER: "starter"}
    if launching is not None:
        found[launching] = {launching.PROGRAM: "launcher"}
    return found


# --- the servers ------------------------------------------------------------------------------------------------------


def places(*kinds: str) -> Mapping[str, str]:
    """The places of the servers' sockets; each server is started once, and ended with this process."""
    with _starting:
        starting = {kind: _start(kind, _folder() / kind) for kind in kinds if kind not in _places}
        for kind, server in starting.items():
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n", f"no server of warm processes: {kind}"
            _places[kind] = str(_folder() / kind)
    return _places


@cache
def _folder() -> Path:
    usual = tempfile.gettempdir()
    where = usual if len(usual) < LONGEST_FOLDER else "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="evalward-warm-", dir=where))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _start(kind: str, place: Path) -> subprocess.Popen[bytes]:
    """It ends when our end of its input closes, and that is with us."""
    words = [sys.executable, *KINDS[kind].options, str(SERVER), str(place), *KINDS[kind].modules]
    server = subprocess.Popen(
        words, env=FIRST_ENVIRONMENT, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    _servers.append(server)
    return server


@atexit.register
def _end() -> None:
    """What they have forked ends before them: the interpreters' process may have been started after the last test."""
    virtual = sys.modules.get("evalward.sandbox.virtual")
    if virtual is not None:
        virtual._WORKERS.stop()
    for server in _servers:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.close()
        server.stdout.close()
        server.wait()


# --- the command line -------------------------------------------------------------------------------------------------


class WarmCommand(WarmProcess):
    """`evalward`, or another program, in a process of its own.

    Its outputs are kept in files, or one goes to a descriptor of the test's.
    """

    def __init__(
        self,
        *words: str | Path,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int | None = None,
        program: str = COMMAND,
    ) -> None:
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - closed when read
        with Path(os.devnull).open("rb") as null:
            order = Order(
                program=program,
                arguments=[str(word) for word in words],
                env=dict(env),
                cwd=str(cwd.absolute()),
                descriptors=[0, 1, 2],
                places=places(*KINDS),
            )
            out = self._out.fileno() if stdout is None else stdout
            super().__init__("command", order, [null.fileno(), out, self._err.fileno()])

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it said, when it has ended. Raises `subprocess.TimeoutExpired`."""
        self.wait(timeout)
        out, err = (_whole(stream) for stream in (self._out, self._err))
        return out, err


def _whole(stream: IO[bytes]) -> str:
    with stream:
        stream.seek(0)
        return stream.read().decode("utf-8")


class Command(Protocol):
    """`evalward` under way, warm or not."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def communicate(self, *, timeout: float | None = None) -> tuple[str, str]: ...
    def send_signal(self, number: signal.Signals) -> None: ...
    def kill(self) -> None: ...


def start_evalward(*words: str | Path, cwd: Path, env: Mapping[str, str], stdout: int | None = None) -> Command:
    """Start the command; in a test that is marked `cold` as users do. What it prints goes to `stdout`: to a terminal,
    or to whoever doesn't read it.
    """
    if in_use():
        return WarmCommand(*words, cwd=cwd, env=env, stdout=stdout)
    return subprocess.Popen(
        [EVALWARD, *words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def evalward(*words: str | Path, cwd: Path | None = None, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, which is no crash of ours."""
    return ended(start_evalward(*words, cwd=cwd or Path.cwd(), env=env), *words)


def ended(process: Command, *words: str | Path, timeout: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
    """What it left, when it has ended, which is no crash of ours."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it didn't end:\n{err}") from None
    assert "Traceback" not in err + out, err
    return subprocess.CompletedProcess([str(word) for word in words], process.wait(), out, err)
