"""From paths and patterns to the files of one format, opened through no link, and to what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from evalward.opening import glob_inside, inside, walk_inside
from evalward.records.problem import wrong
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    format_named,
    formats_of,
    known_formats,
    runs_in_folders,
    the_one,
)
from evalward.suites.external.formats.copies import without_copies

MOST_FILES = 200_000
_MAGIC = frozenset("*?[")


def files_at(root: Path, patterns: Sequence[str]) -> list[ForeignFile]:
    """The files that patterns name below a folder, each once.

    Of a folder those in it that some format has under such a name; so of the folders that a pattern fits, where it
    fits no file.

    Raises `InputError` for a link on the way, and for more files than anybody's results have; `OSError`.
    """
    found: dict[str, ForeignFile] = {}
    for pattern in patterns:
        for file in _matching(root, pattern):
            if file.name not in found or not file.by_folder:
                found[file.name] = file
            if len(found) > MOST_FILES:
                raise wrong(pattern, f"it matches more than {MOST_FILES:,} files", "Name the files of one run.")
    return list(found.values())


def _matching(root: Path, pattern: str) -> list[ForeignFile]:
    if _MAGIC & set(pattern):
        files = [file_at(root, name) for name in glob_inside(root, pattern)]
        return files or _by_folder(root, glob_inside(root, f"{pattern.rstrip('/')}/**/*"))
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
    return [file_at(root, name)] if kind == "file" else _in_folder(root, name)


def _in_folder(root: Path, folder: str) -> list[ForeignFile]:
    """The files in a folder that some format has under such a name."""
    prefix = "" if folder in {"", "."} else folder.rstrip("/") + "/"
    return _by_folder(root, (prefix + entry.path for entry in walk_inside(root, folder) if entry.is_file))


def _by_folder(root: Path, names: Iterable[str]) -> list[ForeignFile]:
    """Those of the files that some format has under such a name."""
    formats = [format_named(name) for name in known_formats()]
    fitting = sorted(name for name in names if any(form.belongs(name) for form in formats))
    return [replace(file_at(root, name), by_folder=True) for name in fitting]


def file_at(root: Path, name: str) -> ForeignFile:
    """The file of this name below a folder. Raises `InputError` for a link on the way; `OSError`."""
    with inside(root, name) as opened:
        found = os.fstat(opened.descriptor)
    return ForeignFile(name, found.st_size, partial(_opened, root, name), found.st_mtime)


def _opened(root: Path, name: str) -> BinaryIO:
    with inside(root, name) as opened:
        return os.fdopen(os.dup(opened.descriptor), "rb")


def read_files(files: Sequence[ForeignFile], form: str | None, place: str) -> tuple[str, Sequence[ForeignResults]]:
    """The format and what the files hold. `form` names it, else their content tells; `place` is where, for messages.

    Of the files in a folder that was named those are read that have such names in the format: harnesses leave others
    beside their results. Of files with the same content one is read; in the folder of a run they may well be equal.

    Raises `InputError`: no file, files of several formats, a file of none, and whatever the format's reader refuses.
    """
    if not files:
        raise wrong(place, "there is no result file", "Run the harness first, and name the files that it writes.")
    name = form or _only_format(files)
    reader = format_named(name)
    own = [file for file in files if not file.by_folder or reader.belongs(file.name)]
    if not own:
        raise wrong(place, f"there is no file in it with the name of {reader.title}", "Name the files themselves.")
    if form is not None:
        _refuse_others(own, form)
    kept, notes = (own, []) if runs_in_folders(reader) else without_copies(own)
    found = reader.read(kept)
    return name, [replace(run, notes=[*notes, *run.notes]) for run in found[:1]] + list(found[1:])


def _refuse_others(files: Sequence[ForeignFile], form: str) -> None:
    """A file of another format than the one that is named: its reader would only find that nothing is in it."""
    for file in files:
        names = [] if file.by_folder else formats_of(file)
        if names and form not in names:
            message = f"it is {format_named(names[0]).title}, not of the format {form}"
            raise wrong(file.name, message, f"Name the format {names[0]}, or none: on the command line auto.")


def _only_format(files: Sequence[ForeignFile]) -> str:
    found = [(file, formats_of(file)) for file in files]
    known = [(file, names) for file, names in found if names or not file.by_folder]
    formats = {the_one(file, names): file.name for file, names in known or found}
    if len(formats) > 1:
        (first, one), (second, other), *_ = formats.items()
        message = f"{one} is of format {first}, {other} of format {second}"
        raise wrong(one, message, "Give each format a suite of its own, or name the format.")
    return next(iter(formats))
