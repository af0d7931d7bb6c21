"""What lies beside installed programs, where every command could read it: a runner of GitHub, and our own checkout."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from evalward.sandbox.launcher.plan import SYSTEM

PLACES = (Path("/opt"), Path("/etc"), Path("/usr/local"))
MARK = ".runner"
SECRETS = (".credentials", ".credentials_rsaparams", ".credentials_migrated", MARK, ".env", ".service", "_diag")
WORK, TOOLS = "_work", "_tool"


def runners_secrets() -> tuple[Path, ...]:
    """The credentials and logs of runners that are installed in a folder for programs."""
    found = [mark.parent / name for mark in marks() for name in SECRETS]
    return tuple(path for path in found if path.exists())


def runners_work() -> tuple[Path, ...]:
    """Where these runners work: checkouts with their answers, what actions write there, often with a token."""
    return tuple(path for path in (_work_of(mark) for mark in marks()) if os.path.isdir(path))  # noqa: PTH112


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


@cache
def marks() -> tuple[Path, ...]:
    """What marks the folder of a runner: it lies in one of the places, or one folder deeper."""
    beside = [folder for place in PLACES for folder in _folders(place)]
    folders = [each for folder in beside for each in (folder, *_folders(folder))]
    return tuple(Path(folder, MARK) for folder in folders if os.path.exists(f"{folder}/{MARK}"))  # noqa: PTH110 - many


def _work_of(mark: Path) -> Path:
    try:
        folder = json.loads(mark.read_text("utf-8-sig")).get("workFolder")
    except (OSError, ValueError, AttributeError):
        folder = None
    return (mark.parent / (folder if isinstance(folder, str) and folder else WORK)).resolve()


def _folders(place: str | Path) -> list[str]:
    """The folders in a folder, links to one among them; none where it can't be read."""
    try:
        with os.scandir(place) as entries:
            return [entry.path for entry in entries if _is_folder(entry)]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circle of links, a closed folder
        return False
