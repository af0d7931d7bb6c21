"""Where a command's result goes. It loads no record: what prints a line of text needs none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evalward.commands.world import World
from evalward.records.problem import unwritable, wrong
from evalward.redaction import NOTHING, Redaction
from evalward.writing import Folder, write_all

STREAMS = ("/dev", "/dev/fd", "/proc/self/fd")
"""What lies there is written to, not replaced: `/dev/stdout`, `/dev/null`, a shell's `>(command)`."""
_OPEN = {"stdout": "1", "stderr": "2"}


def write_text(path: Path, text: str, redaction: Redaction = NOTHING) -> None:
    """Write a file whole or not at all, without secrets: readers never see half of it, a full disk leaves the old one.

    Raises `InputError` when that is not possible, or where a link would have to be followed.
    """
    try:
        write_file(path, redaction.file(path.name, text))
    except OSError as error:
        raise unwritable(str(path), error, "Choose another place with --output.") from error


def emit(world: World, text: str, output: Path | None) -> None:
    """A result: to the file if one was named, else to standard output."""
    if output is not None:
        write_text(world.cwd / output, text, world.redaction)
        return
    world.show(text)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that a user names, whole or not at all: no link below where we run, or in a repository, is followed.

    Raises `InputError` where a link, device, pipe or socket is in the way, `OSError` where the system refuses.
    """
    if path.name in {"", ".", ".."}:
        raise wrong(str(path), "is a folder", "Name a file.")
    place = "/" + os.path.normpath(path.absolute().parent).lstrip("/")  # which leaves two slashes at the beginning
    if place in STREAMS:
        _write_through(place, path, data)
    else:
        Folder(path.parent, strict=False).write(path.name, data)


def _write_through(place: str, path: Path, data: bytes) -> None:
    """Write to what is open already, behind what has been written there; a device is opened."""
    number = _OPEN.get(path.name) if place == "/dev" else path.name
    if number is not None and number.isascii() and number.isdigit():
        handle = os.dup(int(number))
    else:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if stat.S_ISBLK(os.fstat(handle).st_mode):
            raise wrong(str(path), "is a disk, no file", "Name a file.")
        write_all(handle, data)
    finally:
        os.close(handle)
