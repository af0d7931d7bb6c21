"""The history that a configuration names, as `check` and the action read it: what it can't tell is a warning."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.history import Where, stored
from evalward.commands.world import World
from evalward.config.model import HistoryPlace
from evalward.decide.history_file import read_history
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError


def history_of(root: Path, place: HistoryPlace | None, world: World) -> list[HistoryEntry]:
    """The entries, none where no history is named or where it can't be read: it decides nothing.

    `root` is the folder of the configuration.
    """
    if place is None:
        return []
    where = Where(root / (place.folder or ""), place.branch, root)
    try:
        data = stored(world, where)
    except InputError as error:
        for problem in error.problems:
            world.say(f"warning: {problem}")
        return []
    history = read_history((data or b"").decode("utf-8", "replace"))
    for warning in history.warnings:
        world.say(f"warning: {where}: {warning}")
    return list(history.entries)
