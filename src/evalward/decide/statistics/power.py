"""What a comparison of this size is able to see."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from evalward.decide.statistics.stratified import CaseTrials
from evalward.decide.statistics.student import normal_quantile

TYPICAL_VARIANCE = 0.10  # of one trial within a case: what published runs of agents show, 13 % of pairs flipping


class Variance(Struct, frozen=True):
    """The variance of a single trial within its case; `assumed` when no case has two trials to tell it from."""

    value: float
    assumed: bool


class CaseVariances(Struct, frozen=True):
    """The within-case variance of either side."""

    before: Variance
    now: Variance


def minimum_detectable_effect(
    n: int,
    trials_before: float,
    trials_now: float,
    variance_before: float,
    variance_now: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """The drop of the mean pass rate that a one-sided test at `alpha` finds with the probability `power`.

    (z_{1−α} + z_{power})·√((σ²_before/K_before + σ²_now/K_now)/n), with n cases of K trials. None without cases or
    trials. An approximation by the normal distribution, at most 1 as a rate is.
    """
    if n < 1 or trials_before <= 0 or trials_now <= 0:
        return None
    error = math.sqrt((variance_before / trials_before + variance_now / trials_now) / n)
    return min(1.0, (normal_quantile(1 - alpha) + normal_quantile(power)) * error)


def within_case_variance(cases: Sequence[CaseTrials]) -> CaseVariances:
    """How much a single trial varies within its case, on either side.

    For a case with K ≥ 2 trials K/(K − 1)·p(1 − p) is unbiased. Their mean is taken with one further case of the
    typical variance 0.10: m cases that never flipped don't prove that nothing ever will. Without any such case
    it is that typical one, and `assumed` says so.
    """
    return CaseVariances(
        before=_variance([(case.passed_before, case.trials_before) for case in cases]),
        now=_variance([(case.passed_now, case.trials_now) for case in cases]),
    )


def _variance(counts: Sequence[tuple[int, int]]) -> Variance:
    seen = [passed * (trials - passed) / (trials * (trials - 1)) for passed, trials in counts if trials >= 2]
    return Variance(math.fsum([*seen, TYPICAL_VARIANCE]) / (len(seen) + 1), assumed=not seen)


def fewest_broken_cases(baseline_trials: Sequence[int], fresh_trials: int, alpha: float = 0.05) -> int | None:
    """The smallest number of broken cases that the exact stratified test could convict: "no drop of fewer than N".

    Broken: passed in all its trials of the baseline (`baseline_trials`, one number per case), and in none of the
    `fresh_trials` now; such a case has p = 1/C(n_b + n_c, n_c), and the p of several multiply. Those with the most
    trials convict soonest. None when even all of them would not do.
    """
    ways = 1
    for number, trials in enumerate(sorted(baseline_trials, reverse=True), start=1):
        ways *= math.comb(trials + fresh_trials, fresh_trials)
        if 1 / ways <= alpha:
            return number
    return None
