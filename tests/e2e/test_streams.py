"""Streams that can't be written, and a folder that is gone: the exit code stays what it means, in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cases import task, write_suite
from support.fuzzing.records import reports
from support.patience import PATIENCE_S

EVALWARD = Path(sys.executable).with_name("evalward")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "report.json").write_bytes(reports()[2])
    return tmp_path


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "EVALWARD": str(EVALWARD)}
    return subprocess.run(
        ["sh", "-c", line], cwd=cwd, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_whether_people_can_read_it_is_no_verdict(folder: Path, stream: str) -> None:
    done = shell(f'"$EVALWARD" report report.json --format json {stream}', folder)
    assert (done.returncode, done.stdout[:1]) == (0, "{")
    assert shell(f'"$EVALWARD" report missing.json {stream}', folder).returncode == 2


@pytest.mark.parametrize("stream", [">&-", ">/dev/full", "<&- >&-"])
@pytest.mark.parametrize("command", ["report report.json", "safety ls"])
def test_what_a_program_should_have_read_is_no_pass(folder: Path, command: str, stream: str) -> None:
    done = shell(f'"$EVALWARD" {command} {stream}', folder)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: standard output: can't be written: ")


@pytest.mark.parametrize("stream", [">&-", ">/dev/full"])
@pytest.mark.parametrize("command", ["--version", "--help", "run --help"])
def test_a_help_that_nobody_could_read_was_not_shown(folder: Path, command: str, stream: str) -> None:
    done = shell(f'"$EVALWARD" {command} {stream}', folder)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: standard output can't be written: ")


def test_a_usage_that_nobody_can_hear_is_still_a_mistake(folder: Path) -> None:
    assert shell('"$EVALWARD" report --nonsense 2>/dev/full', folder).returncode == 2


def test_a_check_whose_reader_has_gone__has_written_its_files_and_has_no_traceback(tmp_path: Path) -> None:
    write_suite(tmp_path, [task(id="one")])
    reader, writer = os.pipe()
    os.close(reader)
    try:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        done = subprocess.run(
            [EVALWARD, "check"], cwd=tmp_path, env=env, stdout=writer, stderr=-1, text=True, check=False
        )
    finally:
        os.close(writer)
    assert (done.returncode, "Traceback" in done.stderr, "error" in done.stderr) == (3, False, False)
    assert {path.name for path in (tmp_path / "evalward-out").iterdir()} >= {"report.json", "comment.md", "report.html"}


def test_with_all_streams_closed_no_file_gets_what_is_said(folder: Path) -> None:
    done = shell('"$EVALWARD" report report.json --format json --output copy.json <&- >&- 2>&-', folder)
    assert done.returncode == 0
    assert (folder / "copy.json").read_text("utf-8").startswith("{")


@pytest.mark.parametrize("command", ["run", "report report.json"])
def test_a_folder_that_is_gone_is_told(folder: Path, command: str) -> None:
    done = shell(f'mkdir gone && cd gone && rmdir ../gone && "$EVALWARD" {command}', folder)
    assert done.returncode == 2
    assert done.stderr == "error: the folder that this was called in is gone. Change into another one.\n"
