"""Files of a folder: which of them belong to one run."""

from __future__ import annotations

import posixpath
from collections.abc import Collection


def parent(name: str) -> str:
    """The folder of a file or folder, by its name; "" for the one that names count from."""
    return posixpath.dirname(name)


def nearest(name: str, folders: Collection[str]) -> str | None:
    """The innermost of these folders that a file lies in."""
    here = parent(name)
    while here not in folders:
        if here in {"", "/"}:
            return None
        here = parent(here)
    return here
