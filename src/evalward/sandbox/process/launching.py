"""How a launcher is started, and what it may do: here, and nowhere else, it is decided who we are."""

from __future__ import annotations

import importlib.machinery
import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from evalward.edge import SOURCE

PROGRAM = (
    "import os, sys; sys.path += sys.argv[-1].split(os.pathsep); "
    "from evalward.sandbox.launcher.program import main; main()"
)


class LauncherProcess(Protocol):
    """A launcher that runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


@dataclass(frozen=True)
class Launching:
    """One way to start launchers. `start` gives one its control socket and raises `OSError` when it can't be started.

    `privileged`: it can become other users, and make files theirs. `claim` gives a user id that nobody else has, and
    the descriptor that holds it; without it we claim ids ourselves.
    """

    start: Callable[[socket.socket], LauncherProcess]
    privileged: bool
    claim: Callable[[], tuple[int, int] | None] | None = None


_CHOSEN: list[Launching] = []


def launching() -> Launching:
    """The way that is in force: as our own child, unless somebody chose another one."""
    return _CHOSEN[-1] if _CHOSEN else Launching(start_here, os.geteuid() == 0)


def launch_by(way: Launching) -> None:
    """Start all launchers this way from here on; before the first workspace or virtual shell is made."""
    _CHOSEN[:] = [way]


def can_change_users() -> bool:
    """May commands have a user id of their own?"""
    return launching().privileged


def start_here(control: socket.socket, asker: int | None = None) -> subprocess.Popen[bytes]:
    """A launcher that is our child. Raises `OSError`.

    `asker`: the user at the other end of the socket, when that isn't us: the launcher then gives only the files of
    this user away, and lets commands run only as users who are nobody else.
    """
    return subprocess.Popen(  # noqa: S603 - a fixed program of ours, no shell
        launcher_words(control.fileno(), asker),
        env={},  # nothing of ours, which may hold keys
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[control.fileno()],
        start_new_session=True,
    )


def launcher_words(descriptor: int, asker: int | None = None) -> list[str]:
    """How a launcher is called: without our environment and `site`, with the modules that it needs and no others."""
    arguments = [str(descriptor), *([] if asker is None else [str(asker)]), os.pathsep.join(module_folders())]
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", PROGRAM, *arguments]


@cache
def module_folders() -> tuple[str, ...]:
    """Where the launcher finds our own modules and bashkit's: absolute, and never the working directory."""
    for folder in _searched():
        if importlib.machinery.PathFinder.find_spec("bashkit", [folder]) is not None:
            return (SOURCE, folder) if folder != SOURCE else (SOURCE,)
    return (SOURCE,)


def _searched() -> Iterator[str]:
    """What was installed with us or with the interpreter comes first."""
    here = os.path.realpath(os.curdir)
    paths = sysconfig.get_paths()
    for folder in (SOURCE, paths["purelib"], paths["platlib"], *sys.path):
        if Path(folder).is_absolute() and os.path.realpath(folder) != here:
            yield folder
