"""What results have alike is held once: reading a report of ten thousand cases takes half of the memory."""

from __future__ import annotations

from evalward.records.base import Record
from evalward.records.trace import Usage

MOST_NAMES = 1_000  # a record that keeps whatever it is given can have any
_NAMES: dict[frozenset[str], set[str]] = {}
_UNKNOWN: dict[frozenset[str], Usage] = {}
"""Usages of which nothing is known, by the fields that were given: every trial of many harnesses has one."""


def share_alike(result: Record, usage: Usage, *others: Record) -> None:
    """Let a result share an unknown usage, and the sets of its fields' names, with all others that have the same.

    Called when one is made: of many that are read at once, none is then ever held with its own. `usage` and `others`
    are its parts. Records never change, so that nobody sees a difference.
    """
    if len(_NAMES) > MOST_NAMES:
        _NAMES.clear()
    if all(value is None for value in vars(usage).values()):
        usage = _UNKNOWN.setdefault(frozenset(usage.model_fields_set), usage)
        object.__setattr__(result, "usage", usage)
    for record in (result, usage, *others):
        names = record.model_fields_set
        object.__setattr__(record, "__pydantic_fields_set__", _NAMES.setdefault(frozenset(names), names))
