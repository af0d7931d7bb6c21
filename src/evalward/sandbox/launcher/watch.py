"""What the commands take is looked at from time to time: how much it is, and when to look again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from evalward.sandbox.launcher.folders import used
from evalward.sandbox.launcher.members import Members
from evalward.sandbox.launcher.plan import SandboxPlan

LOOK_EVERY_S = 0.25
REST, SHORT_REST = 20, 2  # a look that takes long is made more seldom: so many times as long as it took
UNLIMITED = 1 << 62

Room = tuple[int, int]


def room_of(folders: list[str]) -> Room:
    """Bytes of memory that the machine has left, and of the disks of these folders; 0 for what can't be told."""
    return _memory_left(), sum(_disks_left(folders).values())


def _memory_left() -> int:
    try:
        with open("/proc/meminfo", encoding="utf-8") as file:
            words = next((line.split() for line in file if line.startswith("MemAvailable:")), ["", "0"])
        return int(words[1]) << 10
    except OSError:
        return 0


def _disks_left(folders: list[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for folder in folders:
        try:
            there = os.statvfs(folder)
            found[os.stat(folder).st_dev] = there.f_bavail * there.f_frsize
        except OSError:
            continue
    return found


class Watch:
    """Looks at memory and disk of a workspace.

    Commands can make a look long, by many files and open descriptors, and so have time until the next one. What the
    machine has left is quickly told, so that it is asked more often: when more of it has gone than they had left to
    take, the next look is due. Somebody else may have taken it; then it was a look for nothing.
    """

    def __init__(
        self,
        plan: SandboxPlan,
        members: Members,
        clock: Callable[[], float] = time.monotonic,
        room: Callable[[list[str]], Room] = room_of,
    ) -> None:
        self._plan, self._members, self._clock, self._room = plan, members, clock, room
        self._started = self._ended = 0.0
        self._left: Room = UNLIMITED, UNLIMITED  # that they may still take
        self._before: Room = 0, 0
        self.wanted = any(limit is not None for limit in (plan.memory_bytes, plan.disk_bytes, plan.entries))

    def begin(self) -> None:
        """The first command: a moment passes before there is something to see."""
        self._started = self._ended = self._clock()
        self._left, self._before = (self._plan.memory_bytes or UNLIMITED, self._plan.disk_bytes or UNLIMITED), (0, 0)

    def due(self) -> bool:
        """Is it time to look?"""
        now, took = self._clock(), self._ended - self._started
        if now < self._ended + max(LOOK_EVERY_S, SHORT_REST * took):
            return False
        if now >= self._ended + max(LOOK_EVERY_S, REST * took):
            return True
        pairs = zip(self._before, self._room(self._plan.folders), self._left, strict=True)
        return any(before - now_left > allowed for before, now_left, allowed in pairs)

    def look(self) -> str | None:
        """What they have taken too much of: `memory` or `disk`, files and folders too."""
        self._started = self._clock()
        self._before = self._room(self._plan.folders)
        try:
            return self._too_much()
        finally:
            self._ended = self._clock()

    def _too_much(self) -> str | None:
        plan = self._plan
        on_disk, in_memory = self._members.nameless(plan.folders)
        most_memory = plan.memory_bytes or UNLIMITED
        memory = 0 if plan.memory_bytes is None else self._members.memory(in_memory)
        if memory > most_memory:
            return "memory"
        most_bytes, most_entries = plan.disk_bytes or UNLIMITED, plan.entries or UNLIMITED
        self._left = most_memory - memory, most_bytes
        if plan.disk_bytes is None and plan.entries is None:
            return None
        size, entries = used(plan.folders, most_bytes, most_entries)
        self._left = most_memory - memory, max(0, most_bytes - size - on_disk)
        return "disk" if size + on_disk > most_bytes or entries > most_entries else None
