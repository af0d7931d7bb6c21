"""Writing below a folder that is opened once, name by name: no link in it is followed, whoever put it there.

A path is looked up anew each time that it is used, and a folder in a checkout may have been committed by a stranger or
be changed by a program that runs beside us. A descriptor stays what it was when it was opened.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NoReturn

from evalward.records.problem import wrong

REMEDY = "Name a folder of its own."
MOST_READ = 64 << 20  # bytes of a file
MOST_COPIED, MOST_ENTRIES = 2 << 30, 200_000  # bytes and names of a folder that is copied
MOST_HELD = 16  # folders below one, each with a descriptor
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What lies below a folder: its path with forward slashes, and what it is itself, not what it leads to."""

    path: str
    stat: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, and no link to one."""
        return stat.S_ISDIR(self.stat.st_mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, wherever that leads."""
        return stat.S_ISLNK(self.stat.st_mode)

    @property
    def strange(self) -> str:
        """What makes it nothing that a run of ours leaves, `""` for a folder and a file with one name."""
        mode = self.stat.st_mode
        if self.is_link:
            return "a symbolic link"
        if stat.S_ISDIR(mode):
            return ""
        if not stat.S_ISREG(mode):
            return "no regular file"
        return "a file with another name elsewhere (a hard link)" if self.stat.st_nlink > 1 else ""


class Folder:
    """A folder, opened when it is first used; `parent` and a name below it, or a path.

    A relative path counts from `anchor`, else from where we run. Every method raises `InputError` where a link is in
    the way, `OSError` where the system refuses.
    """

    def __init__(self, path: Path, anchor: Path | None = None, *, strict: bool = True) -> None:
        self.path = path
        self._open: Callable[[bool], int] = lambda make: _open_path(path, anchor, strict=strict, make=make)
        self._handle: int | None = None
        self._held: dict[tuple[str, ...], _HeldFolder] = {}

    def below(self, name: str) -> Folder:
        """A folder below this one, found through it."""
        found = Folder(self.path / name)
        found._open = lambda make: self._opened(_parts(name), make=make)
        return found

    def handle(self, *, make: bool = True) -> int:
        """The descriptor, kept until nobody has this object any more."""
        if self._handle is None:
            self._handle = self._open(make)
            weakref.finalize(self, os.close, self._handle)
        return self._handle

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all; its folders are made. A link is replaced, never followed; no device is."""
        *folders, last = _parts(name)
        with self._within(folders) as here:
            _refuse_special(here, last, self.path / name)
            temporary = _temporary(last)
            try:
                _write_new(here, temporary, data)
                os.rename(temporary, last, src_dir_fd=here, dst_dir_fd=here)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=here)
                raise

    def create(self, name: str, data: bytes) -> None:
        """Write a new file; its folders are made. Raises `FileExistsError` where anything has the name."""
        *folders, last = _parts(name)
        with self._within(folders) as here:
            _write_new(here, last, data)

    def read(self, name: str, most: int = MOST_READ) -> bytes:
        """The content of a regular file of at most so many bytes."""
        *folders, last = _parts(name)
        with self._within(folders, make=False) as here:
            handle = os.open(last, _READ, dir_fd=here)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(f"{name} is not a regular file")
            data = file.read(min(found.st_size, most) + 1)  # no buffer of the most that a file may hold
            if len(data) > found.st_size:  # it grew
                data += file.read(most + 1 - len(data))
        if len(data) > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
        return data

    def has(self, name: str) -> bool:
        """Whether anything has this name, be it a link to nothing."""
        *folders, last = _parts(name)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._within(folders, make=False) as here:
            os.stat(last, dir_fd=here, follow_symlinks=False)
            return True
        return False

    def in_the_way(self, name: str) -> TreeEntry | None:
        """What keeps a file from being created: a link in its path, or something else where a folder should be."""
        parts = _parts(name)
        for end in range(1, len(parts) + 1):
            path = "/".join(parts[:end])
            try:
                with self._within(parts[: end - 1], make=False) as here:
                    entry = TreeEntry(path, os.stat(parts[end - 1], dir_fd=here, follow_symlinks=False))
            except FileNotFoundError:
                return None
            if entry.is_link or (end < len(parts) and not entry.is_folder):
                return entry
        return None

    def remove(self, name: str) -> None:
        """Remove a file, a link itself or a folder with all that is in it; nothing where there is none."""
        *folders, last = _parts(name)
        with contextlib.suppress(FileNotFoundError), self._within(folders, make=False) as here:
            if stat.S_ISDIR(os.stat(last, dir_fd=here, follow_symlinks=False).st_mode):
                shutil.rmtree(last, dir_fd=here)
            else:
                os.unlink(last, dir_fd=here)

    def put(self, source: Path | int, name: str, change: Callable[[bytes], bytes], owner: int | None = None) -> None:
        """Copy a folder to a name that nothing has, whole or not at all.

        `source` may be an open folder's descriptor. Only folders and regular files are copied, and only those of
        `owner`, if one is named: whoever gives us a descriptor may have fewer rights than we. `change` is applied to
        what is in the files, and to names.
        """
        *folders, last = _parts(name)
        with self._within(folders) as here:
            temporary = _temporary(last)
            try:
                os.mkdir(temporary, dir_fd=here)
                with _entered(here, temporary) as target, _closing(_opened(source)) as origin:
                    _copy(origin, target, change, _Copying(owner))
                os.rename(temporary, last, src_dir_fd=here, dst_dir_fd=here)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True, dir_fd=here)
                raise

    def names(self) -> list[str]:
        """What lies in it, in order."""
        return sorted(os.listdir(self.handle()))  # noqa: PTH208 - of a descriptor

    def entries(self) -> Iterator[TreeEntry]:
        """Everything below it."""
        for place, folders, files, here in os.fwalk(".", dir_fd=self.handle()):
            for name in sorted([*folders, *files]):
                path = str(PurePosixPath(place, name))
                yield TreeEntry(path, os.stat(name, dir_fd=here, follow_symlinks=False))

    def give(self, user: int, group: int) -> list[str]:
        """Give it and all that is below to a user; the paths that refused. Links are given, not what they lead to."""
        refused = []
        try:
            top = self.handle(make=False)
            os.fchown(top, user, group)
        except OSError:
            return ["."]
        for place, folders, files, here in os.fwalk(".", dir_fd=top):
            for name in (*folders, *files):
                try:
                    os.chown(name, user, group, dir_fd=here, follow_symlinks=False)
                except OSError:
                    refused.append(str(PurePosixPath(place, name)))
        return refused

    def _opened(self, names: list[str], *, make: bool) -> int:
        with self._within(names, make=make) as here:
            return os.dup(here)

    @contextlib.contextmanager
    def _within(self, names: list[str], *, make: bool = True) -> Iterator[int]:
        """The descriptor of a folder below, which is made where it is missing."""
        if not names:
            yield self.handle(make=make)
            return
        held = self._found(tuple(names)) or self._stepped(tuple(names), make=make)
        yield held.handle  # `held` is this call's own for as long: no other thread closes it

    def _found(self, names: tuple[str, ...]) -> _HeldFolder | None:
        """A folder that is held, as long as its path still leads to it: one call of the system instead of many."""
        held = self._held.get(names)
        if held is None:
            return None
        with contextlib.suppress(OSError):
            there = os.stat("/".join(names), dir_fd=self._handle, follow_symlinks=False)
            if os.path.samestat(there, held.stat):
                return held
        self._held.pop(names, None)
        return None

    def _stepped(self, names: tuple[str, ...], *, make: bool) -> _HeldFolder:
        """A folder below that is opened name by name, and held from then on."""
        here = os.dup(self.handle(make=make))
        try:
            seen = self.path
            for name in names:
                seen /= name
                here = _step(here, name, seen, strict=True, make=make)
            held = _HeldFolder(here)
        except BaseException:
            os.close(here)
            raise
        if len(self._held) >= MOST_HELD:
            self._held.clear()
        self._held[names] = held
        return held


class _HeldFolder:
    """A descriptor of a folder, closed when nobody has this object any more."""

    def __init__(self, handle: int) -> None:
        self.handle, self.stat = handle, os.fstat(handle)
        weakref.finalize(self, os.close, handle)


def _refuse_special(here: int, name: str, path: Path) -> None:
    """Raises `InputError` where a program or the system reads from what has the name: a file would cut it off."""
    try:
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise wrong(str(path), "is a device, pipe or socket, no file", "Name a file.")


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise ValueError(f"{name!r} is not a path below a folder")
    return parts


def _write_new(here: int, name: str, data: bytes) -> None:
    handle = os.open(name, _NEW, 0o666, dir_fd=here)
    try:
        write_all(handle, data)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write all of it to a descriptor. Raises `OSError` where the system refuses."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _temporary(name: str) -> str:
    return f".{name[:200]}.{os.urandom(8).hex()}"


def _open_path(path: Path, anchor: Path | None, *, strict: bool, make: bool) -> int:
    """The descriptor of a folder.

    Links that lead to where we run, and to a repository, are the user's; below those they may be anybody's and are
    refused. `strict`: the folder itself is never a link, wherever it lies.
    """
    anchor = anchor or Path.cwd()
    absolute = path.is_absolute()
    parts = path.parts[1:] if absolute else path.parts
    top, seen = anchor.stat(), Path("/") if absolute else Path()
    here, inside = os.open("/" if absolute else anchor, _FOLDER), not absolute
    try:
        for number, part in enumerate(parts, 1):
            seen /= part
            inside = inside or os.path.samestat(os.fstat(here), top) or _is_repository(here)
            itself = strict and number == len(parts)
            here = _step(here, part, seen, strict=inside or itself, make=make)
    except BaseException:
        os.close(here)
        raise
    return here


def _is_repository(here: int) -> bool:
    with contextlib.suppress(OSError):
        os.stat(".git", dir_fd=here, follow_symlinks=False)
        return True
    return False


def _step(here: int, name: str, seen: Path, *, strict: bool, make: bool) -> int:
    """The descriptor of a folder in another one, whose descriptor is closed when that went well."""
    flags = _FOLDER | (os.O_NOFOLLOW if strict else 0)
    try:
        there = os.open(name, flags, dir_fd=here)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=here)
        there = os.open(name, flags, dir_fd=here)
    except OSError:
        if strict and stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise wrong(str(seen), "is a symbolic link, which is not followed", REMEDY) from None
        raise
    os.close(here)
    return there


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _entered(here: int, name: str) -> contextlib.AbstractContextManager[int]:
    return _closing(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here))


def _opened(folder: Path | int) -> int:
    """A descriptor of our own of a folder that is no link."""
    if isinstance(folder, int):
        return os.open(".", _FOLDER, dir_fd=folder)
    return os.open(folder, _FOLDER | os.O_NOFOLLOW)


@dataclass
class _Copying:
    """What may still be copied, and whose."""

    owner: int | None
    room: int = field(default_factory=lambda: MOST_COPIED)
    entries: int = field(default_factory=lambda: MOST_ENTRIES)

    def check(self, handle: int) -> None:
        """Raises `OSError` where what is open is somebody else's."""
        if self.owner is not None and os.fstat(handle).st_uid != self.owner:
            raise PermissionError(errno.EPERM, "somebody else's file can't be kept")

    def read(self, file: BinaryIO) -> bytes:
        """All of a file, whose size may be no more than a claim."""
        self.check(file.fileno())
        data = b"" if os.fstat(file.fileno()).st_size > self.room else file.read(self.room + 1)
        self.room -= max(len(data), os.fstat(file.fileno()).st_size)
        return data if self.room >= 0 else self.refuse()

    def count(self) -> None:
        """One more name."""
        self.entries -= 1
        if self.entries < 0:
            self.refuse()

    @staticmethod
    def refuse() -> NoReturn:
        """It is too much."""
        raise OSError(errno.EFBIG, "a folder is too large to be kept")


def _copy(origin: int, target: int, change: Callable[[bytes], bytes], copying: _Copying) -> None:
    copying.check(origin)
    for name in sorted(os.listdir(origin)):
        copying.count()
        new = os.fsdecode(change(os.fsencode(name)))
        mode = os.stat(name, dir_fd=origin, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            os.mkdir(new, dir_fd=target)
            with _entered(origin, name) as inner, _entered(target, new) as made:
                _copy(inner, made, change, copying)
        elif stat.S_ISREG(mode):
            with os.fdopen(os.open(name, _READ, dir_fd=origin), "rb") as file:
                data = copying.read(file)
            with os.fdopen(os.open(new, _NEW, 0o666 & mode | 0o600, dir_fd=target), "wb") as file:
                file.write(change(data))
