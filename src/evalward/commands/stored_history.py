"""The history that a configuration names, as `check` and the action read it: what it can't tell is a warning."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalward.commands.world import World
from evalward.config.model import HistoryPlace
from evalward.decide.history_file import HISTORY_FILE, read_history
from evalward.git import MAX_FILE_BYTES
from evalward.keeper.session import Runner
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError

if TYPE_CHECKING:
    from evalward.commands.history import Where


def history_of(runner: Runner, place: HistoryPlace | None, world: World) -> list[HistoryEntry]:
    """The entries, none where no history is named or where it can't be read."""
    if place is None:
        return []
    name = posixpath.join(place.folder or "", HISTORY_FILE)
    where = f"{HISTORY_FILE} of the branch {place.branch}" if place.branch else name
    try:
        if place.branch is not None:
            from evalward.commands.history import Where, stored  # noqa: PLC0415 - few repositories keep one there

            data = stored(world, Where(world.cwd, place.branch))
        else:
            data = runner.read(name, limit=MAX_FILE_BYTES)
    except InputError as error:
        for problem in error.problems:
            world.say(f"warning: {problem}")
        return []
    history = read_history((data or b"").decode("utf-8", "replace"))
    for warning in history.warnings:
        world.say(f"warning: {where}: {warning}")
    return list(history.entries)


def recorded(world: World, where: Where) -> tuple[list[HistoryEntry], list[str]]:
    """The entries at a place that we read ourselves, and what people should know; none where it can't be read."""
    from evalward.commands.history import stored  # noqa: PLC0415 - few repositories keep one there

    try:
        data = stored(world, where)
    except InputError as error:
        return [], [str(problem) for problem in error.problems]
    history = read_history((data or b"").decode("utf-8", "replace"))
    return list(history.entries), [f"{where}: {warning}" for warning in history.warnings]
