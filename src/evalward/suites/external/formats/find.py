"""From paths and patterns to the files of one format, opened through no link, and to what is in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from evalward.opening import glob_inside, inside, walk_inside
from evalward.records.problem import wrong
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, format_named, known_formats, recognised

MOST_FILES = 200_000
_MAGIC = frozenset("*?[")


def files_at(root: Path, patterns: Sequence[str]) -> list[ForeignFile]:
    """The files that patterns name below a folder; of a folder, all in it. Each once.

    Raises `InputError` for a link on the way, and for more files than anybody's results have; `OSError`.
    """
    found: dict[str, ForeignFile] = {}
    for pattern in patterns:
        for file in _matching(root, pattern):
            found.setdefault(file.name, file)
            if len(found) > MOST_FILES:
                raise wrong(pattern, f"it matches more than {MOST_FILES:,} files", "Name the files of one run.")
    return list(found.values())


def _matching(root: Path, pattern: str) -> list[ForeignFile]:
    if _MAGIC & set(pattern):
        return [_file(root, name) for name in glob_inside(root, pattern)]
    return file_named(root, pattern)


def file_named(root: Path, name: str) -> list[ForeignFile]:
    """The file of this name below a folder, or those in the folder of this name; none where there is nothing.

    Raises as `files_at`.
    """
    try:
        with inside(root, name) as opened:
            kind = opened.kind
    except FileNotFoundError:
        return []
    return [_file(root, name)] if kind == "file" else _in_folder(root, name)


def _in_folder(root: Path, folder: str) -> list[ForeignFile]:
    """The files in a folder that some format has under such a name."""
    formats = [format_named(name) for name in known_formats()]
    entries = (entry.path for entry in walk_inside(root, folder) if entry.is_file)
    names = sorted(name for name in entries if any(form.belongs(name) for form in formats))
    prefix = "" if folder in {"", "."} else folder.rstrip("/") + "/"
    return [_file(root, prefix + name) for name in names]


def _file(root: Path, name: str) -> ForeignFile:
    with inside(root, name) as opened:
        found = os.fstat(opened.descriptor)
    return ForeignFile(name, found.st_size, partial(_opened, root, name), found.st_mtime)


def _opened(root: Path, name: str) -> BinaryIO:
    with inside(root, name) as opened:
        return os.fdopen(os.dup(opened.descriptor), "rb")


def file_of_bytes(name: str, data: bytes, changed: float | None = None) -> ForeignFile:
    """A file that has been read already."""
    from io import BytesIO  # noqa: PLC0415 - tests and importers alone

    opened: Callable[[], BinaryIO] = partial(BytesIO, data)
    return ForeignFile(name, len(data), opened, changed)


def read_files(files: Sequence[ForeignFile], form: str | None, place: str) -> tuple[str, Sequence[ForeignResults]]:
    """The format and what the files hold. `form` names it, else their content tells; `place` is where, for messages.

    Raises `InputError`: no file, files of several formats, a file of none, and whatever the format's reader refuses.
    """
    if not files:
        raise wrong(place, "there is no result file", "Run the harness first, and name the files that it writes.")
    name = form or _only_format(files)
    return name, format_named(name).read(files)


def _only_format(files: Sequence[ForeignFile]) -> str:
    formats = {recognised(file): file.name for file in files}
    if len(formats) > 1:
        (first, one), (second, other), *_ = formats.items()
        message = f"{one} is of format {first}, {other} of format {second}"
        raise wrong(one, message, "Give each format a suite of its own, or name the format.")
    return next(iter(formats))
