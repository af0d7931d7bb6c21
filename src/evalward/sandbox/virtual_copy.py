"""The files of a virtual shell as files of ours: written by name into a folder that nobody else writes to."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Protocol

from evalward.sandbox.base import FileType
from evalward.sandbox.process.places import UNCOPYABLE, Copied

_OWN_PROGRAM = b"#!/bin/sh\n# bashkit builtin: "
_NOT_HERE = {*UNCOPYABLE, errno.EISDIR, errno.EEXIST}


class _Shell(Protocol):
    @property
    def home(self) -> str: ...

    def files(self) -> dict[str, bytes | None]: ...

    def file_type(self, path: str) -> FileType | None: ...

    def read_file(self, path: str) -> bytes | None: ...


def copy_out(shell: _Shell, files: Path, elsewhere: Path, most: int) -> Copied:
    """Copy the home folder to `files` and other paths below `elsewhere`, up to `most` bytes; not bashkit's programs.

    A link becomes the file that it leads to; one that leads to a folder is left out. Blocking. Raises `OSError`.
    """
    copied = Copied(0, 0, 0, full=False)
    for path, found in shell.files().items():
        if found is not None and found.startswith(_OWN_PROGRAM):
            continue
        inner = path.removeprefix(f"{shell.home}/")
        target = elsewhere / path.lstrip("/") if inner == path else files / inner
        kind = "file" if found is not None else shell.file_type(path)
        content = shell.read_file(path) if found is None and kind == "file" else found  # what a link leads to
        if copied.size + len(content or b"") > most:
            copied += Copied(0, 0, 1, full=True)
        elif ".." in target.parts:
            copied += Copied(0, 0, 1, full=False)
        else:
            copied += _written(target, content, is_folder=kind == "directory")
    return copied


def _written(target: Path, content: bytes | None, *, is_folder: bool) -> Copied:
    """Write a file, or make a folder. What no file system of ours can hold is left out."""
    try:
        if content is None:
            if is_folder:
                target.mkdir(parents=True, exist_ok=True)
            return Copied(0, 0, int(not is_folder), full=False)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except ValueError:  # a name with half a character in it
        return Copied(0, 0, 1, full=False)
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
        return Copied(0, 0, 1, full=False)
    return Copied(1, len(content), 0, full=False)
