"""Folders of ours for what commands read and leave, among the system's temporary files: none outlives us.

A trial that is cancelled gives its folder up while a thread may still copy into it. What is there again at our end is
removed then, when all threads have ended.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalward.sandbox.process.places import remove

_made: dict[int, list[Path]] = {}  # by process: what another one has made before we were forked is its own


def new_folder(name: str, place: Path | None = None) -> Path:
    """A new folder `evalward-NAME-…`, for whoever asks to remove; in another `place` than the usual one, if so.

    Raises `OSError`.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"evalward-{name}-", dir=place))
    _made.setdefault(os.getpid(), []).append(folder)
    return folder


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """A new folder that goes at the end, with whatever is in it. Raises `OSError` where none can be made."""
    folder = new_folder(name)
    try:
        yield folder
    finally:
        remove(folder)


@atexit.register
def remove_left() -> None:
    """Remove what is left of ours; nothing is under way any more."""
    for folder in _made.pop(os.getpid(), []):
        if os.path.lexists(folder):
            remove(folder)
