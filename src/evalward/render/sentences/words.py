"""Words that several sentences share: numbers as words, chance, and names of cases."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalward.records.codes.base import OfCases
from evalward.records.metric import Unit
from evalward.render.numbers import NOT_AVAILABLE, format_number

_RARE = 1e-6
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def moved(before: float | None, now: float | None, unit: Unit) -> str:
    """`94.6 % → 86.5 %`."""
    sides = [side for side in (before, now) if side is not None]
    return " → ".join(NOT_AVAILABLE if side is None else format_number(side, unit, sides) for side in (before, now))


def share(count: int, of: int, limit: float) -> str:
    """`6.0 %`, with as many decimals as it takes to tell it from a limit."""
    return format_number(count / of, "ratio", [limit])


def chance(p: float) -> str:
    """How often chance would do it, in words: `chance would do that once in 4,000 runs`."""
    if p <= _RARE:
        return "chance would do that less than once in a million runs"
    if p >= 0.4:
        return "chance does that all the time"
    return f"chance would do that once in {_round(1 / p)} runs"


def _round(value: float) -> str:
    """Two digits are as much as such a number can promise."""
    step = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return f"{round(value / step) * step:,}"


def some_of(found: OfCases) -> str:
    """The first ids, and that there are more."""
    return ", ".join(found.first) + (", …" if found.count > len(found.first) else "")


def number_word(count: int) -> str:
    """Small numbers as words, as at the beginning of a sentence."""
    return _SMALL[count] if count < len(_SMALL) else f"{count:,}"


def ordinal(number: int) -> str:
    """`third`, `12th`, `21st`."""
    if number < len(_ORDINALS):
        return _ORDINALS[number]
    last = 0 if number % 100 in {11, 12, 13} else number % 10
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


def joined(words: Sequence[str]) -> str:
    """`a and b`."""
    return " and ".join(words)
