"""What a comparison of two arms of the same trials is able to see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import variance

from evalward.decide.statistics.permutation import CaseValues
from evalward.decide.statistics.power import TYPICAL_VARIANCE
from evalward.decide.statistics.student import normal_quantile

SURE = 1.15  # so that also small differences in many cases are seen as often as is said (simulated)


def trial_variance(cases: Sequence[CaseValues]) -> float:
    """The variance of a share in a single trial within its case and arm, and never less than the typical 0.10.

    From the cases with two trials in an arm; where none has, half of the mean squared difference of the arms, which is
    at least as large. Trials that never varied don't prove that those of other skills wouldn't.
    """
    seen = [variance(side) for case in cases for side in (case.before, case.now) if len(side) >= 2]
    if not seen:
        seen = [(now - before) ** 2 / 2 for case in cases for before, now in zip(case.before, case.now, strict=True)]
    return max(TYPICAL_VARIANCE, math.fsum(seen) / len(seen)) if seen else TYPICAL_VARIANCE


def detectable_difference(trials: Sequence[int], spread: float, *, alpha: float, power: float = 0.8) -> float | None:
    """The difference of two arms' mean shares that the exact test at `alpha` proves with the probability `power`.

    `trials` has each case's trials, which is the same number in both arms; `spread` is the variance of one of them. The
    difference is taken to lie in as few cases as can hold it, where it is hardest to prove: the test deals a case's
    trials out anew, so that what was won in one widens what chance can do. With n cases that count once each, of K
    trials, A = 2·spread·Σ(1/K)/n² and B = Σ 1/(2K−1)/n² the difference u solves
    u = z_{1−α}·√(A + u·B) + z_{power}·√A, and is taken `SURE` times. It is at least what one side would have to win
    outright, and at most all. `None` where not even that could be proven.
    """
    count, fewest = len(trials), _fewest(trials, alpha)
    if fewest is None:
        return None
    z_alpha, z_power = normal_quantile(1 - alpha), normal_quantile(power)
    noise = 2 * spread * math.fsum(1 / k for k in trials) / count**2
    won = math.fsum(1 / (2 * k - 1) for k in trials) / count**2
    half = z_power * math.sqrt(noise) + z_alpha**2 * won / 2
    found = SURE * (half + math.sqrt(max(0.0, half**2 - noise * (z_power**2 - z_alpha**2))))
    return min(1.0, max(found, fewest / len(trials)))


def _fewest(trials: Sequence[int], alpha: float) -> int | None:
    """How many cases one arm has to win in every trial before the exact test can be sure."""
    ways = 1
    for number, each in enumerate(sorted(trials, reverse=True), start=1):
        ways *= math.comb(2 * each, each)
        if 1 / ways <= alpha:
            return number
    return None
