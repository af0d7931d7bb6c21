"""How much the commands have written."""

from __future__ import annotations

import os
import time

LONGEST_S = 1.0  # a look that takes longer says what it has seen so far


def used(folders: list[str], enough_bytes: int, enough_entries: int) -> tuple[int, int]:
    """Bytes on disk and number of entries; counting ends when there are enough of either."""
    ends = time.monotonic() + LONGEST_S
    size = entries = 0
    queue = list(folders)
    while queue and size <= enough_bytes and entries <= enough_entries and time.monotonic() < ends:
        try:
            with os.scandir(queue.pop()) as found:
                for entry in found:
                    entries += 1
                    size += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
        except OSError:  # it is just being removed
            continue
    return size, entries


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:
        return 0
