"""What commands write is there as a whole, or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from evalward.commands.emitting import write_file, write_text
from evalward.records.problem import InputError


def test_a_file_is_written_with_its_folders_as_utf8_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    os.umask(umask := os.umask(0o022))
    write_text(path, "grün\n\u2028\r\n")
    assert path.read_bytes() == "grün\n\u2028\r\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
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


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_file__is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    """A device that a file replaces is gone for the whole machine."""
    path = tmp_path / "special"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        os.mknod(path, 0o600 | stat.S_IFSOCK)  # whose address may be too long to be bound
    before = path.lstat()
    with pytest.raises(InputError, match="is a device, pipe or socket, no file"):
        write_text(path, "text")
    assert os.path.samestat(path.lstat(), before)
    assert [item.name for item in tmp_path.iterdir()] == ["special"]


def test_dev_null__takes_everything_and_stays() -> None:
    before = os.lstat("/dev/null")
    write_text(Path("/dev/null"), "text")
    assert os.path.samestat(os.lstat("/dev/null"), before)


def test_what_a_shell_has_opened__is_written_to(tmp_path: Path) -> None:
    """`--output >(command)` names `/dev/fd/63`."""
    reading, writing = os.pipe()
    got: list[bytes] = []

    def read() -> None:
        with os.fdopen(reading, "rb") as pipe:
            got.append(pipe.read())

    reader = threading.Thread(target=read)
    reader.start()
    write_text(Path(f"/dev/fd/{writing}"), "x" * 200_000)
    os.close(writing)
    reader.join()
    assert got == [b"x" * 200_000]
    with (tmp_path / "log").open("wb", buffering=0) as log:
        log.write(b"first ")
        write_text(Path(f"//dev/./fd/{log.fileno()}"), "then ")
        log.write(b"last")
    assert (tmp_path / "log").read_bytes() == b"first then last"


@pytest.mark.parametrize("name", ["..", "a/..", "."])
def test_a_folder__is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"is a folder|can't be written"):
        write_text(tmp_path / name, "text")


def test_a_new_name_in_dev__is_no_stream() -> None:
    with pytest.raises(InputError):
        write_text(Path("/dev/evalward-not-there"), "text")
