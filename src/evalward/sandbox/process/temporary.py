"""Folders of ours for what commands read and leave, among the system's temporary files: none outlives us.

A trial that is cancelled gives its folder up while a thread may still copy into it: what could not be removed then is
removed at our end, when all threads have ended.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalward.sandbox.process.places import remove

_Identity = tuple[int, int, int]  # kind, device and number: a name that is free again may be anybody's
_made: dict[int, dict[Path, _Identity]] = {}  # by process: what another one has made before we were forked is its own


def new_folder(name: str, place: Path | None = None) -> Path:
    """A new folder `evalward-NAME-…`, for whoever asks to remove; in another `place` than the usual one, if so.

    Raises `OSError`.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"evalward-{name}-", dir=place)).resolve()
    _made.setdefault(os.getpid(), {})[folder] = _identity(folder)
    return folder


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """A new folder that goes at the end, with whatever is in it. Raises `OSError` where none can be made."""
    folder = new_folder(name)
    try:
        yield folder
    finally:
        remove_ours(folder)


def remove_ours(folder: Path) -> None:
    """Remove a folder that `new_folder` has made, and nothing else that has its name by now: no link is followed."""
    made = _made.get(os.getpid(), {})
    if folder in made and _is(folder, made[folder]) and remove(folder):
        del made[folder]


def remove_given(folder: Path) -> None:
    """Remove a folder that was handed over: one of ours, or one that a kind of somebody else's has made."""
    remove_ours(folder)
    shutil.rmtree(folder, ignore_errors=True)


@atexit.register
def remove_left() -> None:
    """Remove what is left of ours; nothing is under way any more."""
    for folder in list(_made.get(os.getpid(), {})):
        remove_ours(folder)
    _made.pop(os.getpid(), None)


def _identity(folder: Path) -> _Identity:
    found = folder.lstat()
    return stat.S_IFMT(found.st_mode), found.st_dev, found.st_ino  # a link may get the number of what it replaces


def _is(folder: Path, identity: _Identity) -> bool:
    try:
        return _identity(folder) == identity
    except OSError:
        return False
