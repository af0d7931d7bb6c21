"""Control groups: where one is made, what is written to it. On a folder that looks like theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.sandbox.launcher import cgroups

FILES = (
    "cgroup.procs",
    "cgroup.kill",
    "memory.max",
    "memory.oom.group",
    "memory.swap.max",
    "memory.events",
    "pids.max",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hierarchy in which new groups have their files, as the kernel gives them."""
    make = cgroups.os.mkdir  # type: ignore[attr-defined]

    def with_files(path: str, mode: int) -> None:
        make(path, mode)
        for name in FILES:
            Path(path, name).touch()

    monkeypatch.setattr(cgroups.os, "mkdir", with_files)  # type: ignore[attr-defined]
    for folder, given in (("", "cpu memory pids"), ("a", "cpu"), ("a/b", "")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "cgroup.subtree_control").write_text(given)
    (tmp_path / "own").write_text("1:cpu:/x\n0::/a/b\n")
    return tmp_path


def test_the_nearest_group_that_gives_limits_has_ours(place: Path) -> None:
    group = cgroups.make(1000, 50, str(place), str(place / "own"))
    assert group is not None
    (made,) = place.glob("evalward-*")
    assert (made / "memory.max").read_text() == "1250"
    assert (made / "pids.max").read_text() == "50"
    group.enter()
    group.end()
    assert (made / "cgroup.procs").read_text() == "0"
    assert not group.out_of_memory()
    (made / "memory.events").write_text("max 3\noom_kill 1\n")
    assert group.out_of_memory()
    for name in FILES:
        (made / name).unlink()
    group.remove()
    assert not made.exists()


@pytest.mark.parametrize("own", ["1:cpu:/x\n", "0::/../elsewhere\n", ""])
def test_where_there_is_none_there_is_none(place: Path, own: str) -> None:
    (place / "own").write_text(own)
    assert cgroups.make(1000, 50, str(place), str(place / "own")) is None
    assert cgroups.make(1000, 50, str(place), str(place / "missing")) is None
