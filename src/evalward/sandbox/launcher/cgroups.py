"""A control group (version 2) for the commands of a workspace, where we may make one: it counts what nothing else does.

Memory files, System V memory and buffers of sockets belong to no process that can be looked at. Where no group can be
made, which is the rule in containers, what the launcher sees from time to time has to do.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

PLACE = "/sys/fs/cgroup"
NEEDED = {"memory", "pids"}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Group:
    """One group, held by descriptors: behind our walls there is no path to it."""

    def __init__(self, parent: int, name: str) -> None:
        """`name` is there, below `parent`."""
        self._parent, self._name = parent, name
        self._here = os.open(name, _FOLDER, dir_fd=parent)

    def limit(self, memory: int | None, processes: int | None) -> None:
        """All of its processes together. Raises `OSError`."""
        if memory is not None:
            self._write("memory.max", str(memory + memory // 4))  # files in the cache count here, too
            self._write("memory.oom.group", "1")
            with contextlib.suppress(OSError):  # there is no swap
                self._write("memory.swap.max", "0")
        if processes is not None:
            self._write("pids.max", str(processes))

    def enter(self) -> None:
        """Be in it, with all that we start. Raises `OSError`."""
        self._write("cgroup.procs", "0")

    def out_of_memory(self) -> bool:
        """Has the kernel ended something in it for want of memory?"""
        try:
            pairs = (line.split() for line in self._read("memory.events").splitlines())
            return any(name == "oom_kill" and count != "0" for name, count in pairs)
        except (OSError, ValueError):
            return False

    def end(self) -> None:
        """End all processes in it, at once, so that none of them can fork away."""
        with contextlib.suppress(OSError):  # a kernel before 5.14: they are ended one by one
            self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Take it away. Processes that are left keep it there."""
        with contextlib.suppress(OSError):
            os.rmdir(self._name, dir_fd=self._parent)
        os.close(self._here)
        os.close(self._parent)

    def _write(self, name: str, text: str) -> None:
        file = os.open(name, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._here)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def _read(self, name: str) -> str:
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._here)
        try:
            return os.read(file, 1 << 12).decode()
        finally:
            os.close(file)


def make(memory: int | None, processes: int | None, place: str = PLACE, own: str = "/proc/self/cgroup") -> Group | None:
    """A group with these limits, `None` where that isn't ours to make."""
    for folder in _parents(place, own):
        name = f"evalward-{os.urandom(8).hex()}"
        try:
            os.mkdir(os.path.join(folder, name), 0o755)
        except OSError:
            continue
        group = Group(os.open(folder, _FOLDER), name)
        try:
            group.limit(memory, processes)
        except OSError:
            group.remove()
            continue
        return group
    return None


def _parents(place: str, own: str) -> Iterator[str]:
    """The group that we are in and those above it, as far as they let groups below them have limits."""
    try:
        with open(own, encoding="utf-8") as file:
            paths = [line.rstrip("\n").split("::", 1)[1] for line in file if line.startswith("0::")]
    except OSError:
        return
    for path in paths:
        names = [name for name in path.split("/") if name]
        if ".." in names:
            return  # outside of what we see
        for depth in range(len(names), -1, -1):
            folder = os.path.join(place, *names[:depth])
            try:
                with open(os.path.join(folder, "cgroup.subtree_control"), encoding="utf-8") as file:
                    given = set(file.read().split())
            except (OSError, ValueError):
                continue
            if given >= NEEDED:
                yield folder
