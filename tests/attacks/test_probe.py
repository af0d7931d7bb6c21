"""What this machine offers is found out without harm to anybody, and never guessed lower than it is."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.plan import SandboxPlan, load_plan
from evalward.sandbox.launcher.serve import read_line, say
from evalward.sandbox.process import launching, probe, users
from evalward.sandbox.process.client import LauncherClient, LauncherSocket, SandboxRefusedError
from evalward.sandbox.process.probe import Layers, candidates, strongest
from evalward.sandbox.process.users import take_user

pytestmark = pytest.mark.cold

PR_CAPBSET_DROP, CAP_SYS_ADMIN = 24, 21  # as in the kernel's headers
TESTS = Path(__file__).resolve().parents[1]


def only_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has user ids to give")


@contextmanager
def claimed() -> Iterator[int]:
    """A user id whose processes nothing ends that runs beside us."""
    user = take_user()
    assert user is not None
    try:
        yield user.number
    finally:
        user.release()


@contextmanager
def bystander(number: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a user that has nothing to do with us."""
    process = subprocess.Popen(["sleep", "600"], user=number, group=number, extra_groups=[])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_probe_ends_nobody_elses_processes() -> None:
    only_root()
    with claimed() as one, claimed() as two, bystander(one) as first, bystander(two) as second:
        for wanted in candidates():
            probe.works(wanted)
        assert (first.poll(), second.poll()) == (None, None)


def test_probes_at_the_same_time_find_the_same() -> None:
    found: list[Layers] = []

    def look() -> None:
        for _ in range(3):
            found.append(strongest(probe._try)[0])

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert len(set(found)) == 1


def test_why_a_wall_cant_be_built_names_no_folder_of_this_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(f'{{"error": "mount {tmp_path}/proc: not permitted", "number": 1}}\n'.encode())
        launcher = SimpleNamespace(control=ours, close=lambda _: None)
        monkeypatch.setattr(LauncherSocket, "start", lambda: launcher)
        with pytest.raises(SandboxRefusedError) as error:
            LauncherClient(SandboxPlan(str(tmp_path), [], str(tmp_path)))
    assert str(error.value) == "the sandbox could not be built: mount /proc: not permitted"


# --- ids ------------------------------------------------------------------------------------------------------------


def test_an_id_is_claimed_until_it_is_given_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(users, "claims_folder", lambda: tmp_path)
    monkeypatch.setattr(users, "LAST", users.FIRST + 1)
    one, two = take_user(), take_user()
    assert one is not None
    assert two is not None
    assert one.number != two.number
    assert take_user() is None
    other = one.number
    one.release()
    one.release()
    again = take_user()
    assert again is not None
    assert again.number == other
    again.release()
    two.release()


def test_an_id_at_work_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only_root()
    with claimed() as number, bystander(number):
        monkeypatch.setattr(users, "claims_folder", lambda: tmp_path)
        monkeypatch.setattr(users, "FIRST", number)
        monkeypatch.setattr(users, "LAST", number)
        assert take_user() is None


def test_a_claim_ends_with_its_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(users, "claims_folder", lambda: tmp_path)
    monkeypatch.setattr(users, "LAST", users.FIRST)
    child = os.fork()
    if child == 0:
        take_user()
        os._exit(0)
    os.waitpid(child, 0)
    taken = take_user()
    assert taken is not None
    taken.release()


@pytest.mark.parametrize("squatter", ["link", "open to all", "file"])
def test_a_folder_for_claims_that_is_not_ours_alone_is_refused(
    squatter: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(users.tempfile, "gettempdir", lambda: str(tmp_path))  # type: ignore[attr-defined]
    monkeypatch.setattr(users.os, "access", lambda *_: False)  # type: ignore[attr-defined]
    place = tmp_path / f"evalward-users-{os.geteuid()}"
    if squatter == "link":
        place.symlink_to(tmp_path)
    elif squatter == "file":
        place.touch()
    else:
        place.mkdir()
        place.chmod(0o777)
    with pytest.raises(SandboxError, match="not a private folder of this user"):
        take_user()


# --- attempts -------------------------------------------------------------------------------------------------------

STRONG, WEAK = Layers(namespaces=True), Layers(landlock=True)


class Machine:
    """A machine that fails as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *failures: Exception) -> None:
        monkeypatch.setattr(probe, "candidates", lambda: iter([STRONG, WEAK]))
        self.failures, self.tried = list(failures), list[tuple[Layers, float]]()

    def build(self, wanted: Layers, patience_s: float, _: list[LauncherSocket]) -> str:
        self.tried.append((wanted, patience_s))
        if wanted == STRONG and self.failures:
            raise self.failures.pop(0)
        return "built"


def test_a_busy_machine_is_asked_again_with_more_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    late = SandboxError("the sandbox's launcher gave no answer: timed out")
    machine = Machine(monkeypatch, late, SandboxRefusedError("no memory", errno.ENOMEM))
    assert strongest(machine.build) == (STRONG, "built")
    patience = [patience_s for _, patience_s in machine.tried]
    assert patience == sorted(set(patience))


@pytest.mark.parametrize(
    "failure", [SandboxError("killed"), SandboxRefusedError("no memory", errno.ENOMEM)], ids=["killed", "no memory"]
)
def test_a_machine_that_gives_no_answer_is_an_error_and_no_weaker_wall(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    machine = Machine(monkeypatch, *[failure] * 10)
    with pytest.raises(SandboxError, match="3 times") as caught:
        strongest(machine.build)
    assert not isinstance(caught.value, SandboxRefusedError)
    assert {wanted for wanted, _ in machine.tried} == {STRONG}


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSPC])
def test_what_the_machine_refuses_is_told(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    machine = Machine(monkeypatch, *[SandboxRefusedError("not to be", number)] * 3)
    if number == errno.EPERM:
        machine.failures = machine.failures[:1]
    found, _ = strongest(machine.build)
    assert (found.landlock, found.namespaces) == (True, False)
    assert found.note == "no own process and mount namespace: not to be"
    assert "not to be" in found.isolation("open").note


class Refusing:
    """Starts launchers of which each refuses what needs a namespace, as a container's kernel does, and waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, waits: bool) -> None:
        self.waits, self.started, self.asked = waits, list[threading.Thread](), list[bool]()
        monkeypatch.setattr(launching, "_CHOSEN", [launching.Launching(self.start, privileged=False)])

    def start(self, control: socket.socket) -> Refusing:
        self.started.append(threading.Thread(target=self._serve, args=[control.dup()]))
        self.started[-1].start()
        return self

    def _serve(self, control: socket.socket) -> None:
        with control:
            while line := read_line(control):
                plan = load_plan(line)
                self.asked.append(plan.namespaces)
                if not plan.namespaces:
                    say(control, ok=True)
                    continue
                say(control, error="not to be", number=errno.EPERM, waits=self.waits)
                if not self.waits:
                    return

    def wait(self, timeout: float | None = None) -> int:
        self.started[-1].join(timeout)
        return 0

    def kill(self) -> None:
        raise AssertionError("it ends when its socket closes")


@pytest.mark.parametrize("waits", [True, False])
def test_a_launcher_that_refuses_and_waits_is_asked_again(monkeypatch: pytest.MonkeyPatch, *, waits: bool) -> None:
    machine = Refusing(monkeypatch, waits=waits)
    monkeypatch.setattr(probe, "candidates", lambda: iter([STRONG, STRONG, WEAK]))
    assert strongest(probe._try)[0].landlock
    assert machine.asked == [True, True, False]
    assert len(machine.started) == (1 if waits else 3)
    assert not any(thread.is_alive() for thread in machine.started)


def test_root_without_the_right_to_make_namespaces_starts_one_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in GitHub's container: what the kernel refuses there leaves a launcher as it was."""
    only_root()
    started = list[subprocess.Popen[bytes]]()

    def start(control: socket.socket) -> subprocess.Popen[bytes]:
        words, libc = launching.launcher_words(control.fileno()), ctypes.CDLL(None)
        drop = partial(libc.prctl, PR_CAPBSET_DROP, CAP_SYS_ADMIN)
        started.append(subprocess.Popen(words, env={}, pass_fds=[control.fileno()], preexec_fn=drop))  # noqa: PLW1509 - one thread
        return started[-1]

    monkeypatch.setattr(launching, "_CHOSEN", [launching.Launching(start, privileged=True)])
    assert not strongest(probe._try)[0].namespaces
    assert len(started) == 1


def test_a_launcher_that_nothing_could_be_built_with_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Refusing(monkeypatch, waits=True)
    assert not probe.works(STRONG)
    assert (len(machine.started), machine.started[0].is_alive()) == (1, False)


def test_collecting_tests_asks_nothing_of_the_machine(tmp_path: Path) -> None:
    """Two workers that find different walls at collection end a whole test run."""
    (tmp_path / "no_probe.py").write_text(
        "from evalward.sandbox.process import client\n"
        "def refuse(*_, **__):\n    raise RuntimeError('the machine was asked')\n"
        "client.LauncherClient.__init__ = refuse\n"
        "def pytest_runtest_setup():\n    raise RuntimeError('collection only')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no_probe", "-p", "no:xdist", "--no-header"]
        + [str(TESTS / name) for name in ("attacks", "unit/sandbox", "integration/sandbox", "integration/bash")],
        cwd=TESTS.parent,
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:]


def test_a_launcher_that_stops_is_not_taken_for_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(control: object) -> launching.LauncherProcess:
        process = subprocess.Popen(["sleep", "600"])
        process.send_signal(signal.SIGSTOP)
        return process

    monkeypatch.setattr(probe, "PATIENCE_S", 0.05)
    monkeypatch.setattr(launching, "_CHOSEN", [launching.Launching(stopped, privileged=False)])
    with pytest.raises(SandboxError, match="can't be said"):
        strongest(probe._try)
