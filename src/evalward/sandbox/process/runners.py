"""What lies beside installed programs, where every command could read it: a runner of GitHub, and our own checkout."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from evalward.sandbox.launcher.plan import SYSTEM

PLACES = (Path("/opt"), Path("/etc"), Path("/usr/local"))
SECRETS = (".credentials", ".credentials_rsaparams", ".credentials_migrated", ".runner", ".env", ".service", "_diag")
WORK, TOOLS = "_work", "_tool"


@cache
def runners_secrets() -> tuple[Path, ...]:
    """The credentials and logs of runners that are installed in a folder for programs."""
    found = [mark.parent / name for mark in _runners() for name in SECRETS]
    return tuple(path for path in found if path.exists())


@cache
def runners_work() -> tuple[Path, ...]:
    """Where these runners work: checkouts with their answers, what actions write there, often with a token."""
    return tuple(path for path in (_work_of(mark) for mark in _runners()) if os.path.isdir(path))  # noqa: PTH112


def runners_tools() -> tuple[Path, ...]:
    """Programs that were installed where they work."""
    found = (work / TOOLS for work in runners_work())
    return tuple(path for path in found if os.path.isdir(path) and not os.path.islink(path))  # noqa: PTH112, PTH114


def our_checkout() -> tuple[Path, ...]:
    """The repository that we run in, where it lies among installed programs."""
    try:
        here = Path.cwd().resolve()
    except OSError:  # it has been removed
        return ()
    top = next((above for above in (here, *here.parents) if os.path.lexists(above / ".git")), None)
    installed = {Path(folder) for folder in SYSTEM}
    if top is None or top in {*installed, *PLACES} or installed.isdisjoint(top.parents):
        return ()
    return (top,)


def _runners() -> Iterator[Path]:
    """What marks the folder of one."""
    for place in PLACES:
        for pattern in ("*/.runner", "*/*/.runner"):
            yield from _matches(place, pattern)


def _work_of(mark: Path) -> Path:
    try:
        folder = json.loads(mark.read_text("utf-8-sig")).get("workFolder")
    except (OSError, ValueError, AttributeError):
        folder = None
    return (mark.parent / (folder if isinstance(folder, str) and folder else WORK)).resolve()


def _matches(place: Path, pattern: str) -> list[Path]:
    try:
        return list(place.glob(pattern))
    except OSError:
        return []
