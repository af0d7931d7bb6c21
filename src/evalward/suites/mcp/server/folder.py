"""The folder in which a server starts: its own files, and links to all that the repository holds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

MOST_LINKS = 20_000  # in one folder; what is beyond has to be named by its path
_REPOSITORY = ".git"


def fill(folder: Path, linked: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder. Blocking. Raises `OSError`.

    Where a file lies deeper, the folders on its way are real ones with links to the rest. Links of the repository are
    not followed here: what they lead to, only the server sees, from behind its walls.
    """
    _link_all(folder, linked)
    for path, content in files.items():
        _make_way(folder, linked, path.split("/")[:-1])
        target = folder / path
        target.unlink(missing_ok=True)
        target.write_bytes(content)


def _make_way(folder: Path, linked: Path, parts: list[str]) -> None:
    """The folders in which a file lies, each a real one."""
    for depth, name in enumerate(parts):
        there = folder.joinpath(*parts[:depth], name)
        if there.is_dir() and not there.is_symlink():
            continue
        original = linked.joinpath(*parts[: depth + 1])
        there.unlink(missing_ok=True)
        there.mkdir()
        if _is_plain(linked, parts[: depth + 1]):
            _link_all(there, original)


def _is_plain(linked: Path, parts: list[str]) -> bool:
    """Whether a folder of the repository is none of somebody else's, seen through a link."""
    steps = [linked.joinpath(*parts[: number + 1]) for number in range(len(parts))]
    return all(step.is_dir() and not step.is_symlink() for step in steps)


def _link_all(folder: Path, original: Path) -> None:
    for name in islice(_names(original), MOST_LINKS):
        (folder / name).symlink_to(original / name)


def _names(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from sorted(entry.name for entry in entries if entry.name != _REPOSITORY)
