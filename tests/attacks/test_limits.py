"""Memory and disk that belong to nothing with a name count too, and no look at them can be put off."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from evalward.sandbox.launcher.folders import used
from evalward.sandbox.launcher.members import Members
from evalward.sandbox.launcher.plan import SandboxPlan
from evalward.sandbox.launcher.watch import Watch
from evalward.sandbox.process import SandboxLimits, WorkspaceSettings
from evalward.sandbox.process.probe import Layers
from support.sandboxes import opened, use, walls_named

pytestmark = pytest.mark.cold

NAMELESS = """
import os, time
held = []
while True:
    file = os.memfd_create("x") if MEMORY else os.open(os.environ["TMPDIR"], os.O_RDWR | os.O_TMPFILE, 0o600)
    held.append(file)
    os.write(file, b"x" * 4_000_000)
    time.sleep(0.005)
"""
SHARED = """
import ctypes
libc = ctypes.CDLL(None)
print(sum(libc.shmget(0, 16 << 20, 0o1600) >= 0 for _ in range(100)))
"""


@pytest.fixture(params=["own user, namespaces", "own user, Landlock", "namespaces", "Landlock"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Layers:
    layers = walls_named(request.param)
    use(monkeypatch, layers)
    return layers


@pytest.mark.parametrize(("in_memory", "what"), [(True, "memory"), (False, "disk")])
async def test_open_files_without_a_name_are_counted(walls: Layers, in_memory: bool, what: str) -> None:
    async with opened(
        settings=WorkspaceSettings(limits=SandboxLimits(memory_mb=300, disk_mb=100, open_files=4000))
    ) as place:
        done = await place.run(["python3", "-c", f"MEMORY = {in_memory}\n{NAMELESS}"], timeout_s=120)
        assert (done.exceeded, done.signal) == (what, 9)


async def test_shared_memory_is_bounded(walls: Layers) -> None:
    async with opened() as place:
        done = await place.run(["python3", "-c", SHARED])
        assert int(done.stdout) <= 16


# --- a look that takes long -----------------------------------------------------------------------------------------

MB = 1 << 20


class SlowMembers(Members):
    """Commands that make a look at them take ten seconds."""

    now = 0.0

    def nameless(self, folders: Iterable[str]) -> tuple[int, int]:
        self.now += 10
        return 0, 0

    def memory(self, files: int = 0) -> int:
        return 60 * MB


def looked(tmp_path: Path, left: list[tuple[int, int]]) -> tuple[SlowMembers, Watch]:
    """A watch after its first look; the last of `left` is what the machine has left of memory and disk."""
    plan = SandboxPlan(root="", folders=[str(tmp_path)], tmp="", memory_bytes=100 * MB, disk_bytes=100 * MB)
    members = SlowMembers(None, namespace=False)
    watch = Watch(plan, members, lambda: members.now, lambda _: left[-1])
    watch.begin()
    assert not watch.due()
    members.now = 1
    assert watch.due()
    assert watch.look() is None
    return members, watch


@pytest.mark.parametrize(
    ("left", "due"), [((900, 900), False), ((870, 810), False), ((859, 900), True), ((900, 799), True)]
)
def test_who_makes_a_look_take_long_wins_no_time(tmp_path: Path, left: tuple[int, int], due: bool) -> None:
    rooms = [(900 * MB, 900 * MB)]
    members, watch = looked(tmp_path, rooms)
    rooms.append((left[0] * MB, left[1] * MB))
    members.now += 15
    assert not watch.due()  # it would do nothing else
    members.now += 10
    assert watch.due() is due
    members.now += 200
    assert watch.due()


def test_a_busy_machine_hides_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("work", "home", "tmp")]
    for folder in folders:
        folder.mkdir()
        (folder / "a").write_bytes(b"x" * 4096)
    hours = itertools.count(step=3600)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    assert used([str(folder) for folder in folders], 100 * MB, 100)[1] == 3


DEEP = """
import os, time
for _ in range(20):
    os.mkdir("x" * 250)
    os.chdir("x" * 250)
print("there", flush=True)
time.sleep(100)
"""


async def test_there_is_no_place_too_deep_to_be_seen(walls: Layers) -> None:
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(disk_mb=100))) as place:
        done = await place.run(["python3", "-c", DEEP], timeout_s=600)
        assert done.exceeded == "disk"  # it may be seen before it says that it is there


PLACES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open("file", os.O_CREAT | os.O_RDWR)
print(libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(1 << 20)), os.strerror(ctypes.get_errno()))
os.posix_fallocate(file, 0, 1 << 20)
print(os.fstat(file).st_size)
"""


async def test_nobody_takes_the_whole_disk_at_once(walls: Layers) -> None:
    """But by writing to it, and so slowly that it can be seen; who asks libc for a place has it."""
    if not walls.filtered:
        pytest.skip("no filter here")
    async with opened() as place:
        done = await place.run(["python3", "-c", PLACES])
        assert done.stdout.splitlines() == ["-1 Operation not supported", str(1 << 20)]
