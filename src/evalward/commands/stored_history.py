"""The history that a configuration names, for `check`, `release` and the action: what can't be read is a warning."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING

from evalward.commands.world import World
from evalward.decide.history_file import HISTORY_FILE, read_history
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError

if TYPE_CHECKING:
    from evalward.config.model import HistoryPlace


def history_of(world: World, place: HistoryPlace | None, read: Callable[[str], bytes | None]) -> list[HistoryEntry]:
    """The entries, none where no history is named or where it can't be read.

    `read` gives a file by its path from the configuration's folder, `None` where there is none.
    """
    if place is None:
        return []
    name = posixpath.join(place.folder or "", HISTORY_FILE)
    where = f"{HISTORY_FILE} of the branch {place.branch}" if place.branch else name
    try:
        data = read(name) if place.branch is None else _of_branch(world, place.branch)
    except InputError as error:
        for problem in error.problems:
            world.say(f"warning: {problem}")
        return []
    history = read_history((data or b"").decode("utf-8", "replace"))
    for warning in history.warnings:
        world.say(f"warning: {where}: {warning}")
    return list(history.entries)


def _of_branch(world: World, branch: str) -> bytes | None:
    from evalward.commands.history import Where, stored  # noqa: PLC0415 - few repositories keep one there

    return stored(world, Where(world.cwd, branch))
