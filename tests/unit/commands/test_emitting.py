"""What commands write is there as a whole, or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evalward.commands.emitting import write_text
from evalward.writing import write_file


def test_a_file_is_written_with_its_folders_as_utf8_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_text(path, "grün\n\u2028\r\n")
    assert path.read_bytes() == "grün\n\u2028\r\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [item.name for item in path.parent.iterdir()] == ["b.txt"]


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_text(path, "a long text")
    write_text(path, "short")
    assert path.read_text() == "short"


def test_a_text_that_cant_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "x" * 100_000 + "\ud800")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_a_folder_in_the_way_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="a"):
        write_file(tmp_path / "a", b"text")
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("untouched")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_text(link, "new")
    assert (target.read_text(), link.is_symlink(), link.read_text()) == ("untouched", False, "new")
