"""A program of the repository behind walls: what it may read, and what is hidden from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.sandbox.launcher.plan import SYSTEM

MOST_ENTRIES = 200_000  # of the configuration's folder that are looked at for what has to be hidden


def repositories(root: Path) -> Iterator[Path]:
    """Every `.git` below the folder: histories, and what a checkout may have left in its configuration."""
    entries = 0
    for place, folders, files in os.walk(root):
        entries += len(folders) + len(files)
        if ".git" in (*folders, *files):
            yield Path(place, ".git")
        folders[:] = [name for name in folders if name != ".git"]
        if entries > MOST_ENTRIES:
            return


def case_files(loaded: LoadedConfig) -> Iterator[Path]:
    """The files with the expected answers."""
    for suite in loaded.config.suites:
        for pattern in suite.cases:
            yield from islice(loaded.root.glob(pattern), MOST_ENTRIES)


def installed_along(path: str) -> Iterator[Path]:
    """Where the PATH leads beside the system's folders, and the interpreters that belong to it and to us."""
    homes = _homes()
    yield from (Path(sys.prefix), Path(sys.base_prefix))
    for folder in map(Path, filter(None, path.split(os.pathsep))):
        system = any(str(folder) == known or str(folder).startswith(f"{known}/") for known in SYSTEM)
        if system or not folder.is_absolute() or not folder.is_dir() or folder in homes:
            continue
        yield folder
        if folder.name == "shims":  # of a version manager, which lead to what it has installed
            yield folder.parent
        if (folder.parent / "pyvenv.cfg").is_file():  # a virtual environment, and whose interpreter it has
            yield from (folder.parent, (folder / "python").resolve().parent.parent)


def _homes() -> frozenset[Path]:
    """Our home and the folders above it; none for a user without one, as who opens the head's files in a container."""
    try:
        home = Path.home()
    except RuntimeError:
        return frozenset()
    return frozenset((home, *home.parents))
