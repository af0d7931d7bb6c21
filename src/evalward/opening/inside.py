"""One way to a file below a folder: every name on it is opened beside the one before, and none may be a link."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePath
from typing import Literal

from msgspec import Struct

from evalward.records.problem import InputError, wrong

Kind = Literal["file", "folder"]
MIB = 1 << 20
GIT = ".git"
"""Git's own folder: credentials may lie in it, and nothing of it is anybody's case."""

_START = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEXT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KERNEL = ("/proc", "/sys")
_LINK = "Replace the link by the file itself."
_STAY = "Paths stay in the folder that they count from, without .. in them."


class Opened(Struct, frozen=True):
    """A regular file or a folder, open for reading as long as its `inside` lasts. `name` is as it was given."""

    name: str
    descriptor: int
    kind: Kind
    size: int
    mode: int

    def blocks(self, most: int) -> Iterator[bytes]:
        """The file's bytes, piece by piece. Raises `InputError` for more than `most`, `IsADirectoryError`."""
        if self.kind == "folder":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.name)
        left = most
        if self.size > most:
            raise _too_large(self.name, most)
        while block := os.read(self.descriptor, min(MIB, left + 1)):
            left -= len(block)
            if left < 0:  # it grew
                raise _too_large(self.name, most)
            yield block

    def read(self, most: int) -> bytes:
        """All of it. Raises as `blocks` does."""
        return b"".join(self.blocks(most))

    def beginning(self, most: int) -> bytes:
        """Its first bytes, however many there are."""
        if self.kind == "folder":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.name)
        found = bytearray()
        while len(found) < most and (block := os.read(self.descriptor, min(MIB, most - len(found)))):
            found += block
        return bytes(found)


@contextmanager
def inside(root: Path, name: str) -> Iterator[Opened]:
    """Open the path `name` below the folder `root`, which may be whatever the user gave.

    Raises `InputError` for an absolute path, `..`, a link, a pipe, a socket or a device on the way, git's own folder
    and the kernel's file systems; `OSError` where there is nothing, or nothing that may be read.
    """
    parts = parts_of(name)
    here = os.open(root, _START)
    try:
        _refuse_kernel(here, name)
        for number, part in enumerate(parts, 1):
            following = step(here, part, "/".join(parts[:number]), name)
            os.close(here)
            here = following
        yield _opened(here, name)
    finally:
        os.close(here)


def _opened(descriptor: int, name: str) -> Opened:
    found = os.fstat(descriptor)
    _refuse_kernel(descriptor, name)
    return Opened(name, descriptor, kind_of(found.st_mode, name, name), found.st_size, found.st_mode)


def step(here: int, part: str, so_far: str, name: str) -> int:
    """A descriptor of the entry `part` of the open folder `here`. `so_far` is its path, `name` what was asked for."""
    kind_of(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode, so_far, name)  # before a device hears of us
    try:
        return os.open(part, _NEXT, dir_fd=here)
    except OSError as error:
        if error.errno == errno.ELOOP:  # it has become one meanwhile
            raise a_link(so_far, name) from None
        raise


def kind_of(mode: int, so_far: str, name: str) -> Kind:
    """Whether an entry is a file or a folder. Raises `InputError` for everything else."""
    if stat.S_ISLNK(mode):
        raise a_link(so_far, name)
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    raise refused(name, f"{_shown(so_far)} is neither a file nor a folder", "Name a regular file.")


def a_link(so_far: str, name: str) -> InputError:
    """What is told of a link."""
    return refused(name, f"{_shown(so_far)} is a symbolic link, and links are not followed", _LINK)


def refused(name: str, message: str, remedy: str) -> InputError:
    """A path that is not opened."""
    return wrong(_shown(name), message, remedy)


def _too_large(name: str, most: int) -> InputError:
    size = f"{most // MIB} MiB" if most >= MIB else f"{most // 1000} kB"
    return refused(name, f"the file is larger than {size}", "Make it smaller.")


def parts_of(name: str) -> list[str]:
    """The names of a path, one below the other. Raises `InputError` where it leads elsewhere by its text alone."""
    if "\0" in name or any("\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff" for char in name):
        raise refused(name, "the path has a character in it that no file's name has", "Remove it.")
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts:
        raise refused(name, "the path leads outside of its folder", _STAY)
    if any(is_git(part) for part in parts):
        raise refused(name, "the path leads into .git, which is git's own", "Name files of the repository.")
    return parts


def is_git(part: str) -> bool:
    """Whether a name is that of git's own folder, also where case makes no difference."""
    return part.casefold() == GIT


def why(error: Exception) -> str:
    """What was wrong with a path, in words for a message about whoever named it."""
    return error.problems[0].message if isinstance(error, InputError) else str(error)


def name_below(root: Path, path: PurePath) -> str:
    """The path as a name below `root`, `..` taken out. Raises `InputError` where it leads out."""
    try:
        return posixpath.normpath(path.relative_to(root).as_posix())
    except ValueError:
        raise refused(str(path), f"the path leads outside of {root}", _STAY) from None


def path_from(folder: str, name: str) -> str | None:
    """What `name` is when it counts from `folder`, itself a path below a root; `None` where it leads out of the root.

    `..` may stand in it: no name on the way is a link when it is opened, so taking it out of the text is right.
    """
    found = posixpath.normpath(posixpath.join(folder, name))
    return None if name.startswith("/") or "\0" in name or found.split("/")[0] == ".." else found


def _refuse_kernel(descriptor: int, name: str) -> None:
    if os.fstat(descriptor).st_dev in _kernel_devices():
        raise refused(name, "this is not a file on disk but one of the system's", "Name a file of the repository.")


@cache
def _kernel_devices() -> frozenset[int]:
    """Where processes tell of themselves, their environment among it."""
    own = os.stat("/").st_dev  # noqa: PTH116
    found = set()
    for place in _KERNEL:
        try:
            found.add(os.stat(place).st_dev)  # noqa: PTH116
        except OSError:
            continue
    return frozenset(found - {own})


def _shown(text: str) -> str:
    """In one line, whatever it holds."""
    cut = text[:200] + ("…" if len(text) > 200 else "")
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode("ascii") for c in cut) or "."
