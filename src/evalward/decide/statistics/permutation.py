"""The exact permutation test of two groups of trials, within cases: numbers of any kind, such as counts or residuals.

If nothing changed, a case's trials could as well have been dealt out the other way round. For trials that are a yes or
no this is the stratified test of the verdict; for one trial a side it is the sign-flip test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec import Struct

from evalward.decide.statistics.counting import Weights, convolved, power

CELLS = 4_000  # of the table of all sums; what keeps forty cases of ten trials below half a second
MOST_CELLS = 16_000  # where so many are needed: a thousand cases of ten trials take about a second
ENOUGH = 5  # steps in a standard deviation within the cases: rounding then adds a third of a percent to the variance
FINEST = 1e-6


class CaseValues(Struct, frozen=True):
    """The values of one case's trials, before and now."""

    before: Sequence[float]
    now: Sequence[float]

    @property
    def comparable(self) -> bool:
        """True when there are trials on both sides."""
        return bool(self.before) and bool(self.now)


class Tails(Struct, frozen=True):
    """How probable a sum this low, and this high, is if nothing changed."""

    low: float
    high: float

    @property
    def two_sided(self) -> float:
        """Twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.low, self.high))


def permutation_tails(cases: Sequence[CaseValues]) -> Tails:
    """P[S ≤ observed] and P[S ≥ observed], S the sum over the cases of the values now, each deal of a case alike.

    Whole numbers are taken as they are. Others are rounded to steps, as fine as a table of 4,000 sums allows, or of up
    to 16,000 where the trials differ by less than five steps: that costs resolution, not validity, for it is the exact
    test of the values so rounded. Cases without trials on one side say nothing; where no case says anything both are 1.
    ValueError for a value that is no finite number.
    Source: Fisher 1935; stratified as in Good, Permutation, Parametric and Bootstrap Tests of Hypotheses.
    """
    units = _units([case for case in cases if case.comparable])
    null = convolved(power(deals, count) for deals, count in _all_deals(units))
    observed = sum(sum(case.now) * count for case, count in units.items())
    return Tails(low=null.at_most(observed), high=null.at_least(observed))


def least_two_sided(cases: Sequence[tuple[int, int]]) -> float:
    """The smallest two-sided p that these numbers of trials (before, now) can give, whatever they show."""
    ways = math.prod(math.comb(before + now, now) for before, now in cases if before and now)
    return min(1.0, 2 / ways)


class _Units(Struct, frozen=True):
    """A case's values as whole numbers from 0 on."""

    before: tuple[int, ...]
    now: tuple[int, ...]


def _units(cases: Sequence[CaseValues]) -> Counter[_Units]:
    """How often there is which case. One whose trials are all alike says nothing, however they are dealt out."""
    alike = Counter((tuple(case.before), tuple(case.now)) for case in cases)
    distinct = [(CaseValues(*values), count) for values, count in alike.items()]
    if not all(math.isfinite(value) for case, _ in distinct for value in (*case.before, *case.now)):
        raise ValueError("the values have to be finite numbers")
    step = _step(distinct)
    units = Counter[_Units]()
    for case, count in distinct:
        units[_whole(case, step)] += count
    return Counter({case: count for case, count in units.items() if any(case.before) or any(case.now)})


def _whole(case: CaseValues, step: float) -> _Units:
    least = min((*case.before, *case.now))
    return _Units(*(tuple(round((value - least) / step) for value in side) for side in (case.before, case.now)))


def _step(cases: Sequence[tuple[CaseValues, int]]) -> float:
    """1 for whole numbers in a table that isn't too large, else 1, 2 or 5 times a power of 10. Each case so often."""
    together = [((*case.before, *case.now), _few(case), count) for case, count in cases]
    span = math.fsum((max(values) - min(values)) * few * count for values, few, count in together)
    whole = all(float(value).is_integer() for values, _, _ in together for value in values)
    if whole and span <= CELLS:
        return 1.0
    most = _cells(span, _spread([(values, count) for values, _, count in together]))
    exponent = math.floor(math.log10(max(span / most, FINEST)))
    fitting = [factor * 10.0**power for power in (exponent, exponent + 1) for factor in (1, 2, 5)]
    return next(step for step in fitting if span / step <= most)


def _cells(span: float, spread: float) -> int:
    """How many sums the table may have."""
    return CELLS if span * ENOUGH <= CELLS * spread else min(MOST_CELLS, math.ceil(span * ENOUGH / spread))


def _spread(cases: Sequence[tuple[Sequence[float], int]]) -> float:
    """The standard deviation within the cases; where all trials of each are the same, the rounding doesn't matter."""
    squares = [(sum((value - fmean(values)) ** 2 for value in values), count) for values, count in cases]
    trials = sum(len(values) * count for values, count in cases)
    return math.sqrt(math.fsum(square * count for square, count in squares) / trials) or math.inf


def _few(case: CaseValues | _Units) -> int:
    """The trials of the side that has fewer: the other's sum is what these leave of the whole."""
    return min(len(case.before), len(case.now))


def _all_deals(cases: Counter[_Units]) -> Iterator[tuple[Weights, int]]:
    """The distributions, each so often; cases of equal values, however they were dealt out, have the same."""
    alike = Counter[tuple[int, ...]]()
    for case, count in cases.items():
        alike[(len(case.now), *sorted((*case.before, *case.now)))] += count
    for (now, *values), count in alike.items():
        yield _deals(_Units(tuple(values[now:]), tuple(values[:now]))), count


def _deals(case: _Units) -> Weights:
    """The distribution of the sum of `len(now)` values out of all, by a table of how many ways give which sum.

    A row per number of values dealt so far; a row is one long integer with a cell per sum.
    """
    values, dealt = [*case.before, *case.now], _few(case)
    width = len(values) // 8 + 1  # bytes: no cell exceeds the number of all subsets
    rows = [1] + [0] * dealt
    for value in values:
        for number in range(dealt, 0, -1):
            rows[number] += rows[number - 1] << (8 * width * value)
    top = sum(sorted(values)[-dealt:])
    packed = rows[dealt].to_bytes(width * (top + 1), "little")
    ways = [int.from_bytes(packed[at : at + width], "little") for at in range(0, len(packed), width)]
    return Weights(0, ways) if dealt == len(case.now) else Weights(sum(values) - top, ways[::-1])
