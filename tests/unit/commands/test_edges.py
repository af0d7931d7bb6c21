"""How a command ends when the place it was called in, or who listens to it, is gone: never with exit code 1."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalward import cli, entry
from evalward.cli import guarded
from evalward.commands import files
from evalward.commands.world import World
from evalward.edge import PROGRAM, SOURCE
from evalward.records.problem import InputError, wrong


class Full(io.StringIO):
    """A stream whose device has no room."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def world_that(err: io.StringIO) -> World:
    return World(out=io.StringIO(), err=err, now=lambda: "2026-11-22T08:00:00Z")


def raising(error: BaseException) -> int:
    raise error


def speaking(world: World) -> int:
    world.say("a line")
    return 0


def test_messages_that_nobody_can_hear__leave_the_exit_code() -> None:
    mistake = wrong("evalward.yml", "there is no such file")

    assert guarded(world_that(Full()), lambda _: raising(mistake)) == 2
    assert guarded(world_that(Full()), lambda _: raising(KeyboardInterrupt())) == 130
    assert guarded(world_that(Full()), lambda _: raising(ValueError("ours"))) == 3


def test_a_result_that_cannot_be_said__is_no_pass_and_no_failure_of_the_gate() -> None:
    assert guarded(world_that(Full()), speaking) == 3


def test_ctrl_c_while_modules_load__is_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "begin", lambda *_: raising(KeyboardInterrupt()))

    with pytest.raises(SystemExit) as ended:
        entry.main()

    assert ended.value.code == 130


def test_a_folder_that_is_gone__is_a_users_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: raising(FileNotFoundError(errno.ENOENT, "No such file or directory")))

    assert entry.runner_folder(["check"], {}) is None
    with pytest.raises(SystemExit) as ended:
        cli.main(["report", "report.json"])

    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: the current folder: No such file or directory. ")


def test_a_file_without_end__is_read_within_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    whole = tmp_path / "whole.json"
    whole.write_bytes(b"x" * 10)

    assert files.read_bytes(whole, "report", "") == b"x" * 10
    with pytest.raises(InputError, match="/dev/zero: the report is larger than"):
        files.read_bytes(Path("/dev/zero"), "report", "Name another.")


def test_streams_that_are_closed__are_no_failure_of_the_gate(tmp_path: Path) -> None:
    """Nor does any file or connection of ours become one of them."""
    words = [sys.executable, "-I", "-c", PROGRAM, SOURCE, "check", "--config", "missing.yml"]

    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words], cwd=tmp_path, check=False)

    assert done.returncode == 2
