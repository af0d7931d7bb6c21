"""How much the commands have written."""

from __future__ import annotations

import errno
import os
import time

LONGEST_S = 5.0
"""Seconds of the processor: a look that takes longer says what it has seen so far. Within the usual limits none does,
however busy commands keep the machine: else there would be a place that is never seen.
"""


def used(folders: list[str], enough_bytes: int, enough_entries: int) -> tuple[int, int]:
    """Bytes on disk and number of entries; counting ends when there are enough of either.

    What lies deeper than a path can be long can't be counted so, and nobody needs it: it is too much in any case.
    """
    ends = time.process_time() + LONGEST_S
    size = entries = 0
    queue = list(folders)
    while queue and size <= enough_bytes and entries <= enough_entries and time.process_time() < ends:
        try:
            with os.scandir(queue.pop()) as found:
                for entry in found:
                    entries += 1
                    size += _size(entry)
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return enough_bytes + 1, entries
            continue  # it is just being removed
    return size, entries


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:
        return 0
