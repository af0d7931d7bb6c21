"""Files of a folder that somebody changed, made again what they are in the original. No link of theirs is followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

BYTECODE = "__pycache__"
"""Compiled code: Python may take it for a source that has been put back beside it."""


def put_back(original: Path, target: Path, protected: Callable[[str], bool]) -> list[str]:
    """Make every protected file of `target` what it is in `original`, or nothing; the paths that had been changed.

    What stands in the way is removed. Nobody else may work in the folders. Raises `OSError`.
    """
    before = {path for path in paths_of(original) if protected(path)}
    now = {path for path in paths_of(target) if protected(path)}
    changed = [path for path in sorted(before | now) if not _equal(original, target, path)]
    for path in changed:
        if path in before:
            _clear_way(target, path)
            remove(target / path)
            shutil.copy2(original / path, target / path, follow_symlinks=False)
        elif _way_is_clear(target, path):
            remove(target / path)
    return changed


def drop_bytecode(folder: Path) -> None:
    """Remove what was compiled: it is made again from its sources. Raises `OSError`."""
    for place, folders, files in os.walk(folder):
        for name in [name for name in (*folders, *files) if name == BYTECODE]:
            remove(Path(place) / name)
        folders[:] = [name for name in folders if name != BYTECODE]


def paths_of(folder: Path) -> Iterator[str]:
    """Files and links below a folder, by path from it."""
    for place, folders, files in os.walk(folder, followlinks=False):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            yield (Path(place) / name).relative_to(folder).as_posix()


def matches(path: str, patterns: Sequence[str]) -> bool:
    """True when the path, its name, or a folder above it matches one of the patterns."""
    parts = path.split("/")
    above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern.rstrip("/")) for pattern in patterns for each in (*above, parts[-1]))


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there. Raises `OSError`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _equal(original: Path, target: Path, path: str) -> bool:
    one, two = original / path, target / path
    if not _way_is_clear(target, path):
        return False
    if one.is_symlink() or two.is_symlink():
        return one.is_symlink() and two.is_symlink() and one.readlink() == two.readlink()
    if not (one.is_file() and two.is_file()):
        return False
    same_mode = (one.stat().st_mode ^ two.stat().st_mode) & 0o111 == 0
    return same_mode and one.read_bytes() == two.read_bytes()


def _way_is_clear(target: Path, path: str) -> bool:
    """Only real folders lead to the path: else it is somewhere else."""
    above = list(Path(path).parents)[:-1]
    return all((target / each).is_dir() and not (target / each).is_symlink() for each in above)


def _clear_way(target: Path, path: str) -> None:
    """Real folders on the way to a path, whatever had taken their place."""
    place = target
    for part in Path(path).parts[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
