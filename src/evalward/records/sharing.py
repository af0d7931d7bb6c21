"""What results have alike is held once: reading a report of ten thousand cases takes half of the memory."""

from __future__ import annotations

from typing import TypeVar, cast

from evalward.records.base import Record
from evalward.records.trace import Usage

MOST_HELD = 1_000  # of each: a record that keeps whatever it is given can have any names, and any values
_NAMES: dict[frozenset[str], set[str]] = {}
_PARTS: dict[tuple[object, ...], Record] = {}
"""Parts of results by their type, names and values: every trial of many harnesses has the same ones."""
_PLAIN = frozenset({type(None), bool, int, str})  # no number with a sign that equal ones may lack

R = TypeVar("R", bound=Record)


def share_alike(result: Record, usage: Usage, details: Record, *others: Record) -> None:
    """Let a result share an unknown usage, plain details, and the sets of its fields' names, with all others that
    have the same.

    Called when one is made: of many that are read at once, none is then ever held with its own. `usage`, `details` and
    `others` are its parts. Records never change, so that nobody sees a difference.
    """
    for held in (_NAMES, _PARTS):
        if len(held) > MOST_HELD:
            held.clear()
    if all(value is None for value in vars(usage).values()):
        usage = _shared(usage)
        object.__setattr__(result, "usage", usage)
    details = _shared(details)
    object.__setattr__(result, "details", details)
    for record in (result, usage, details, *others):
        names = record.model_fields_set
        object.__setattr__(record, "__pydantic_fields_set__", _NAMES.setdefault(frozenset(names), names))


def _shared(part: R) -> R:
    """The first record that had the same in it; itself where more than plain values and empty lists is in it."""
    values = vars(part).values()
    if part.model_extra or any(type(value) not in _PLAIN and value not in ([], {}) for value in values):
        return part
    known = [(type(value), value if type(value) in _PLAIN else None) for value in values]
    key = (type(part), frozenset(part.model_fields_set), *known)
    return cast(R, _PARTS.setdefault(key, part))
