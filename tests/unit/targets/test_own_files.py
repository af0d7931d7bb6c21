"""Which files of the repository a command names, and that their content is part of who is started by it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.records.report import PROGRAM_FILES
from evalward.targets import own_files
from evalward.targets.own_files import program_files
from support.fuzzing.folders import write_files

FILES = {"tools/ask.py": b"print(1)", "tools/lib/words.py": b"A = 1", "tools/notes.txt": b"", "run.sh": b"#!/bin/sh\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "root", FILES)
    return tmp_path / "root"


@pytest.mark.parametrize(
    "command",
    [
        ["./run.sh", "{prompt}"],
        ["sh", "run.sh"],
        ["sh", "tools/../run.sh"],
        ["sh", "--file=run.sh", "{prompt}"],
        ["sh", "ROOT/run.sh"],
    ],
)
def test_a_file_that_the_command_names_is_part_of_the_subject_by_its_content(root: Path, command: list[str]) -> None:
    command = [word.replace("ROOT", str(root)) for word in command]
    before = program_files(root, command)
    assert set(before) == {PROGRAM_FILES}
    assert program_files(root, command) == before
    (root / "run.sh").write_text("#!/bin/sh\nexit 1\n")
    assert program_files(root, command) != before


@pytest.mark.parametrize(
    "command",
    [
        ["python3", "-m", "tools.ask", "{prompt}"],
        ["run.sh"],  # without / it is looked up on the PATH
        ["sh", "tools"],
        ["sh", "../outside"],
        ["/bin/sh", "/etc/passwd"],
        ["sh", "a\0b", ""],
        ["sh", "x" * 5000],
    ],
)
def test_what_is_no_file_of_the_repository_is_no_part(root: Path, command: list[str]) -> None:
    (root.parent / "outside").write_text("x")
    assert program_files(root, command) == {}


@pytest.mark.parametrize(
    ("path", "counts"),
    [("tools/ask.py", True), ("tools/lib/words.py", True), ("tools/notes.txt", False), ("run.sh", False)],
)
def test_python_files_count_with_those_that_they_may_import(root: Path, path: str, counts: bool) -> None:
    before = program_files(root, ["python3", "tools/ask.py"])
    (root / path).write_text("B = 2")
    assert (program_files(root, ["python3", "tools/ask.py"]) != before) == counts


def test_a_new_neighbour_counts_and_what_python_left_does_not(root: Path) -> None:
    before = program_files(root, ["python3", "tools/ask.py"])
    write_files(root, {"tools/__pycache__/ask.py": b"x"})
    assert program_files(root, ["python3", "tools/ask.py"]) == before
    write_files(root, {"tools/more.py": b""})
    assert program_files(root, ["python3", "tools/ask.py"]) != before


def test_at_the_top_a_script_has_no_neighbours(root: Path) -> None:
    write_files(root, {"ask.py": b"", "other.py": b""})
    before = program_files(root, ["python3", "ask.py"])
    (root / "other.py").write_text("x = 1")
    assert program_files(root, ["python3", "ask.py"]) == before


def test_a_link_inside_is_read_and_one_that_leads_out_is_not_followed(root: Path) -> None:
    (root / "bin").symlink_to("tools")
    before = program_files(root, ["sh", "bin/notes.txt"])
    (root / "tools/notes.txt").write_text("x")
    assert program_files(root, ["sh", "bin/notes.txt"]) not in ({}, before)
    (root.parent / "secret").write_text("x")
    (root / "out").symlink_to(root.parent / "secret")
    (root / "round").symlink_to("round")
    assert program_files(root, ["sh", "out", "round"]) == {}


def test_pipes_are_not_opened_and_large_files_count_by_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe")
    assert program_files(root, ["sh", "pipe"]) == {}
    monkeypatch.setattr(own_files, "MOST_BYTES", 4)
    before = program_files(root, ["sh", "run.sh"])
    (root / "run.sh").write_text("something else, too large as well")
    assert program_files(root, ["sh", "run.sh"]) == before
    assert before != {}
