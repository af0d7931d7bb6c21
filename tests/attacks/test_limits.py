"""Memory and disk that belong to nothing with a name count too."""

from __future__ import annotations

import pytest

from evalward.sandbox.process import Limits, Settings
from evalward.sandbox.process.probe import Layers
from support.sandboxes import opened, use, walls_named

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
    async with opened(settings=Settings(limits=Limits(memory_mb=300, disk_mb=100, open_files=4000))) as place:
        done = await place.run(["python3", "-c", f"MEMORY = {in_memory}\n{NAMELESS}"], timeout_s=120)
        assert (done.exceeded, done.signal) == (what, 9)


async def test_shared_memory_is_bounded(walls: Layers) -> None:
    async with opened() as place:
        done = await place.run(["python3", "-c", SHARED])
        assert int(done.stdout) <= 16
