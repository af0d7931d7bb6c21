"""Names of pytest's tests, as pytest-repeat numbers them: `test_shell[count-lines-2-3]` is trial 2 of 3."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_REPEAT = re.compile(r"(?P<base>.*\[(?:.*-)?)(?P<number>[1-9]\d{0,8})-(?P<count>[1-9]\d{0,8})\]", re.DOTALL)


class RepeatedName(NamedTuple):
    """A name that pytest-repeat may have written: the case, which of its trials, and how many there should be."""

    case: str
    number: int
    trials: int


def repeat_of(name: str) -> RepeatedName | None:
    """A name without the suffix, the number and the count; `None` for one that has no such suffix."""
    found = _REPEAT.fullmatch(name)
    if found is None or int(found["number"]) > int(found["count"]):
        return None
    base = found["base"]
    case = base[:-1] if base.endswith("[") else f"{base[:-1]}]"
    return RepeatedName(case, int(found["number"]), int(found["count"]))


def whole_repeats(names: Iterable[RepeatedName]) -> set[tuple[str, int]]:
    """The cases that pytest-repeat has numbered, each with its count.

    An id such as `day[2026-11-22]` has the same form. So a count is believed where one case has all its numbers, and
    then of other cases too: those miss some.
    """
    numbers: dict[tuple[str, int], set[int]] = {}
    for name in names:
        numbers.setdefault((name.case, name.trials), set()).add(name.number)
    whole = {count for (_, count), seen in numbers.items() if count > 1 and len(seen) == count}
    return {key for key in numbers if key[1] in whole}


def for_k(case: str) -> str:
    """What pytest's `-k` finds a test by: its name, whose end is left open, as pytest-repeat writes into it."""
    return case.rpartition("::")[2].removesuffix("]")
