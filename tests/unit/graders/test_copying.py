"""What was left, copied for a grader: links, names that no file can have, bounds; and whose fault a broken copy is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalward.graders.grading import _PROGRAM, ELSEWHERE, FILES, _lead_inside, _write_ours
from evalward.sandbox.base import FileType
from evalward.sandbox.process.places import Copied
from evalward.sandbox.virtual_copy import copy_out


class Shell:
    """A virtual file system, as the interpreter tells it."""

    home = "/home/eval"

    def __init__(self, files: dict[str, bytes | None], links: dict[str, bytes] | None = None) -> None:
        self._files, self._links = files, links or {}

    def files(self) -> dict[str, bytes | None]:
        return {**self._files, **dict.fromkeys(self._links)}

    def file_type(self, path: str) -> FileType | None:
        return "file" if path in self._links else "directory" if path in self._files else None

    def read_file(self, path: str) -> bytes | None:
        return self._links.get(path)


def copied(tmp_path: Path, shell: Shell, most: int = 1000) -> Copied:
    for name in (FILES, ELSEWHERE):
        (tmp_path / name).mkdir()
    return copy_out(shell, tmp_path / FILES, tmp_path / ELSEWHERE, most)


def there(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_files_go_to_their_places(tmp_path: Path) -> None:
    files = {
        "/home/eval/a": b"1",
        "/home/eval/d": None,
        "/data/x": b"22",
        "/bin/ls": b"#!/bin/sh\n# bashkit builtin: ls\n",
    }
    found = copied(tmp_path, Shell(files, {"/home/eval/link": b"333"}))
    assert found == Copied(3, 6, 0, full=False)
    assert there(tmp_path / FILES) == ["a", "d", "link"]
    assert there(tmp_path / ELSEWHERE) == ["data", "data/x"]
    assert (tmp_path / FILES / "link").read_bytes() == b"333"


@pytest.mark.parametrize(
    "name", ["/home/eval/../../x", "/../x", "/home/eval/nul\0", "/home/eval/\ud800", "/" + "n" * 300]
)
def test_names_that_no_file_of_ours_can_have_are_left_out(tmp_path: Path, name: str) -> None:
    assert copied(tmp_path, Shell({name: b"1", "/home/eval/a": b"1"})) == Copied(1, 1, 1, full=False)
    assert there(tmp_path / FILES) == ["a"]
    assert sorted(os.listdir(tmp_path)) == [ELSEWHERE, FILES]  # noqa: PTH208


def test_a_name_below_a_file_is_left_out(tmp_path: Path) -> None:
    assert copied(tmp_path, Shell({"/a": b"1", "/a/b": b"1"})).skipped == 1


def test_what_is_too_much_is_told(tmp_path: Path) -> None:
    found = copied(tmp_path, Shell({"/home/eval/a": b"1" * 600, "/home/eval/b": b"1" * 600}), most=1000)
    assert (found.full, found.files) == (True, 1)


@pytest.mark.parametrize(
    ("place", "target", "leads"),
    [
        ("files/l", "a/b", "a/b"),
        ("files/d/l", "../a", "../a"),
        ("files/l", "/home/eval/a", "a"),
        ("files/l", "/data/x", "../elsewhere/data/x"),
        ("files/l", "../../data/x", "../elsewhere/data/x"),
        ("files/l", "../grader/x.py", "../elsewhere/home/grader/x.py"),
        ("files/l", "../../../../../grader/x.py", "../elsewhere/grader/x.py"),
        ("files/l", ".", "."),
        ("elsewhere/data/l", "/home/eval/a", "../../files/a"),
        ("elsewhere/data/l", "../home/eval/a", "../../files/a"),
        ("elsewhere/l", "/", "."),
        ("elsewhere/l", "../../..", "."),
    ],
)
def test_links_lead_to_copies(tmp_path: Path, place: str, target: str, leads: str) -> None:
    for name in (FILES, ELSEWHERE, "grader"):
        (tmp_path / name).mkdir()
    link = tmp_path / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    _lead_inside(tmp_path, "/home/eval")
    assert os.path.normpath(link.readlink()) == leads
    assert not link.resolve().is_relative_to(tmp_path / "grader")


def test_a_graders_process_needs_nothing_that_is_installed(tmp_path: Path) -> None:
    """Behind some walls it can't find us where we run from a checkout; and other packages cost time."""
    _write_ours(tmp_path / "ours")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "mine.py").write_text("from evalward.graders import Grade as right\n")
    request = {"folder": str(tmp_path), "module": "checks.mine", "function": "right", "own": True}
    words = [sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, str(tmp_path / "ours")]
    done = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True, check=False)
    assert (json.loads(done.stdout), done.stderr) == ({"found": True}, "")
