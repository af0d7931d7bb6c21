"""Numbers in the sentences of a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evalward.decide.samples import Observed, Pair, Sample
from evalward.records.comparison import MetricChange
from evalward.records.evidence import Evidence, SideBySide
from evalward.records.metric import Metric, Unit

Shown = Callable[[float, Unit, int], str]
_RARE = 1e-6
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
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


def counts(metric: Metric) -> str:
    """` (33 of 37)` for a ratio of whole numbers."""
    if metric.unit != "ratio" or metric.numerator is None or metric.denominator is None:
        return ""
    return f" ({metric.numerator:g} of {metric.denominator:g})"


def chance(p: float) -> str:
    """How often chance would do it, in words: `chance would do that once in 4,000 runs`."""
    if p <= _RARE:
        return "chance would do that less than once in a million runs"
    if p >= 0.4:
        return "chance does that all the time"
    return f"chance would do that once in {_round(1 / p)} runs"


def counted(count: int, noun: str) -> str:
    """`1 case`, `5,000 cases`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def some_of(ids: Sequence[str]) -> str:
    """The first three, and that there are more."""
    return ", ".join(ids[:3]) + (", …" if ids[3:] else "")


def number_word(count: int) -> str:
    """Small numbers as words, as at the beginning of a sentence."""
    return _SMALL[count] if count < len(_SMALL) else f"{count:,}"


def what_failed(sample: Sample, evidence: Evidence, asked: frozenset[str]) -> str:
    """`three of 37 cases that always passed now fail in 11 of 12 fresh tries`; empty where there is nothing to count.

    The cases are those that mostly passed before and mostly fail now; `asked` are those with fresh tries.
    """
    if not sample.counted:
        return ""
    lost = [
        (pair.before, now)
        for pair in sample.pairs
        if (now := _seen(pair, evidence, asked)) and _lost(sample, pair, now)
    ]
    if not lost:
        return ""
    number, passed = len(lost), sum(sample.good(before)[0] for before, _ in lost)
    tries = sum(before.trials for before, _ in lost)
    failed = sum(now.trials - sample.good(now)[0] for _, now in lost)
    fresh = sum(now.trials for _, now in lost)
    always = "always passed" if passed == tries and tries > number else f"passed {passed} of {tries} times"
    if tries == number:
        always = "passed once" if number == 1 else "passed"
    tried = ("fresh " if evidence.confirmed else "") + ("try" if fresh == 1 else "tries")
    cases = f"{number_word(number)} of {len(sample.pairs):,} cases that {always}"
    if len(sample.pairs) == 1:
        cases = f"the only case, which {always},"
    return f"{cases} now {'fails' if number == 1 else 'fail'} in {failed} of {fresh} {tried}"


def side_by_side(found: SideBySide | None, cases: int) -> str:
    """`of 3 of 37 cases 8 of 24 trials passed here, 24 of 24 of the base, run side by side`."""
    if found is None or not found.cases:
        return ""
    some = f"of {len(found.cases)} of {cases:,} cases" if cases > 1 else "of the only case"
    here, there = (f"{found.head_passed} of {found.head_trials}", f"{found.base_passed} of {found.base_trials}")
    return f"{some} {here} trials passed here and {there} of the base, run side by side"


def _seen(pair: Pair, evidence: Evidence, asked: frozenset[str]) -> Observed | None:
    if not evidence.confirmed:
        return pair.now
    return pair.fresh if pair.id in asked else None


def _lost(sample: Sample, pair: Pair, now: Observed) -> bool:
    good, is_good = sample.good(pair.before)[0], sample.good(now)[0]
    return 2 * good > pair.before.trials and 2 * is_good <= now.trials


def moved(change: MetricChange) -> str:
    """`94.6 % → 86.5 %`."""
    sides: Sequence[Metric | None] = (change.before, change.now)
    return " → ".join(shown(side.value, side.unit) if side and side.value is not None else "n/a" for side in sides)


def between(low: float, high: float, unit: Unit) -> str:
    """An interval of a difference: `−12.3 to +1.5 points`."""
    return f"{_signed(low, unit)} to {_signed(high, unit)}" + (" points" if unit == "ratio" else "")


def _signed(value: float, unit: Unit) -> str:
    text = _trimmed(abs(value) * 100, 1) if unit == "ratio" else shown(abs(value), unit)
    return f"{MINUS if value < 0 else '+'}{text}"


def _round(value: float) -> str:
    """Two digits are as much as such a number can promise."""
    step = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return f"{round(value / step) * step:,}"


def _trimmed(value: float, places: int) -> str:
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
