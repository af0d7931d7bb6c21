"""What a suite of the base needs to be measured: asked of the keeper, and written to a private folder of ours.

Every byte comes from git's objects or the API by way of the keeper, none from the checkout. Files come first, links
last, and none is followed: what lies there in the end is what the base commit has at these paths, and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from evalward.config import Suite
from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.graders.source import Reference, is_grader, parse_reference
from evalward.opening import MIB, beside
from evalward.records.problem import wrong
from evalward.wire.messages import BaseFile
from evalward.writing import Folder

MOST_FILES = 2_000
MOST_BYTES = 64 * MIB
_POINTER = b"version https://git-lfs.github.com/spec/"
_MAGIC = re.compile(r"[*?\[]")
_REMEDY = "Nothing is wrong; it is only not measured beside the head."

Read = Callable[[str], bytes | None]
Listed = Callable[[str], Sequence[BaseFile] | None]


@dataclass
class BaseFiles:
    """Files of the base commit, by their paths from the configuration's folder.

    `read` gives one, `None` where the base has none; `listed` those below a folder, `None` where that can't be known.
    """

    read: Read
    listed: Listed
    _found: dict[str, _File] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)
    _size: int = 0

    def take(self, suite: Suite) -> None:
        """Ask for what a suite needs. What the base lacks is left out. Raises `InputError` for what is too much."""
        for name in _named(suite):
            self._take(name)
        cases = [name for pattern in suite.cases for name in self._matching(pattern)]
        if suite.kind == "scenario":
            for name in cases:
                self._take_scenario(name)
        for name in cases:
            for reference in _graders_of(suite.kind, name, self._found[name].content):
                self._take_grader(reference)

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

    def _take_scenario(self, name: str) -> None:
        here = posixpath.dirname(name)
        folder, files = _names_of_scenario(self._found[name].content, PurePosixPath(name).stem)
        for each in files:
            self._take(beside(here, each))
        fixture = beside(here, folder)
        for file in self._below(fixture) if fixture else ():
            self._take_listed(file)

    def _take_grader(self, reference: Reference) -> None:
        """The files of a grader; none for one that is installed."""
        first = reference.files[0]
        for file in self._below(posixpath.dirname(first) or "."):
            if reference.belongs(file.path):
                self._take_listed(file)
        for parent in PurePosixPath(first).parents[1:] if reference.module else ():
            self._take(str(parent / "__init__.py"))

    def _take(self, name: str | None) -> bool:
        """Ask for a file; whether there is one."""
        path = None if name is None else posixpath.normpath(name)
        if path is None or not _can_be_written(path):
            return False
        if path not in self._found:
            content = self.read(path)
            if content is None:
                return False
            self._put(path, _File(content))
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
            self._found[file.path] = _File(self._found[file.path].content, program=True)
        return there

    def _put(self, path: str, file: _File) -> None:
        if file.content.startswith(_POINTER):
            raise wrong(path, "is kept in Git LFS, and the base commit has a pointer to it alone", _REMEDY)
        self._found[path] = file
        self._count(len(file.content))

    def _count(self, size: int) -> None:
        self._size += size
        if len(self._found) + len(self._links) > MOST_FILES or self._size > MOST_BYTES:
            limit = f"{MOST_FILES:,} files or {MOST_BYTES // MIB} MiB"
            raise wrong("the base commit", f"has more than {limit} that its suites need", _REMEDY)


@dataclass(frozen=True)
class _File:
    """A file's bytes, and whether it can be run."""

    content: bytes
    program: bool = False


def _named(suite: Suite) -> list[str]:
    """The files that a suite's own keys name."""
    found = [getattr(suite, "system", None), getattr(suite, "tool", None)]
    return [name for name in found if name is not None]


def _names_of_scenario(content: bytes, stem: str) -> tuple[str, list[str]]:
    """The fixture's folder, and the files that a scenario names; none where it can't be read: the loader says why."""
    from evalward.suites.scenario.tolerance import adapt  # noqa: PLC0415 - only scenarios name files

    try:
        tree = read_yaml(content.decode("utf-8-sig"))
    except (YamlError, UnicodeDecodeError):
        return "", []
    adapt(tree, stem)
    scenario = _mapping(tree.value)
    rubric = _mapping(_mapping(scenario.get("evaluation")).get("judge")).get("rubric")
    variants = [_mapping(one) for one in _mapping(scenario.get("variants")).values()]
    written = [file for one in variants for file in (one.get("system"), *_mapping(one.get("files")).values())]
    folder = scenario.get("template_folder")
    files = [name for name in (rubric, *written) if isinstance(name, str)]
    return (folder if isinstance(folder, str) else ""), files


def _graders_of(kind: str, name: str, content: bytes) -> list[Reference]:
    """The graders that the cases of a file name; none where it can't be read: the loader says why."""
    checks = _checks_of_lines(content) if kind == "bash" else _checks_of_scenario(name, content)
    found = []
    for check in checks if kind in {"bash", "scenario"} else ():
        with contextlib.suppress(ValueError):
            found += [parse_reference(check)] if isinstance(check, str) and is_grader(check) else []
    return found


def _checks_of_lines(content: bytes) -> Iterator[Any]:
    for line in content.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            expectations = _mapping(json.loads(line)).get("expectations")
            yield from (_mapping(one).get("check") for one in _items(expectations))


def _checks_of_scenario(name: str, content: bytes) -> Iterator[Any]:
    from evalward.suites.scenario.tolerance import adapt  # noqa: PLC0415 - as above

    with contextlib.suppress(YamlError, UnicodeDecodeError):
        tree = read_yaml(content.decode("utf-8-sig"))
        adapt(tree, PurePosixPath(name).stem)
        gates = _items(_mapping(_mapping(tree.value).get("evaluation")).get("gates"))
        yield from (_mapping(gate).get("check") for gate in gates if _mapping(gate).get("type") == "grader")


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


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
