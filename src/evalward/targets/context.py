"""What a target is made of: the factory of every form gets its id, and this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct, field

from evalward.config import LoadedConfig
from evalward.records.problem import wrong
from evalward.records.target_id import TargetId
from evalward.targets.asking import Asker, NoAsker
from evalward.targets.base import Evaluated

Entry = TypeVar("Entry")


class TargetContext(Struct, frozen=True):
    """The configuration whose suite names the target, and what there is to make it of.

    `env` says which keys there are and where programs are looked up; `asker` asks the models, and without one nobody
    does. `agents_work`: the suite is worked on by agents, so that `oracle` and `nop` work by themselves, too.
    """

    loaded: LoadedConfig
    env: Mapping[str, str]
    asker: Asker = field(default_factory=NoAsker)
    agents_work: bool = False

    def entry(self, section: Mapping[str, Entry], asked: TargetId) -> Entry:
        """What a section of the configuration holds under the target's name. Raises `InputError` for nothing."""
        if asked.name not in section:
            remedy = f"Known: {', '.join(section) or 'none'}."
            raise wrong(self.loaded.file, f"there is no target {asked.text!r}", remedy, field="targets")
        return section[asked.name]


TargetFactory = Callable[[TargetId, TargetContext], Evaluated]
"""Makes the target of an id. Raises `InputError` when what it names isn't there or can't be read."""
