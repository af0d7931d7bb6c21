"""A disk that fills up, and an output folder that breaks: what is finished is kept and told; nobody is blamed."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import tempfile
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import guarded
from evalward.commands import faults
from evalward.commands.check import check
from evalward.commands.emitting import emit, write_text
from evalward.commands.options import CheckOptions
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.engine.plan import make_plan
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.records.exits import EXIT_UNJUDGED
from evalward.records.problem import InputError, NoRoomError
from evalward.records.result import Status
from evalward.writing import Folder
from support.cases import Silent, task, write_suite


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_suite(tmp_path, [task(id=f"case{n}") for n in range(5)])
    return tmp_path


@pytest.fixture
def world(project: Path) -> World:
    env = {"PATH": os.environ["PATH"]}
    return World(StringIO(), StringIO(), lambda: "9999-12-31T23:59:59Z", env, project)


def said(world: World) -> str:
    assert isinstance(world.err, StringIO)
    return world.err.getvalue()


def shown(world: World) -> str:
    assert isinstance(world.out, StringIO)
    return world.out.getvalue()


def fill_after(monkeypatch: pytest.MonkeyPatch, writes: int, number: int = errno.ENOSPC) -> None:
    """All but so many writes find no room."""
    real, left = Folder.write, [writes]

    def write(folder: Folder, name: str, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number), name)
        real(folder, name, data)

    monkeypatch.setattr(Folder, "write", write)


def test_a_run_on_a_full_disk_tells_what_there_is(project: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_after(monkeypatch, 2)
    code = guarded(world, lambda world: run(world, RunOptions(project / "evalward.yml", Path("out"))))
    assert code == EXIT_UNJUDGED
    assert len(list((project / "out" / "trials").rglob("*.json"))) == 2
    assert "5 of 5" in shown(world), shown(world)
    last = said(world).splitlines()[-1]
    assert last == (
        "error: out/report.json: can't be written: No space left on device. Make room on its disk, and run it again."
    )


def test_a_check_on_a_full_disk_shows_its_verdict(project: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_after(monkeypatch, 6)  # the trials and the report
    code = guarded(world, lambda world: check(world, CheckOptions(project / "evalward.yml", Path("out"))))
    assert code == EXIT_UNJUDGED
    assert json.loads((project / "out" / "report.json").read_text("utf-8"))["interrupted"] is None
    assert "nothing was compared" in shown(world)
    assert "out/judgement.json: can't be written: No space left on device" in said(world)


def test_no_trial_begins_when_none_can_be_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_after(monkeypatch, 0)
    plan = make_plan(write_suite(project, [task(id=f"case{n}") for n in range(40)]), Selection())
    done = asyncio.run(execute(plan, ExecutionSettings(Store(project / "out"), Silent())))
    assert done.interrupted == "the output folder can't be written: No space left on device"
    ((cases,),) = [[one.cases] for one in done.runs]
    assert {one.status for one in cases} == {Status.PASSED, Status.SKIPPED}


def test_a_file_in_the_place_of_a_suites_folder(project: Path, world: World) -> None:
    (project / "out" / "trials").mkdir(parents=True)
    (project / "out" / "trials" / "shell").write_text("not ours", "utf-8")
    options = RunOptions(project / "evalward.yml", Path("out"), resume=True)
    assert guarded(world, lambda world: run(world, options)) == EXIT_UNJUDGED
    assert "The run ended early: the output folder can't be written: Not a directory." in shown(world)
    assert (project / "out" / "report.json").is_file()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_want_of_room_is_no_mistake_of_the_input(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fill_after(monkeypatch, 0, number)
    with pytest.raises(NoRoomError, match="Make room on its disk"):
        write_text(tmp_path / "x.json", "{}")

    def full(world: World) -> int:
        emit(world, "{}", Path("x.json"))
        return 0

    assert guarded(world, full) == EXIT_UNJUDGED


def test_a_place_that_refuses_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_after(monkeypatch, 0, errno.EACCES)
    with pytest.raises(InputError, match="Choose another place") as caught:
        write_text(tmp_path / "x.json", "{}")
    assert not isinstance(caught.value, NoRoomError)


class Full(StringIO):
    """A stream on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_words_for_people_that_nobody_can_read_change_nothing() -> None:
    world = World(StringIO(), Full(), lambda: "2026-11-21T08:00:00Z")
    assert guarded(world, lambda world: world.say("hello") or 1) == 1  # type: ignore[func-returns-value]


def test_a_fault_of_ours_is_told_without_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    assert faults.internal_error(ValueError("x")) == (
        "internal error: ValueError. Please report it; no log could be written: No space left on device."
    )
