"""Whoever keeps new files to himself by his umask has the same workspaces: their user can use what is made for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evalward.sandbox.process import WorkspaceSettings
from evalward.sandbox.process.probe import Layers
from evalward.suites.old_place import lead_here, lead_nowhere
from support.sandboxes import NAMES, bash, opened, use, walls_named

pytestmark = pytest.mark.cold  # a launcher inherits the umask as it starts


@pytest.fixture(params=[0o002, 0o027, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture(params=NAMES.values())
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Layers:
    layers = walls_named(request.param)
    use(monkeypatch, layers)
    return layers


async def test_programs_and_files_are_there(umask: None, walls: Layers) -> None:
    async with opened(files={"sub/a.txt": b"a\n"}) as place:
        done = await bash(place, "cat sub/a.txt && touch sub/b && python3 -c 'print(1)' && ls -d /usr/bin && umask")
        assert (done.stdout, done.stderr) == ("a\n1\n/usr/bin\n0022\n", "")


async def test_what_is_placed_outside_of_the_folder_can_be_read(umask: None, walls: Layers) -> None:
    if not walls.namespaces:
        pytest.skip("nothing is placed where commands have no file system of their own")
    async with opened(files={"/data/deep/a.txt": b"a\n"}) as place:
        done = await bash(place, "cat /data/deep/a.txt && id -un >name && test -s name && ls /data/deep")
        assert (done.stdout, done.stderr) == ("a\na.txt\n", "")


async def test_what_is_shown_of_the_machine_can_be_read(umask: None, walls: Layers) -> None:
    with TemporaryDirectory(dir="/var/tmp") as made:  # not below /tmp, which commands have for themselves
        tools = Path(made, "some", "tools")
        tools.mkdir(parents=True)
        (tools / "a.txt").write_text("a\n")
        for path, mode in ((Path(made), 0o755), (tools.parent, 0o755), (tools, 0o755), (tools / "a.txt", 0o644)):
            path.chmod(mode)
        async with opened(settings=WorkspaceSettings(readable=(tools,))) as place:
            assert (await bash(place, f"cat {tools}/a.txt")).stdout == "a\n"


async def test_where_a_workspace_lay_leads_to_the_next_one(umask: None, walls: Layers) -> None:
    async with opened() as place:
        earlier = place.folder
    async with opened(files={"a.txt": b"a\n"}) as place:
        await lead_here(place, [earlier])
        try:
            assert (await bash(place, f"cat {earlier}/a.txt")).stdout == "a\n"
        finally:
            lead_nowhere([earlier])
    assert not earlier.parent.exists()
