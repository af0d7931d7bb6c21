"""What many results have alike is held once: a report of some ten thousand cases takes half of the memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from evalward.records.base import Record, SharedNames, share_names
from evalward.records.trace import Usage


class _Measured(Protocol):
    """A result of a report or a trial of a baseline: a record with these parts."""

    @property
    def usage(self) -> Usage:
        """What it took."""
        ...

    @property
    def details(self) -> Any:
        """What its kind says of it."""
        ...


def share_alike(results: Iterable[_Measured]) -> None:
    """Let results that took the same share the record of it, and records with the same fields the set of their names.

    Records never change, so that nobody sees a difference.
    """
    names: SharedNames = {}
    usages: dict[tuple[object, ...], Usage] = {}
    for result in results:
        usage = usages.setdefault(tuple(vars(result.usage).values()), result.usage)
        object.__setattr__(result, "usage", usage)
        share_names((part for part in (result, usage, result.details) if isinstance(part, Record)), names)
