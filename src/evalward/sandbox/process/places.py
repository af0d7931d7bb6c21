"""Files that a hostile command may have made: read, copied and removed without following its links anywhere."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evalward.sandbox.base import FileTooLargeError
from evalward.sandbox.launcher.descend import FILE, FoundPath, SymbolicLink, descend

DEEPEST = 64  # folders below each other that are copied
MOST_LINKS = 40  # that are followed on the way to one file, as the kernel has it
UNCOPYABLE = {errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EILSEQ}
LEFT_OUT = (".git",)
READ_MOST = 64 << 20  # bytes of one file
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


Open = Callable[[str, Sequence[str]], FoundPath | SymbolicLink | None]
"""Opens what is below a root of the sandbox: for whoever may not look at it himself."""


class Places:
    """The folders of a workspace as the commands name them, each with our own path of it."""

    def __init__(self, folder: Path, roots: Mapping[str, Path], open_for_us: Open | None = None) -> None:
        """`folder`: what relative paths count from. `roots`: absolute path in the sandbox → ours."""
        self._folder, self._open_for_us = folder, open_for_us
        self._roots = sorted(roots.items(), key=lambda item: -len(item[0]))

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[FoundPath | None]:
        """What is at the path, links followed as the commands would see them; `None` when it is not theirs."""
        found = _walk(self, str(PurePosixPath(self._folder) / path)) if "\0" not in path else None
        try:
            yield found
        finally:
            if found is not None and found.descriptor is not None:
                os.close(found.descriptor)

    def look(self, root: str, ours: Path, names: Sequence[str]) -> FoundPath | SymbolicLink | None:
        """What is there, one way or the other."""
        try:
            return descend(str(ours), names)
        except PermissionError:
            return None if self._open_for_us is None else self._open_for_us(root, names)

    def root_of(self, path: str) -> tuple[str, Path, list[str]] | None:
        """The root above an absolute path of the sandbox, our path of that root, and the names below it."""
        for root, ours in self._roots:
            if path == root or path.startswith(root + "/"):
                return root, ours, [name for name in path[len(root) :].split("/") if name]
        return None


def _walk(places: Places, path: str) -> FoundPath | None:
    for _ in range(MOST_LINKS):
        place = places.root_of(os.path.normpath(path))
        if place is None:
            return None
        root, ours, names = place
        found = places.look(root, ours, names)
        if not isinstance(found, SymbolicLink):
            return found
        path = "/".join([root, *names[: found.depth]])
        path = os.path.join(path, found.target, *names[found.depth + 1 :])  # noqa: PTH118 - a path of the sandbox
    return None


def read_all(descriptor: int) -> bytes:
    """The file's bytes. Raises `FileTooLargeError` for one of absurd size."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        content = file.read(READ_MOST + 1)
    if len(content) > READ_MOST:
        raise FileTooLargeError(f"the file is larger than {READ_MOST >> 20} MiB")
    return content


# --- copies ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Copied:
    """What was copied, and the number of entries that were left out. `full`: some of them for want of room."""

    files: int
    size: int
    skipped: int
    full: bool

    def __add__(self, other: Copied) -> Copied:
        """Both copies together."""
        return Copied(
            self.files + other.files, self.size + other.size, self.skipped + other.skipped, self.full or other.full
        )


class Copier:
    """Copies a folder: files and folders, links as links, nothing else; up to a size and a depth.

    `left_out` is copied from nowhere, however deep it lies: git keeps credentials in `.git`. `lenient`: what can't be
    copied (a path that is too long, a folder that is closed) is left out and counted, too.
    """

    def __init__(self, limit_bytes: int, left_out: Collection[str] = LEFT_OUT, *, lenient: bool = False) -> None:
        self._limit, self._left_out, self._lenient = limit_bytes, left_out, lenient
        self._files = self._size = self._skipped = 0
        self._full = False

    def copy(self, source: Path, target: Path) -> Copied:
        """Copy `source` into the folder `target`, which is made if need be. Raises `OSError`."""
        target.mkdir(parents=True, exist_ok=True)
        here = os.open(source, _FOLDER)
        try:
            self._folder(here, target, 0)
        finally:
            os.close(here)
        return Copied(self._files, self._size, self._skipped, self._full)

    def _folder(self, here: int, target: Path, depth: int) -> None:
        with os.scandir(here) as entries:
            names = sorted(entry.name for entry in entries if entry.name not in self._left_out)
        for name in names:
            try:
                mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
            except OSError:
                continue  # removed meanwhile
            try:
                self._entry(here, name, mode, target / name, depth)
            except OSError as error:
                if not self._lenient or error.errno not in UNCOPYABLE:
                    raise
                self._skipped += 1

    def _entry(self, here: int, name: str, mode: int, target: Path, depth: int) -> None:
        if stat.S_ISLNK(mode):
            target.symlink_to(os.readlink(name, dir_fd=here))
        elif stat.S_ISREG(mode):
            self._file(here, name, target)
        elif stat.S_ISDIR(mode) and depth < DEEPEST:
            self._subfolder(here, name, target, depth)
        else:
            self._skipped += 1

    def _subfolder(self, here: int, name: str, target: Path, depth: int) -> None:
        try:
            inner = os.open(name, _FOLDER, dir_fd=here)
        except OSError:
            self._skipped += 1
            return
        try:
            target.mkdir()
            self._folder(inner, target, depth + 1)
            target.chmod(stat.S_IMODE(os.fstat(inner).st_mode) & 0o777 | 0o700)
        finally:
            os.close(inner)

    def _file(self, here: int, name: str, target: Path) -> None:
        try:
            descriptor = os.open(name, FILE, dir_fd=here)
        except OSError:
            self._skipped += 1
            return
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            too_large = self._size + status.st_size > self._limit
            if not stat.S_ISREG(status.st_mode) or too_large:
                self._full = self._full or too_large
                self._skipped += 1
                return
            with target.open("xb") as copy:
                self._size += _pour(file.fileno(), copy.fileno(), self._limit - self._size)
            target.chmod(stat.S_IMODE(status.st_mode) & 0o777 | 0o600)
        self._files += 1


def _pour(source: int, target: int, most: int) -> int:
    """Copy bytes, no more than `most` of them: a file may grow while it is read."""
    done = 0
    while done < most and (data := os.read(source, min(1 << 20, most - done))):
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]
        done += len(data)
    return done


# --- removal --------------------------------------------------------------------------------------------------------


def remove(folder: Path) -> bool:
    """Remove a folder with all that is in it, however deep; nobody works in it any more. False: something is left.

    Folders are moved up before they are emptied, so no path gets long and nothing recurses.
    """
    attic = folder / f".{secrets.token_hex(8)}"
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        attic.mkdir(mode=0o700)
    numbers, queue = itertools.count(), [folder]
    while queue:
        here = queue.pop()
        for entry in _entries(here):
            if not entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108
            elif entry.name != attic.name:
                queue += _moved(entry.path, attic / str(next(numbers)))
        if here != folder:
            with contextlib.suppress(OSError):
                here.rmdir()
    for place in (attic, folder):
        with contextlib.suppress(OSError):
            place.rmdir()
    return not os.path.lexists(folder)


def _moved(path: str, place: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        os.chmod(path, 0o700)  # noqa: PTH101
        os.rename(path, place)  # noqa: PTH104
        return [place]
    return []


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        with os.scandir(folder) as found:
            return list(found)
    return []
