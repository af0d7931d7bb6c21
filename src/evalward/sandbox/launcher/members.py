"""The processes of a sandbox: who they are, what they hold, and how all of them are ended."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from evalward.sandbox.launcher.folders import LONGEST_S

ROUNDS = 200
PAUSE_S = 0.005


class Members:
    """All processes of the sandbox, but for the launcher itself."""

    def __init__(self, user: int | None, *, namespace: bool) -> None:
        """`user`: the id that only they have. `namespace`: we are the first process of a process namespace."""
        self._user, self._namespace = user, namespace

    def end(self, reap: Callable[[], None]) -> None:
        """End them all, however they try to get away. `reap` takes notice of those of our children that ended."""
        for _ in range(ROUNDS):
            self._strike()
            reap()
            if not self.left():
                return
            time.sleep(PAUSE_S)

    def left(self) -> bool:
        """Is any of them alive?"""
        return any(state != "Z" for _, state in self._all())

    def _strike(self) -> None:
        if self._namespace:
            if os.getpid() != 1:
                raise RuntimeError("not the first process of a namespace")  # kill -1 would meet others
            _quietly(-1)
        elif self._user is not None:
            self._strike_as(self._user)
        else:
            for process, _ in self._all():
                _quietly(process)

    def _strike_as(self, user: int) -> None:
        """All processes of a user at once, so that none of them can fork away."""
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                if os.getresuid() == (user, user, user) and user > 0:
                    os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    def memory(self, files: int = 0) -> int:
        """Bytes that they hold together, without what is only mapped from files; `files`: that exist only in memory."""
        statuses = [_status(process) for process, _ in self._all()]
        return sum(_held(s, "RssAnon") for s in statuses) + max(files, sum(_held(s, "RssShmem") for s in statuses))

    def nameless(self, folders: Iterable[str]) -> tuple[int, int]:
        """Bytes of open files that have no name (any more): on the folders' disks, and elsewhere, which is in memory.

        As far as we may look: a container's root may not everywhere.
        """
        disks = {os.stat(folder).st_dev for folder in folders}
        found: dict[tuple[int, int], int] = {}
        ends = time.process_time() + LONGEST_S
        for process, _ in self._all():
            for status in _opened(process):
                if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                    found[status.st_dev, status.st_ino] = status.st_blocks * 512
            if time.process_time() > ends:
                break
        on_disk = sum(size for (device, _), size in found.items() if device in disks)
        return on_disk, sum(found.values()) - on_disk

    def _all(self) -> Iterator[tuple[int, str]]:
        """Id and state of each."""
        found = {number: _status(number) for number in _numbers()}
        for number in self._chosen(found):
            yield number, found[number].get("State", "?")[:1]

    def _chosen(self, found: dict[int, dict[str, str]]) -> list[int]:
        if self._namespace:
            return [number for number in found if number != 1]
        if self._user is not None:
            return [n for n, status in found.items() if status.get("Uid", "").split()[:1] == [str(self._user)]]
        parents = {number: int(status.get("PPid", "0")) for number, status in found.items()}
        return _descendants(os.getpid(), parents)


def _descendants(root: int, parents: dict[int, int]) -> list[int]:
    children: dict[int, list[int]] = {}
    for number, parent in parents.items():
        children.setdefault(parent, []).append(number)
    found: list[int] = []
    queue = [root]
    while queue:
        here = children.get(queue.pop(), [])
        found += here
        queue += here
    return found


def _numbers() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no such thing on this system
        return []


def _status(process: int) -> dict[str, str]:
    try:
        with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
            pairs = (line.partition(":") for line in file)
            return {name: value.strip() for name, _, value in pairs}
    except OSError:  # it has just ended
        return {}


def _opened(process: int) -> Iterator[os.stat_result]:
    try:
        numbers = os.listdir(f"/proc/{process}/fd")
    except OSError:  # it has just ended, or we may not look
        return
    for number in numbers:
        with contextlib.suppress(OSError):
            yield os.stat(f"/proc/{process}/fd/{number}")


def _held(status: dict[str, str], name: str) -> int:
    return int(status.get(name, "0").split()[0]) * 1024


def _quietly(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        return
