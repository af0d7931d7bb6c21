"""Two samples of times: is it slower now?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from evalward.decide.statistics.student import normal_above

LARGEST_EXACT = 20  # samples a side
FEWEST_SAMPLES = 6  # a side: with five the smallest p is 1/252


@dataclass(frozen=True)
class MannWhitney:
    """`u`: pairs in which now is larger, ties half; `ratio`: median now to median before, None if that is 0.

    `p_slower` is one-sided (now larger), `p_two_sided` for either direction.
    """

    u: float
    p_slower: float
    p_two_sided: float
    ratio: float | None


@dataclass(frozen=True)
class TimingVerdict:
    """Whether it is slower; where that could not have been found whatever was measured, `cannot_fire` says why."""

    slower: bool
    test: MannWhitney | None
    cannot_fire: str | None


def mann_whitney(before: Sequence[float], now: Sequence[float]) -> MannWhitney | None:
    """Mann and Whitney's U of two samples; None when one is empty.

    Exact without ties and up to 20 samples a side; else the normal approximation, corrected for continuity and ties.
    Source: Mann and Whitney 1947.
    """
    if not before or not now:
        return None
    u = _u(before, now)
    pairs = len(before) * len(now)
    tied = [count for count in Counter([*before, *now]).values() if count > 1]
    if tied or max(len(before), len(now)) > LARGEST_EXACT:
        above, below = (_approximate(value, len(before), len(now), tied) for value in (u, pairs - u))
    else:
        above, below = (_exact(int(value), len(before), len(now)) for value in (u, pairs - u))
    middle = median(before)
    ratio = median(now) / middle if middle else None
    return MannWhitney(u, above, min(1.0, 2 * min(above, below)), ratio)


def slower(before: Sequence[float], now: Sequence[float], factor: float = 1.1, alpha: float = 0.002) -> TimingVerdict:
    """Slower: p_slower < `alpha` and the medians' ratio above `factor`.

    Under six samples a side it can't fire, nor where even the pooled samples' complete separation, all slow ones
    now, would not give such a p (six samples a side with ties).
    """
    test = mann_whitney(before, now)
    why = _cannot_fire(before, now, alpha)
    if test is None or why is not None or test.ratio is None:
        return TimingVerdict(False, test, why or "the median before is 0")
    return TimingVerdict(test.p_slower < alpha and test.ratio > factor, test, None)


def _cannot_fire(before: Sequence[float], now: Sequence[float], alpha: float) -> str | None:
    fewest = min(len(before), len(now))
    if fewest < FEWEST_SAMPLES:
        return f"{fewest} samples on one side; it takes {FEWEST_SAMPLES} on each"
    pooled = sorted([*before, *now])
    most_extreme = mann_whitney(pooled[: len(before)], pooled[len(before) :])
    if most_extreme is None or most_extreme.p_slower >= alpha:
        return f"{len(before)} and {len(now)} samples with these ties can't give p < {alpha:g}; take more"
    return None


def _u(before: Sequence[float], now: Sequence[float]) -> float:
    """U from the ranks' sum, ties having their mean rank."""
    counts = Counter([*before, *now])
    values = sorted(counts)
    last = dict(zip(values, accumulate(counts[value] for value in values), strict=True))
    ranks = math.fsum(last[value] - (counts[value] - 1) / 2 for value in now)
    return ranks - len(now) * (len(now) + 1) / 2


def _exact(u: int, m: int, n: int) -> float:
    """P[U ≥ u]: orderings by U are the coefficients of the Gaussian binomial Π(1 − q^(m+i))/(1 − q^i), i = 1 … n."""
    ways = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for at in range(m * n, m + i - 1, -1):
            ways[at] -= ways[at - m - i]
        for at in range(i, m * n + 1):
            ways[at] += ways[at - i]
    return sum(ways[u:]) / math.comb(m + n, n)


def _approximate(u: float, m: int, n: int, tied: Sequence[int]) -> float:
    """P[U ≥ u] ≈ P[Z > (u − mn/2 − ½)/σ], σ² = mn/12·(N + 1 − Σ(t³ − t)/(N(N − 1))); 1 where all samples are tied."""
    total = m + n
    ties = sum(count**3 - count for count in tied) / (total * (total - 1))
    deviation = math.sqrt(max(0.0, m * n / 12 * (total + 1 - ties)))
    return normal_above((u - m * n / 2 - 0.5) / deviation) if deviation > 0 else 1.0
