"""The way down into a folder that a hostile command may be changing: name by name, and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class FoundPath(NamedTuple):
    """What is at a path. `descriptor`: of files and folders; others are not opened."""

    descriptor: int | None
    kind: str  # file, directory, other


class SymbolicLink(NamedTuple):
    """A symbolic link on the way: the number of names before it, and where it leads."""

    depth: int
    target: str


def descend(root: str, names: Sequence[str]) -> FoundPath | SymbolicLink | None:
    """Open name after name, without following a link: nothing can be exchanged under our hands.

    `None`: there is nothing. Raises `PermissionError` when we may not look.
    """
    try:
        here = os.open(root, FILE)
    except PermissionError:
        raise
    except OSError:
        return None
    for depth, name in enumerate(names):
        try:
            found = _step(here, name, depth)
        except PermissionError:
            raise
        except OSError:
            found = None
        finally:
            os.close(here)
        if not isinstance(found, int):
            return found
        here = found
    return _kind_of(here)


def _step(here: int, name: str, depth: int) -> int | SymbolicLink | FoundPath:
    mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return SymbolicLink(depth, os.readlink(name, dir_fd=here))
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return FoundPath(None, "other")  # opening a device or a pipe may do something
    return os.open(name, FILE, dir_fd=here)


def _kind_of(descriptor: int) -> FoundPath:
    mode = os.fstat(descriptor).st_mode
    return FoundPath(descriptor, "directory" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other")
