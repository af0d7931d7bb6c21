"""What a suite of the base needs to be measured: asked of the keeper, and written to a private folder of ours.

Every byte comes from git's objects or the API by way of the keeper, none from the checkout. Files come first, links
last, and none is followed: what lies there in the end is what the base commit has at these paths, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from msgspec import Struct, field

from evalward.config import Suite
from evalward.graders.source import Reference, parse_reference
from evalward.opening import MIB
from evalward.records.problem import wrong
from evalward.wire.messages import BaseFile
from evalward.writing import Folder

MOST_FILES = 2_000
MOST_BYTES = 64 * MIB
_POINTER = b"version https://git-lfs.github.com/spec/"
_MAGIC = re.compile(r"[*?\[]")
_REMEDY = "Nothing is wrong; it is just not measured alongside the head."

Read = Callable[[str], bytes | None]
Listed = Callable[[str], Sequence[BaseFile] | None]


class BaseFilesReader(Struct):
    """Files of the base commit, by their paths from the configuration's folder.

    `read` gives one, `None` where the base has none; `listed` those below a folder, `None` where that can't be known.
    """

    read: Read
    listed: Listed
    _found: dict[str, _BaseFile] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)
    _size: int = 0

    def take(self, suite: Suite) -> None:
        """Ask for what a suite needs. What the base lacks is left out. Raises `InputError` for what is too much."""
        for name in _named(suite):
            if not self._take(name):  # it may be a pattern
                list(self._matching(name))
        patterns = [pattern for key in suite.naming_keys for pattern in suite.named_by(key)]
        for name in dict.fromkeys(name for pattern in patterns for name in self._matching(pattern)):
            named = suite.files_named_in(name, self._found[name].content)
            for each in named.files:
                self._take(each)
            for file in (file for folder in named.folders for file in self._below(folder)):
                self._take_listed(file)
            for check in named.graders:
                with contextlib.suppress(ValueError):  # the loader says what is wrong with it
                    self._take_grader(parse_reference(check))

    def write(self, folder: Path) -> None:
        """Write what was asked for since, into a folder that only we write to. Raises `OSError`."""
        place = Folder(folder)
        for path, file in self._found.items():
            if path not in self._written:
                place.write(path, file.content)
                os.chmod(folder / path, 0o755 if file.program else 0o644, follow_symlinks=True)  # noqa: PTH101
        for path, target in self._links.items():
            if path not in self._written and _stays_inside(path, target):
                _link(folder, path, target)
        self._written |= {*self._found, *self._links}

    # --- what there is ----------------------------------------------------------------------------------------------

    def _matching(self, pattern: str) -> Iterator[str]:
        """Files that a pattern may match, asked for; the loader looks again which of them it does."""
        pattern = posixpath.normpath(pattern)
        parts = pattern.split("/")
        fixed = next((n for n, part in enumerate(parts) if _MAGIC.search(part)), None)
        if fixed is None:
            if self._take(pattern):
                yield pattern
            return
        wide = pattern.replace("**/", "*").replace("**", "*")
        for file in self._below("/".join(parts[:fixed]) or "."):
            if fnmatchcase(file.path, wide) and self._take_listed(file):
                yield file.path

    def _below(self, folder: str) -> Sequence[BaseFile]:
        found = self.listed(folder)
        if found is None:
            raise wrong(folder, "what the base commit has there can't be listed here", "Check out with fetch-depth: 2.")
        return found

    def _take_grader(self, reference: Reference) -> None:
        """The files of a grader; none for one that is installed."""
        first = reference.files[0]
        for file in self._below(posixpath.dirname(first) or "."):
            if reference.belongs(file.path):
                self._take_listed(file)
        for parent in PurePosixPath(first).parents[1:] if reference.module else ():
            self._take(str(parent / "__init__.py"))

    def _take(self, name: str) -> bool:
        """Ask for a file; whether there is one."""
        path = posixpath.normpath(name)
        if not _can_be_written(path):
            return False
        if path not in self._found:
            content = self.read(path)
            if content is None:
                return False
            self._put(path, _BaseFile(content))
        return True

    def _take_listed(self, file: BaseFile) -> bool:
        if not _can_be_written(file.path):
            return False
        if file.link == "":
            raise wrong(file.path, "is a submodule of the base commit, or a link to nowhere", _REMEDY)
        if file.link is not None:
            self._links[file.path] = file.link
            self._count(0)
            return False
        there = self._take(file.path)
        if there and file.program:
            self._found[file.path] = _BaseFile(self._found[file.path].content, program=True)
        return there

    def _put(self, path: str, file: _BaseFile) -> None:
        if file.content.startswith(_POINTER):
            raise wrong(path, "is kept in Git LFS, and the base commit has a pointer to it alone", _REMEDY)
        self._found[path] = file
        self._count(len(file.content))

    def _count(self, size: int) -> None:
        self._size += size
        if len(self._found) + len(self._links) > MOST_FILES or self._size > MOST_BYTES:
            limit = f"{MOST_FILES:,} files or {MOST_BYTES // MIB} MiB"
            raise wrong("the base commit", f"has more than {limit} that its suites need", _REMEDY)


class _BaseFile(Struct, frozen=True):
    """A file's bytes, and whether it can be run."""

    content: bytes
    program: bool = False


def _named(suite: Suite) -> list[str]:
    """The files that a suite's own keys name."""
    return [name for key in suite.file_keys if key != "cases" for name in suite.named_by(key)]


def _can_be_written(path: str) -> bool:
    parts = path.split("/")
    return not any(part in {"", ".", ".."} or part.casefold() == ".git" or "\0" in part for part in parts)


def _stays_inside(path: str, target: str) -> bool:
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return bool(target) and "\0" not in target and not target.startswith("/") and leads.split("/")[0] != ".."


def _link(folder: Path, path: str, target: str) -> None:
    place = folder / path
    above = [folder / parent for parent in PurePosixPath(path).parents if str(parent) != "."]
    if os.path.lexists(place) or any(parent.is_symlink() for parent in above):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
