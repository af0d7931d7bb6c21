"""What a user names is read where it is a file, within a bound; nothing else is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.opening import read_regular
from evalward.records.problem import InputError
from evalward.writing import Folder

LARGE = 50_000_000_000  # bytes that a sparse file claims


def test_a_file_is_read_and_so_is_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a")
    assert read_regular(tmp_path / "a") == read_regular(tmp_path / "link", 4) == b"text"


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    os.truncate(tmp_path / "a", LARGE)
    with pytest.raises(InputError, match="the file is larger than 64 MiB"):
        read_regular(tmp_path / "a")
    with pytest.raises(OSError, match="too large"):
        Folder(tmp_path).read("a", 1000)


def test_devices_and_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe"):
        with pytest.raises(InputError, match="is neither a file nor a folder"):
            read_regular(path)


def test_a_folder_and_what_is_not_there_are_the_systems_words(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "missing")
