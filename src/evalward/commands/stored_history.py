"""The history that a configuration names, as `check` and the action read it: what it can't tell is a warning."""

from __future__ import annotations

import posixpath

from evalward.commands.world import World
from evalward.config.model import HistoryPlace
from evalward.decide.history_file import HISTORY_FILE, read_history
from evalward.git import MAX_FILE_BYTES
from evalward.keeper.session import Runner
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError


def history_of(runner: Runner, place: HistoryPlace | None, world: World) -> list[HistoryEntry]:
    """The entries, none where no history is named or where it can't be read: it decides nothing."""
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
