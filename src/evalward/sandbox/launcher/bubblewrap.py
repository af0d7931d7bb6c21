"""Namespaces built by bubblewrap, bwrap(1): a small, well-reviewed program that many systems let do what we may not.

It builds the same world as `world.build` and starts a second launcher as the first process in it, which serves as ever.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator

from evalward.sandbox.launcher.plan import SYSTEM, SandboxPlan

PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap")
SHARED_MEMORY = 256 << 20  # bytes in /dev/shm
INSIDE = (
    "import os, sys; sys.path += sys.argv[-1].split(os.pathsep); "
    "from evalward.sandbox.launcher.program import inside; inside()"
)


def installed() -> str | None:
    """The program, where only root could have put it there; one with set-user-id bits is passed over."""
    for place in PLACES:
        try:
            status = os.stat(place)
        except OSError:
            continue
        odd = status.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWGRP | stat.S_IWOTH)
        if stat.S_ISREG(status.st_mode) and status.st_uid == 0 and not odd:
            return os.path.realpath(place)
    return None


def words(plan: SandboxPlan, control: int, plan_file: int, modules: str) -> list[str]:
    """The whole command line."""
    assert plan.bubblewrap is not None  # noqa: S101
    launcher = [sys.executable, "-I", "-S", "-X", "utf8", "-c", INSIDE, str(control), str(plan_file), modules]
    return [plan.bubblewrap, *_namespaces(plan), *_files(plan, modules.split(os.pathsep)), "--", *launcher]


def _namespaces(plan: SandboxPlan) -> list[str]:
    import subprocess  # noqa: PLC0415 - every other launcher starts sooner without

    known = subprocess.run([str(plan.bubblewrap), "--help"], env={}, capture_output=True, check=False).stdout  # noqa: S603
    shared = [] if plan.network else ["--share-net"]
    inner = ["--disable-userns"] if b"--disable-userns" in known else []
    return ["--unshare-all", "--unshare-user", *shared, *inner, "--as-pid-1", "--new-session", "--die-with-parent"]


def _files(plan: SandboxPlan, modules: list[str]) -> Iterator[str]:
    for folder in SYSTEM:
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--ro-bind", folder, folder)
    covers = [path for path in plan.covered if os.path.isdir(path) and not os.path.islink(path)]
    for path in covers:
        yield from ("--size", "65536", "--tmpfs", path)
    yield from ("--dev", "/dev", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm", "--proc", "/proc")  # noqa: S108
    yield from ("--bind", plan.tmp, "/tmp", "--symlink", "/tmp", "/var/tmp")  # noqa: S108 - the command's own
    resolver = os.path.realpath("/etc/resolv.conf")
    for path in (*_interpreter(), *modules, resolver, *plan.readable):
        if os.path.exists(path) and (not _of_the_system(path) or _is_below(path, covers)):
            yield from ("--ro-bind", path, path)
    for path, source in (*zip(plan.folders, plan.folders, strict=True), *plan.placed.items()):
        yield from ("--bind", source, path)
    yield from _hidden(plan)
    for path in covers:
        yield from ("--remount-ro", path)
    yield from ("--remount-ro", "/", "--chdir", "/")


def _hidden(plan: SandboxPlan) -> Iterator[str]:
    for path in plan.hidden:
        if os.path.islink(path):
            continue
        if os.path.isdir(path):
            yield from ("--size", "4096", "--perms", "0555", "--tmpfs", path, "--remount-ro", path)
        elif os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", path)


def _interpreter() -> Iterator[str]:
    """Where the launcher's own interpreter lies, and what it leads to."""
    for program in (sys.executable, os.path.realpath(sys.executable)):
        yield os.path.dirname(os.path.dirname(program))
    yield from (sys.base_prefix, sys.base_exec_prefix)


def _of_the_system(path: str) -> bool:
    return path == "/" or _is_below(path, SYSTEM)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
