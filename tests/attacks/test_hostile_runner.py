"""A runner that somebody has taken over: what it can make the keeper do is no more than to believe its measurements."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalward.cli import main
from evalward.keeper import process, session
from evalward.keeper.services import MOST_DOORS
from evalward.sandbox.launcher.plan import OWN_USERS
from evalward.wire import peer
from evalward.wire.errors import OtherSideError
from evalward.wire.frames import Frames, WireError
from evalward.wire.peer import CallingPeer, Incoming, Peer
from evalward.writing import Folder
from support import warm
from support.checkouts import write_checkout
from support.patience import wait_until
from support.processes import is_running

HEAD = """
import errno, os, signal, socket, subprocess, sys, time
sys.path.insert(0, sys.argv.pop())
from evalward.runner import jobs, service
from evalward.wire import messages as m
from evalward.wire.peer import CallFailedError

def refused(name, data=b"null", descriptors=()):
    try:
        keeper.call(name, data, descriptors)
    except CallFailedError:
        return True
    return False

def tell(word):
    keeper.call("say", f"{word}\\n".encode())

def attack(session, data):
    global keeper
    keeper = session.keeper._peer
    exec(ATTACK, globals())
    return measure(session, data)

measure, jobs.JOBS["measure"] = jobs.JOBS["measure"], attack
ATTACK = {attack!r}
service.main()
"""


@dataclass
class Taken:
    """A checkout whose runner is taken over when it measures, and what became of the run."""

    root: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    @property
    def output(self) -> Path:
        return self.root / "out"

    def run(self, attack: str) -> tuple[int, str]:
        self.monkeypatch.setattr(process, "PROGRAM", HEAD.replace("{attack!r}", repr(attack)))
        if warm.in_use():
            warm.use()  # this program, too
        with pytest.raises(SystemExit) as ended:
            main(["check", "--target", "oracle", "--output", str(self.output)])
        code = ended.value.code
        told = self.capsys.readouterr()
        return code if isinstance(code, int) else 0, told.err + told.out


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that a runner with a user id of its own can work in: pytest's are for ours alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def taken(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Taken:
    root = write_checkout(place / "checkout", "command")
    monkeypatch.chdir(root)
    monkeypatch.setattr(process, "PATIENCE_S", 5.0)
    return Taken(root, monkeypatch, capsys)


def skip_without_own_user(place: Path) -> None:
    user = process.own_user(place)
    if user is None:
        pytest.skip("the runner has no user id of its own here")
    user.release()


@pytest.mark.cold
def test_what_it_does_else_is_measured_as_ever(taken: Taken) -> None:
    code, told = taken.run("pass")
    assert (code, (taken.output / "report.json").exists()) == (0, True), told


@pytest.mark.parametrize(
    "attack",
    [
        "raise BrokenPipeError(errno.EPIPE, 'x')",
        "raise KeyboardInterrupt",
        "raise FileNotFoundError(errno.ENOENT, 'x')",
        "raise TimeoutError(errno.ETIMEDOUT, 'x')",
        "measure = lambda *_: b'null'",
        "os._exit(0)",
        "keeper._connection.sendall(b'x' * 30)",
        "keeper._connection.shutdown(socket.SHUT_RDWR); time.sleep(0.1)",
    ],
)
def test_however_it_breaks_off_the_run_is_no_pass_and_not_interrupted(attack: str, taken: Taken) -> None:
    """A failure that travels as an error of the system would end us as if nobody read our output, with success."""
    code, told = taken.run(attack)
    assert code == 3, told
    assert "internal error: " in told or "ended unexpectedly" in told


KEEP = """
here = os.open({source!r}, os.O_RDONLY)
tell(refused("keep_folder", m.written(m.Stored(path="artifacts/stolen")), [here]))
"""


@pytest.mark.cold
def test_it_gives_us_no_folder_that_it_could_not_read_itself(taken: Taken, place: Path) -> None:
    """A descriptor is opened with its rights, and what lies below is read with ours."""
    skip_without_own_user(place)
    folder = place / "open"
    folder.mkdir(mode=0o755)
    (folder / "secret").write_text("canary")
    (folder / "secret").chmod(0o600)
    for source in (folder, Path("/proc") / str(os.getpid()), Path("/etc")):
        code, told = taken.run(KEEP.format(source=str(source)))
        assert (code, told.splitlines()[0]) == (0, "True"), told
    assert not (taken.output / "artifacts" / "stolen").exists()


@pytest.mark.cold
def test_it_gives_us_no_folder_with_a_file_of_somebody_else(taken: Taken, place: Path) -> None:
    skip_without_own_user(place)
    (place / "shared").mkdir()
    (place / "shared").chmod(0o777)
    (place / "shared" / "secret").write_text("canary")
    (place / "shared" / "secret").chmod(0o644)
    own = f"os.mkdir({str(place / 'shared' / 'own')!r}); os.chdir({str(place / 'shared' / 'own')!r})\n"
    linked = "try: os.link('../secret', 'hard')\nexcept OSError: pass\nos.symlink('../secret', 'soft')\n"
    code, told = taken.run(own + linked + "os.mkfifo('pipe')\n" + KEEP.format(source="."))
    assert code == 0, told
    kept = [path for path in taken.output.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert kept == []


def test_a_huge_file_is_not_read_to_its_end(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalward.writing.MOST_COPIED", 1 << 20)
    make = "import tempfile; place = tempfile.mkdtemp(); open(place + '/f', 'wb').truncate(1 << 40)\n"
    code, told = taken.run(make + KEEP.replace("{source!r}", "place") + "import shutil; shutil.rmtree(place)")
    assert (code, told.splitlines()[0]) == (0, "True"), told


@pytest.mark.parametrize("path", ["../x", "/etc/x", "", ".", "a/../../x", "a//b"])
def test_it_names_no_path_outside_of_the_output_folder(path: str, taken: Taken) -> None:
    attack = (
        "import tempfile; here = os.open(tempfile.gettempdir(), os.O_RDONLY)\n"
        f"data = m.written(m.Stored(path={path!r}))\n"
        "found = [refused(name, data, [here]) for name in ('keep_folder', 'remove_folder', 'has')]\n"
        "tell(all(found))"
    )
    code, told = taken.run(attack)
    assert (code, told.splitlines()[0]) == (0, "True"), told


def test_what_it_asks_wrongly_is_refused(taken: Taken) -> None:
    attack = (
        "found = [refused(name, data) for name in ('close', 'exec', '', 'ask', 'keep', 'keep_folder', 'open_door', "
        "'settle', 'base_file', 'checkpoint') for data in (b'', b'null', b'{}', b'[' * 100000, b'\\xff')]\n"
        "tell(all(found))"
    )
    code, told = taken.run(attack)
    assert (code, told.splitlines()[0]) == (0, "True"), told


def test_files_that_it_sends_are_closed(taken: Taken) -> None:
    """Else nothing could be opened any more, neither the report nor a connection."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    seen: list[int] = []
    real = session.RunnerSession.close

    def close(runner: session.RunnerSession) -> None:
        seen.append(len(list(Path("/proc/self/fd").iterdir())))
        real(runner)

    taken.monkeypatch.setattr(session.RunnerSession, "close", close)
    attack = (
        "four = [os.open('/dev/null', os.O_RDONLY) for _ in range(4)]\n"
        "for _ in range(50):\n"
        "    for name in ('exec', 'open_door', 'close', 'keep_folder', 'ask', 'has'): refused(name, b'{}', four)"
    )
    assert taken.run(attack)[0] == 0
    assert seen[0] < before + 50


def test_it_opens_no_more_doors_than_we_have_files_for(taken: Taken) -> None:
    taken.monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "k" * 30)
    attack = (
        "order = m.written(m.AllowanceOrder(target='x', provider='openai', model='gpt-4o'))\n"
        f"found = [refused('open_door', order) for _ in range({MOST_DOORS} + 2)]\n"
        "tell(found.count(False))"
    )
    code, told = taken.run(attack)
    assert (code, told.splitlines()[0]) == (0, str(MOST_DOORS)), told


@pytest.mark.cold
def test_what_it_leaves_running_ends_with_it(taken: Taken, place: Path) -> None:
    skip_without_own_user(place)
    attack = (
        "left = subprocess.Popen(['sleep', '600'], start_new_session=True, stdout=2)\ntell(f'{left.pid} {os.getuid()}')"
    )
    code, told = taken.run(attack)
    number, user = told.splitlines()[0].split()
    assert code == 0
    assert int(user) in OWN_USERS
    wait_until(lambda: not is_running(int(number)))


@pytest.mark.parametrize("whose", ["the folder", "a folder in it", "a file in it"])
def test_of_a_folder_that_somebody_gives_us_only_his_own_files_are_kept(whose: str, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    given, out = tmp_path / "given", Folder(tmp_path / "out")
    (given / "below").mkdir(parents=True)
    (given / "below" / "file").write_text("x")
    (given / "link").symlink_to("/etc/shadow")
    places = {"the folder": given, "a folder in it": given / "below", "a file in it": given / "below" / "file"}
    for place in places.values():
        os.chown(place, OWN_USERS[3], OWN_USERS[3])
    out.put(given, "good", bytes, OWN_USERS[3])
    assert sorted(path.name for path in (tmp_path / "out" / "good").rglob("*")) == ["below", "file"]
    os.chown(places[whose], 0, 0)
    with pytest.raises(PermissionError):
        out.put(given, "bad", bytes, OWN_USERS[3])
    assert out.names() == ["good"]


# --- the connection itself ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("descriptors", [0, 1])
def test_who_does_not_read_keeps_us_only_for_a_while(descriptors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "SEND_S", 1)
    ours, theirs = socket.socketpair()
    one = Peer(ours, lambda _: None)

    def ask_on_and_on(file: int) -> None:
        for _ in range(1_000):
            one.begin("open_door", b"x" * 2_000, [file] * descriptors)

    with theirs, Path(os.devnull).open("rb") as file, pytest.raises(WireError):
        ask_on_and_on(file.fileno())
    one.close()


def test_after_a_frame_that_was_broken_off_no_other_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other side would take what follows for its rest."""
    monkeypatch.setattr(peer, "SEND_S", 0.2)
    ours, theirs = socket.socketpair()
    one, heard = CallingPeer(ours), Frames()
    one.answer(Incoming("ask", b"", [], 1), b"a" * (8 << 20))
    one.answer(Incoming("ask", b"", [], 2), b"b" * (8 << 20))

    def hear() -> None:
        while heard.receive(theirs):
            assert list(heard.take()) == []

    with theirs, pytest.raises(WireError, match="in the middle"):
        hear()
    one.close()


def test_who_reads_too_slowly_keeps_us_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "SEND_S", 1)
    ours, theirs = socket.socketpair()
    pieces, enough = itertools.count(1), 400

    def read_slowly() -> None:
        while next(pieces) < enough and theirs.recv(50_000):
            time.sleep(0.05)
        theirs.close()

    reader = threading.Thread(target=read_slowly)
    reader.start()
    one = CallingPeer(ours)
    with pytest.raises(WireError):
        one.note("say", b"x" * (64 << 20))
    one.close()
    reader.join()
    assert next(pieces) < enough


def test_signals_give_who_does_not_read_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that a signal interrupts is made again: with its whole time limit, if it were the system's."""
    monkeypatch.setattr(peer, "SEND_S", 1)
    ours, theirs = socket.socketpair()
    signals, enough = itertools.count(1), 400

    def interrupted(*_: object) -> None:
        if next(signals) == enough:
            theirs.close()

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(WireError):
            CallingPeer(ours).note("say", b"x" * (64 << 20))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert next(signals) < enough
    ours.close()
    theirs.close()


def test_what_is_asked_for_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of half a gigabyte is allowed; a thousand of them before the first is answered are not."""
    monkeypatch.setattr(session, "MOST_HELD", 100_000)
    ours, theirs = socket.socketpair()
    runner = object.__new__(session.RunnerSession)
    runner._line, runner._tasks, runner._held = CallingPeer(ours), set(), 0
    most, answered = 0, 0

    async def keep(asked: Incoming) -> bytes:
        nonlocal most, answered
        most = max(most, runner._held)
        for _ in range(20):
            await asyncio.sleep(0)
        answered += 1
        return b"null"

    async def close(asked: Incoming) -> bytes:
        return b"null"

    def flood(there: Peer, job: Incoming) -> None:
        for each in [there.begin("keep", b"x" * 60_000) for _ in range(30)]:
            each.result(60)
        there.answer(job)

    there = Peer(theirs, lambda job: threading.Thread(target=flood, args=(there, job)).start())
    there.start()
    monkeypatch.setattr(runner, "_process", None, raising=False)
    asyncio.run(runner._serving("measure", b"null", {"keep": keep, "close": close}))
    assert answered == 30
    assert most <= 100_000 + 10 * 61_000  # one read more than there is room for, and what came with it
    runner._line.close()
    there.close()


def test_a_job_without_an_answer_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process, "PROGRAM", "import sys; sys.stdin = None; import time; time.sleep(600)")
    monkeypatch.setattr(process, "PATIENCE_S", 0.1)
    monkeypatch.setattr(session, "PATIENCE_S", 0.5)
    with pytest.raises(OtherSideError, match="no answer"), session.opened_runner({}, tmp_path):
        pass
