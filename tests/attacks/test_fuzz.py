"""Damaged files of every format: each is read, or refused in words; nothing else comes out of it.

`make fuzz` does the same with random seeds for as long as one likes; what it found lies in tests/data/fuzz.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalward.commands.validate import validate
from evalward.records.problem import InputError
from support.fuzzing.all import READERS
from support.fuzzing.folders import quiet_world
from support.fuzzing.projects import OF_SUITE
from support.fuzzing.running import FOUND, within_bounds

KEPT = sorted(FOUND.glob("*/*"))


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    assert reader.always_refused or reader.attempt(reader.whole(), tmp_path), "the file as it should be was refused"
    for number in range(reader.share):
        reader.attempt(reader.odd(f"suite {number}"), tmp_path)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_was_found_once_is_read_or_refused(file: Path, tmp_path: Path) -> None:
    reader = next(reader for reader in READERS.values() if reader.slug == file.parent.name)
    with within_bounds():
        reader.attempt(file.read_bytes(), tmp_path)


def test_names_of_folders_are_unique() -> None:
    assert len({reader.slug for reader in READERS.values()}) == len(READERS)
    assert {file.parent.name for file in KEPT} <= {reader.slug for reader in READERS.values()}


@pytest.mark.parametrize("name", OF_SUITE)
def test_a_file_whose_suite_alone_is_read_is_opened(name: str, tmp_path: Path) -> None:
    """A link in its place is refused, so it is damaged for somebody."""
    reader = READERS[name]
    reader.read(reader.whole(), tmp_path)
    (tmp_path / name).rename(tmp_path / "elsewhere")
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=f"{re.escape(name)}.* is a symbolic link"):
        validate(quiet_world(tmp_path), [tmp_path / "evalward.yml"], prove=False)
