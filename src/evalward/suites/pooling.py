"""How the numbers of several trials become one: what every kind's metrics do in the same way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import fsum

from evalward.records.metric import CategorySummary
from evalward.records.result import Result

Number = Callable[[Result], float | None]


def per_pass(valid: Iterable[Result], number: Number) -> float | None:
    """The sum over the cases of each case's mean over its trials.

    `None` when there is no trial, or when one doesn't tell its number.
    """
    by_case: dict[str, list[float]] = defaultdict(list)
    for result in valid:
        value = number(result)
        if value is None:
            return None
        by_case[result.id].append(value)
    return fsum(fsum(values) / len(values) for values in by_case.values()) if by_case else None


def by_category(
    valid: Iterable[Result], summary: Callable[[Sequence[Result]], CategorySummary]
) -> dict[str, CategorySummary]:
    """The summary of each category, sorted by name."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in valid:
        groups[result.category].append(result)
    return {name: summary(groups[name]) for name in sorted(groups)}


def by_case(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The valid trials of each case."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        if result.valid:
            grouped.setdefault(result.id, []).append(result)
    return grouped
