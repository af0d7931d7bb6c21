"""Reading files that a repository names, each within a bound that is looked at before the first byte is."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from pathlib import Path

from evalward.opening.inside import MIB, Kind, Opened, inside, kind_of, parts_of, refused

MOST_BYTES = 64 * MIB
"""Of a file where nobody says another bound."""
MOST_TEXT = 4 * MIB
"""Of a text that a model or an agent is told."""
_MOST_LINKS = 8


def read_inside(root: Path, name: str, most: int = MOST_BYTES) -> bytes:
    """The bytes of the file `name` below `root`. Raises as `inside`, and `InputError` when it is larger."""
    with inside(root, name) as found:
        return found.read(most)


def read_regular(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file that a user named, who may mean where a link leads; no device, pipe or folder is opened.

    Raises `OSError`, and `InputError` for what is no regular file, or larger.
    """
    kind_of(os.stat(path).st_mode, str(path), str(path))  # noqa: PTH116 - before a device hears of us
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        kind = kind_of(found.st_mode, str(path), str(path))
        return Opened(str(path), descriptor, kind, found.st_size, found.st_mode).read(most)
    finally:
        os.close(descriptor)


def read_text_inside(root: Path, name: str, most: int = MOST_TEXT, encoding: str = "utf-8") -> str:
    """The same as text, with line ends as Python has them. Raises `UnicodeDecodeError`, too."""
    text = read_inside(root, name, most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def hash_inside(root: Path, name: str, most: int = MOST_BYTES) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal. Raises as `read_inside`."""
    sha = hashlib.sha256()
    with inside(root, name) as found:
        for block in found.blocks(most):
            sha.update(block)
    return sha.hexdigest()


def kind_inside(root: Path, name: str) -> Kind | None:
    """What is at a path, `None` where there is nothing. Raises as `inside` where it is unknown."""
    try:
        with inside(root, name) as found:
            return found.kind
    except (FileNotFoundError, NotADirectoryError):
        return None


def program_inside(root: Path, name: str) -> str | None:
    """The path of a program below `root` that can be started, `None` where there is none. Raises as `inside`."""
    try:
        with inside(root, name) as found:
            if found.kind != "file":
                return None
    except OSError:
        return None
    path = os.path.normpath(root / name)
    return path if os.access(path, os.X_OK) else None


def beginning_inside(root: Path, name: str, most: int) -> bytes:
    """The first bytes of a file, however many there are. Raises as `inside`, and `IsADirectoryError`."""
    with inside(root, name) as found:
        return found.beginning(most)


def link_free(root: Path, name: str) -> str:
    """The name below `root` of what a name stands for in a folder whose links may lead from one file to another.

    A link is not followed but read: where it leads is a name below `root` again, to be opened like any other. Raises
    as `inside`.
    """
    for _ in range(_MOST_LINKS):
        leads = _where_it_leads(root, name)
        if leads is None:
            return name
        name = leads
    raise refused(name, "links lead from one to the next without end", "Let the link lead to a file.")


def _where_it_leads(root: Path, name: str) -> str | None:
    """The path behind the first link on the way to a name; `None` where there is no link."""
    parts = parts_of(name)
    for number, part in enumerate(parts):
        above = "/".join(parts[:number])
        with inside(root, above) as folder:
            if stat.S_ISLNK(os.stat(part, dir_fd=folder.descriptor, follow_symlinks=False).st_mode):
                target = os.readlink(part, dir_fd=folder.descriptor)
                return posixpath.normpath(posixpath.join(above, target, *parts[number + 1 :]))
    return None
