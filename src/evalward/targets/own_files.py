"""The files of the repository that a command of the configuration names: who is started by it is made of them.

They are part of the subject by their content, so that an edit without a commit is another subject, too. Python files
count with those of their folder and below, which they may import, as a grader's do. What lies elsewhere (a program on
the PATH, an installed package, what a program reads when it runs) isn't known.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath

from evalward.graders.source import LEFT_OUT, MOST_ENTRIES, MOST_FILES, PYTHON
from evalward.opening import MIB, hash_inside, kind_inside, link_free, walk_inside
from evalward.records.base import digest
from evalward.records.problem import InputError
from evalward.records.report import PROGRAM_FILES

MOST_BYTES = 2048 * MIB
"""Of one file; a larger one counts by its name alone."""


def program_files(root: Path, command: Sequence[str]) -> dict[str, str]:
    """The part of a subject for the files below `root` that a command names; nothing where it names none."""
    found: dict[str, str] = {}
    for name in _named(root, command):
        for path in (name, *_python_beside(root, name)):
            if path not in found:
                found[path] = _content(root, path)
    return {PROGRAM_FILES: digest(found)} if found else {}


def _named(root: Path, command: Sequence[str]) -> Iterator[str]:
    """The files of its words, and of what stands behind the = of an option. A first word without / is on the PATH."""
    first = command[0]
    for word in (*([first] if "/" in first else []), *command[1:]):
        for text in dict.fromkeys((word, word.partition("=")[2])):
            name = _file(root, text)
            if name is not None:
                yield name


def _file(root: Path, text: str) -> str | None:
    """A path as a name below `root`, its links read; `None` for what is no file there."""
    if not text or "\0" in text:
        return None
    top = root.absolute()
    if PurePath(text).is_absolute():
        if not PurePath(os.path.normpath(text)).is_relative_to(top):
            return None
        text = str(PurePath(os.path.normpath(text)).relative_to(top))
    try:
        name = link_free(root, posixpath.normpath(text))
        return name if kind_inside(root, name) == "file" else None
    except (InputError, OSError):
        return None


def _python_beside(root: Path, name: str) -> list[str]:
    """The Python files of its folder and below, where it is one and lies in a folder of its own."""
    folder = posixpath.dirname(name)
    if not folder or not name.endswith(PYTHON):
        return []
    found: list[str] = []
    try:
        for entry in islice(walk_inside(root, folder, LEFT_OUT), MOST_ENTRIES):
            if entry.is_file and entry.path.endswith(PYTHON):
                found.append(f"{folder}/{entry.path}")
    except (InputError, OSError):
        return found
    return found[:MOST_FILES]


def _content(root: Path, name: str) -> str:
    try:
        return hash_inside(root, name, MOST_BYTES)
    except (InputError, OSError):
        return ""
