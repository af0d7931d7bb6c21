"""What lies in a folder that a repository names: found by a pattern, walked through, copied. No link is entered."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from fnmatch import translate
from itertools import islice
from pathlib import Path, PurePosixPath

from msgspec import Struct

from evalward.opening.inside import a_link, inside, is_git, refused, step
from evalward.records.problem import InputError

DEEPEST = 128
"""Folders in each other; beyond them a descriptor for each would be too many."""
LONGEST_PATTERN = 1_000
_MAGIC = re.compile(r"[*?\[]")


# ------------------------------------------------------------------------------------------- patterns


def glob_inside(root: Path, pattern: str) -> list[str]:
    """The regular files below `root` that a pattern matches, as `Path.glob` reads it, by name.

    A link that the pattern matches, or that it would have to go through, is an `InputError`; `**` goes past links, and
    nothing looks into `.git`. A pattern that can match nothing (`.`, `**x`) matches nothing. Raises `OSError`.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise refused(pattern, f"the pattern is longer than {LONGEST_PATTERN:,} characters", "Write a shorter one.")
    given = PurePosixPath(pattern).parts
    parts = tuple(part for number, part in enumerate(given) if part != "**" or given[number - 1 : number] != ("**",))
    odd = any(part == ".." or ("**" in part and part != "**") for part in parts)
    if not parts or pattern.startswith("/") or not _can_be_a_name(pattern) or odd:
        return []
    with inside(root, ".") as top:
        search = _Search(pattern)
        search.look(top.descriptor, parts, ())
    return sorted(search.found, key=lambda name: name.split("/"))


def _can_be_a_name(text: str) -> bool:
    """False for what no path of a file can hold."""
    return "\0" not in text and not any("\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff" for char in text)


class _Search:
    """One pattern on its way through the folders."""

    def __init__(self, pattern: str) -> None:
        self.found: set[str] = set()
        self._pattern = pattern
        self._seen: set[tuple[tuple[str, ...], int]] = set()  # several ** lead to one folder in many ways

    def look(self, here: int, parts: tuple[str, ...], above: tuple[str, ...]) -> None:
        """Whatever the rest of the pattern matches in an open folder."""
        key = (above, len(parts))
        if key in self._seen:
            return
        self._seen.add(key)
        _refuse_depth(above, self._pattern)
        if parts[0] == "**":
            self._any_depth(here, parts, above)
        elif _MAGIC.search(parts[0]):
            matches = re.compile(translate(parts[0])).fullmatch
            for name in _names(here):
                if matches(name):
                    self._match(here, name, parts, above)
        else:
            self._match(here, parts[0], parts, above)

    def _any_depth(self, here: int, parts: tuple[str, ...], above: tuple[str, ...]) -> None:
        if len(parts) > 1:
            self.look(here, parts[1:], above)
        for name in _names(here):
            if stat.S_ISDIR(_mode(here, name)):
                self._enter(here, name, parts, above)

    def _match(self, here: int, name: str, parts: tuple[str, ...], above: tuple[str, ...]) -> None:
        path, last, mode = "/".join([*above, name]), len(parts) == 1, _mode(here, name)
        if is_git(name):
            raise refused(path, "the pattern leads into .git, which is git's own", "Name files of the repository.")
        if stat.S_ISLNK(mode) and (last or _leads_to_a_folder(here, name)):
            raise a_link(path, path)
        if last and stat.S_ISREG(mode):
            self.found.add(path)
        elif not last and stat.S_ISDIR(mode):
            self._enter(here, name, parts[1:], above)

    def _enter(self, here: int, name: str, parts: tuple[str, ...], above: tuple[str, ...]) -> None:
        path = (*above, name)
        with suppress(PermissionError, FileNotFoundError), _entered(here, name, "/".join(path)) as inner:
            self.look(inner, parts, path)


def _leads_to_a_folder(here: int, name: str) -> bool:
    """Nothing is opened: a link to a file is in the way of no pattern that goes on below it."""
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=here).st_mode)
    except OSError:
        return False


def _mode(here: int, name: str) -> int:
    """What an entry is; 0 when there is none."""
    try:
        return os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _names(here: int) -> list[str]:
    with os.scandir(here) as entries:
        return sorted(entry.name for entry in entries if not is_git(entry.name))


@contextmanager
def _entered(here: int, name: str, path: str) -> Iterator[int]:
    descriptor = step(here, name, path, path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_depth(above: Collection[str], name: str) -> None:
    if len(above) > DEEPEST:
        raise refused(name, f"there are more than {DEEPEST} folders in each other", "Make the tree flatter.")


# ------------------------------------------------------------------------------------------- lists, walks and copies


class FilesNear(Struct, frozen=True):
    """Regular files below a folder, the nearest first, in each folder by name. `whole`: none was left out."""

    files: tuple[str, ...]
    whole: bool


def files_near(root: Path, most: int, deepest: int, left_out: Collection[str] = ()) -> FilesNear:
    """The regular files below `root`, of at most `most` entries that are looked at and `deepest` folders in each other.

    Links, `.git`, the names `left_out`, and folders that can't be read are passed over. Raises `OSError` where `root`
    itself can't be read.
    """
    files: list[str] = []
    folders, left, whole = deque([("", 0)]), most, True
    while folders:
        folder, depth = folders.popleft()
        try:
            entries = _some_entries(root, folder, left)
        except (OSError, InputError):
            if not folder:
                raise
            whole = False
            continue
        left -= len(entries)
        names = [(name, mode) for name, mode in sorted(entries) if name not in left_out and not is_git(name)]
        files += [f"{folder}{name}" for name, mode in names if stat.S_ISREG(mode)]
        inner = [(f"{folder}{name}/", depth + 1) for name, mode in names if stat.S_ISDIR(mode)]
        whole = whole and left > 0 and (depth < deepest or not inner)
        folders.extend(inner if depth < deepest and left > 0 else ())
    return FilesNear(tuple(files), whole)


def _some_entries(root: Path, folder: str, most: int) -> list[tuple[str, int]]:
    """Names and modes of what lies in a folder, `most` of them."""
    with inside(root, folder or ".") as opened, os.scandir(opened.descriptor) as entries:
        return [(entry.name, _mode(opened.descriptor, entry.name)) for entry in islice(entries, max(most, 0))]


class FolderEntry(Struct, frozen=True):
    """Something in a folder that is walked through; `path` counts from there. To be used before the next one is.

    `changed`: when its content last was, in seconds since 1970.
    """

    path: str
    mode: int
    size: int
    folder: int
    changed: float

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def is_link(self) -> bool:
        """A symbolic link."""
        return stat.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        """A regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        """A folder."""
        return stat.S_ISDIR(self.mode)

    def target(self) -> str:
        """Where a link leads."""
        return os.readlink(self.name, dir_fd=self.folder)

    def blocks(self) -> Iterator[bytes]:
        """A file's bytes, piece by piece, no more than its size: it may grow while it is read."""
        with _entered(self.folder, self.name, self.path) as descriptor:
            left = self.size
            while left and (block := os.read(descriptor, min(1 << 20, left))):
                left -= len(block)
                yield block


def walk_inside(root: Path, name: str, left_out: Collection[str] = ()) -> Iterator[FolderEntry]:
    """Everything in a folder below `root`, a folder before what is in it; links are told, not entered.

    `.git` and the names `left_out` are passed over. Raises `InputError` and `OSError` as `inside`.
    """
    with inside(root, name) as top:
        if top.kind == "file":
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        yield from _walk(top.descriptor, (), lambda entry: entry not in left_out, name)


def _walk(here: int, above: tuple[str, ...], included: Callable[[str], bool], requested: str) -> Iterator[FolderEntry]:
    _refuse_depth(above, requested)
    for name in filter(included, _names(here)):
        path = "/".join([*above, name])
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
        yield FolderEntry(path, found.st_mode, found.st_size, here, found.st_mtime)
        if stat.S_ISDIR(found.st_mode):
            with _entered(here, name, path) as inner:
                yield from _walk(inner, (*above, name), included, requested)


def copy_inside(root: Path, name: str, target: Path, most: int, left_out: Collection[str] = ()) -> None:
    """Copy a folder below `root` to `target`, which must not exist: links as links, pipes and devices not at all.

    Raises as `walk_inside`, and `InputError` when its files hold more than `most` bytes.
    """
    target.mkdir(parents=True)
    left = most
    for entry in walk_inside(root, name, left_out):
        copy = target / entry.path
        if entry.is_link:
            copy.symlink_to(entry.target())
        elif entry.is_folder:
            copy.mkdir()
        elif entry.is_file:
            left -= entry.size
            if left < 0:
                raise refused(name, f"the folder holds more than {most >> 20} MiB", "Make it smaller.")
            with copy.open("xb") as stream:
                for block in entry.blocks():
                    stream.write(block)
            copy.chmod(stat.S_IMODE(entry.mode) & 0o777 | 0o600)
