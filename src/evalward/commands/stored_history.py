"""The history that a configuration names, as `check` and the action read it: what it can't tell is a warning."""

from __future__ import annotations

from evalward.commands.history import Where, stored
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.history_file import read_history
from evalward.records.history import HistoryEntry
from evalward.records.problem import InputError


def history_of(loaded: LoadedConfig, world: World) -> list[HistoryEntry]:
    """The entries, none where the configuration names no history or where it can't be read: it decides nothing."""
    place = loaded.config.history
    if place is None:
        return []
    where = Where(loaded.root / (place.folder or ""), place.branch)
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
