"""Attempts to get out of a workspace, behind every kind of walls that this machine has."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from evalward.sandbox.launcher import seccomp
from evalward.sandbox.process import Workspace, WorkspaceSettings
from evalward.sandbox.process.probe import Layers, candidates
from support.escape import ATTEMPTS, FIND, LEAVE, TRACED
from support.sandboxes import NAMES, bash, opened, use, walls_named

pytestmark = pytest.mark.cold

SECRET = "canary-3f9a17c2"


@pytest.fixture(params=[name for name in NAMES.values() if name != "nothing"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Layers:
    layers = walls_named(request.param)
    use(monkeypatch, layers)
    return layers


@dataclass(frozen=True)
class Surroundings:
    """What is ours and around a workspace: a process, sockets, a folder and a file in it that nobody else may read."""

    victim: subprocess.Popen[bytes]
    abstract: str
    folder: Path

    @property
    def words(self) -> list[str]:
        file = str(self.folder / "secret")
        return [str(self.victim.pid), self.abstract, str(self.folder), str(self.folder / "docker.sock"), file]


@pytest.fixture
def surroundings() -> Iterator[Surroundings]:
    folder = Path(tempfile.mkdtemp(prefix="evalward-escape-"))
    (folder / "secret").write_text(SECRET)
    (folder / "secret").chmod(0o600)
    name = f"evalward-escape-{os.getpid()}"
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env={"KEY": SECRET})
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as docker:
        abstract.bind("\0" + name)
        docker.bind(str(folder / "docker.sock"))
        (folder / "docker.sock").chmod(0o660)
        for one in (abstract, docker):
            one.listen(64)
        yield Surroundings(victim, name, folder)
    assert victim.poll() is None, "the victim died"
    victim.kill()
    victim.wait()
    assert (folder / "secret").read_text() == SECRET
    shutil.rmtree(folder)


def tolerated(walls: Layers) -> set[str]:
    """What these walls are known to leave open; the report calls them less than full for it."""
    found = set()
    if not walls.own_user and not walls.namespaces:
        found |= {"path socket"}  # of our own user
    if not walls.namespaces and not walls.landlock:
        found |= {"abstract socket", "list"}
        if walls.own_user:
            found |= {"oom_score_adj"}
    return found


async def test_no_attempt_gets_out(walls: Layers, surroundings: Surroundings) -> None:
    async with opened() as place:
        done = await place.run(["python3", "-c", ATTEMPTS, *surroundings.words], timeout_s=60)
    assert done.stdout.endswith("done\n"), (done.stdout, done.stderr, done.exit_code)
    got = {line.removeprefix("GOT ") for line in done.stdout.splitlines() if line.startswith("GOT ")}
    assert got - tolerated(walls) == set()
    if place.isolation.level == "full":
        assert got == set()


async def test_nothing_is_left_for_the_next_trial(walls: Layers) -> None:
    async with opened() as one:
        left = await one.run(["python3", "-c", LEAVE])
        assert left.exit_code == 0, left.stderr
        assert ("True" in left.stdout) == walls.namespaces  # those have some of their own
    async with opened() as other:
        assert (await other.run(["python3", "-c", FIND])).stdout == "nothing\n"


async def test_nothing_is_left_either_where_no_system_call_is_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, replace(walls_named("own user"), filtered=False))
    async with opened() as one:
        assert "shm True queue True sem True" in (await one.run(["python3", "-c", LEAVE])).stdout
    async with opened() as other:
        assert (await other.run(["python3", "-c", FIND])).stdout == "nothing\n"


async def test_a_command_that_stops_itself_for_a_debugger_just_ends(walls: Layers) -> None:
    """The launcher's wait sees a stop then, which is no end."""
    async with opened() as place:
        done = await place.run(["python3", "-c", TRACED], timeout_s=20)
        assert (done.signal, done.timed_out) == (signal.SIGUSR1, False)
        assert (await bash(place, "echo usable")).stdout == "usable\n"


async def test_a_command_that_stops_itself_is_ended_at_its_time(walls: Layers) -> None:
    async with opened() as place:
        done = await bash(place, "kill -STOP $$", timeout_s=0.5)
        assert (done.timed_out, done.exit_code) == (True, 124)


REAP = """
import ctypes, os, signal, socket
from evalward.sandbox.launcher.plan import SandboxPlan
from evalward.sandbox.launcher.serve import LauncherServer, read_line
control, _ = socket.socketpair()
launcher = LauncherServer(control, SandboxPlan("/nowhere", [], "/nowhere"))
ours, theirs = socket.socketpair()
child = os.fork()
if child == 0:
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGUSR1)
    os._exit(0)
launcher._commands[child] = theirs
while launcher._commands:
    launcher._reap()
print(read_line(ours).decode())
"""


def test_a_stop_is_no_end_to_the_launcher_either() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REAP],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if sys.platform != "linux":
        pytest.skip("no such debugger")
    assert '"status": 9,' in done.stdout, done.stderr


async def test_real_programs_go_on_working(walls: Layers) -> None:
    scripts = {
        "git": "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log",
        "node": 'node -e \'new (require("worker_threads").Worker)("1", {eval: true}).on("exit", c => console.log(c))\'',
        "bash": "diff <(echo a) <(echo a) && mkdir d && mv d e && echo x > /dev/stdout && ps >/dev/null",
        "python3": "python3 -c 'import asyncio; asyncio.run(asyncio.create_subprocess_exec(\"true\"))'",
    }
    async with opened() as place:
        for program, script in scripts.items():
            if shutil.which(program, path=WorkspaceSettings().path) is None:
                continue
            done = await bash(place, script, timeout_s=60)
            assert done.exit_code == 0, (program, done.stdout, done.stderr)


SERVER = b"""
import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], os.getpid(), flush=True)
server.accept()
time.sleep(600)
"""


async def test_two_commands_of_a_workspace_still_meet(walls: Layers) -> None:
    """What a set-up leaves running is there for the agent: it can be asked, and ended."""
    async with opened(files={"server.py": SERVER}) as place:
        await bash(place, "python3 server.py > said 2>&1 & until [ -s said ]; do sleep 0.05; done")
        done = await bash(place, "read port pid < said; : > /dev/tcp/127.0.0.1/$port && kill $pid && echo ended")
        if walls.namespaces or not walls.landlock:
            assert done.stdout == "ended\n", done.stderr


# --- terminals ------------------------------------------------------------------------------------------------------

TERMINAL = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.open(path, os.O_RDWR | os.O_NOCTTY)
        print("GOT", path)
    except OSError:
        pass
"""


async def test_our_terminal_can_be_neither_read_nor_written(walls: Layers) -> None:
    if not walls.landlock and not walls.namespaces:
        pytest.skip("nothing but the terminal's owner keeps it here, and the report says partial")
    ours, theirs = os.openpty()
    try:
        name = os.ttyname(theirs)
        Path(name).chmod(0o666)
        async with opened() as place:
            done = await place.run(["python3", "-c", TERMINAL, name, "/dev/tty"])
        assert (done.stdout, done.stderr) == ("", "")
    finally:
        os.close(ours)
        os.close(theirs)


# --- the filter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filters_own_jumps_are_in_bounds(machine: str) -> None:
    import struct

    for messages in (True, False):
        code = list(struct.iter_unpack("=HBBI", seccomp.program(machine, messages=messages)))
        assert len(code) < 4096
        for place, (operation, if_so, if_not, _) in enumerate(code):
            if operation & 7 == 5:
                assert place + 1 + max(if_so, if_not) < len(code)
        assert code[-1] == (6, 0, 0, 0x7FFF0000)


def test_every_wall_is_tried_with_the_filter_where_the_kernel_has_one() -> None:
    assert all(found.filtered == seccomp.available() for found in candidates())


async def test_a_workflow_gets_all_walls_or_nothing(walls: Layers, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalward.sandbox.base import SandboxError

    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    if walls.isolation("none").level == "full":
        async with opened() as place:
            assert (await bash(place, "echo ran")).stdout == "ran\n"
        return
    with pytest.raises(SandboxError, match="next to the keys of this workflow"):
        await Workspace.create(None, WorkspaceSettings())
