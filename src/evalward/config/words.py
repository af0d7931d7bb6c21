"""How values and places of a configuration are written in messages; what others write, too, is in `records.words`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from evalward.records.words import one_line

KeyPath: TypeAlias = tuple[str | int, ...]
Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"


def field_name(path: KeyPath) -> str:
    """A key path as people write it: `suites[0].cases`."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            name += f".{one_line(part, 40)}" if name else one_line(part, 40)
    return name


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a key path, or of its nearest ancestor that has one."""
    ancestors = (path[:length] for length in range(len(path), -1, -1))
    return next((lines[known] for known in ancestors if known in lines), None)
