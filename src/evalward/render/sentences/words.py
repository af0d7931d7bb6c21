"""Words that several sentences share: numbers as words, chance, and names of cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evalward.records.codes.base import OfCases
from evalward.records.metric import Unit

Shown = Callable[[float, Unit, int], str]
_RARE = 1e-6
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MINUS = "−"


def shown(value: float, unit: Unit, places: int = 2) -> str:
    """A value in a sentence; ratios in per cent."""
    if unit == "ratio":
        return f"{_trimmed(value * 100, places)} %"
    if unit == "usd":
        return f"${value:.{places + 2}f}"
    return f"{value:,.{max(places - 2, 0)}f} ms" if unit == "ms" else _trimmed(value, places)


def shown_delta(delta: float, unit: Unit, places: int = 2) -> str:
    """A difference in a sentence: points for ratios."""
    return f"{_trimmed(delta * 100, places)} points" if unit == "ratio" else shown(delta, unit, places)


def shown_apart(value: float, limit: float, unit: Unit, form: Shown = shown) -> tuple[str, str]:
    """Both in a sentence, with as many decimals as it takes to see which one is larger."""
    texts = [(form(value, unit, places), form(limit, unit, places)) for places in range(2, 10)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def moved(before: float | None, now: float | None, unit: Unit) -> str:
    """`94.6 % → 86.5 %`."""
    return " → ".join(shown(side, unit) if side is not None else "n/a" for side in (before, now))


def between(low: float, high: float, unit: Unit) -> str:
    """An interval of a difference: `−12.3 to +1.5 points`."""
    return f"{_signed(low, unit)} to {_signed(high, unit)}" + (" points" if unit == "ratio" else "")


def _signed(value: float, unit: Unit) -> str:
    text = _trimmed(abs(value) * 100, 1) if unit == "ratio" else shown(abs(value), unit)
    return f"{MINUS if value < 0 else '+'}{text}"


def _trimmed(value: float, places: int) -> str:
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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
    """`third`, `12th`."""
    return _ORDINALS[number] if number < len(_ORDINALS) else f"{number}th"


def joined(words: Sequence[str]) -> str:
    """`a and b`."""
    return " and ".join(words)
