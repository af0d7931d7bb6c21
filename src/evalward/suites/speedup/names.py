"""Names of benchmarks, and the groups that they form at the four levels."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

MIN_PARTS_WITH_CLASS = 3


class Parts(NamedTuple):
    """Where a benchmark stands. Parameters are no part of it."""

    module: str | None
    cls: str | None
    function: str | None


@lru_cache(maxsize=65_536)
def split(name: str) -> Parts:
    """The parts of a dotted name, `module.Class.function(parameters)`.

    A second-last part with an upper-case initial is a class when there are three parts or more; `_S` is none.
    """
    name = name.strip()
    if name.endswith(")"):
        name = name[: name.index("(")].strip() if "(" in name else name
    parts = [part for part in name.split(".") if part]
    if not parts:
        return Parts(None, None, None)
    *outer, function = parts
    if len(parts) >= MIN_PARTS_WITH_CLASS and outer[-1][0].isupper():
        return Parts(".".join(outer[:-1]), outer[-1], function)
    return Parts(".".join(outer) or None, None, function)


Group = tuple[str | None, ...]


@lru_cache(maxsize=65_536)
def groups(name: str) -> tuple[Group, Group, Group, Group]:
    """The group of a benchmark at levels 1 to 4: module; with its class; with its function; all."""
    parts = split(name)
    return (parts.module,), (parts.module, parts.cls), tuple(parts), ()
