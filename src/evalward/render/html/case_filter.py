"""What the table of all cases can be filtered by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from evalward.render.html.case_rows import RunCases

MOST_CHOICES = 300  # of one list; the search finds the others


class CaseFilter(Struct, frozen=True):
    """The values that there are. `choices` are the lists with more than one: attribute, label, values."""

    statuses: list[str]
    choices: list[tuple[str, str, list[str]]]


def case_filter(groups: Sequence[RunCases]) -> CaseFilter:
    """The filter of these cases, its values in order of their names."""
    lines = [line for group in groups for line in group.lines]
    statuses = [*(line.badge.word for line in lines), *(line.change for line in lines)]
    lists = [
        ("suite", "Suite", _values(group.suite for group in groups)),
        ("target", "Target", _values(group.target for group in groups)),
        ("category", "Category", _values(line.category for line in lines)),
    ]
    return CaseFilter(_values(statuses), [each for each in lists if len(each[2]) > 1])


def _values(values: Iterable[str]) -> list[str]:
    return sorted({value for value in values if value})[:MOST_CHOICES]
