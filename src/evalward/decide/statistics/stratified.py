"""The test of the verdict: did the cases pass less often than before, each held against itself?

Given how often a case passed in all, its passes fall on the two sides by chance alone when nothing changed:
hypergeometric. The sum over the cases is compared with the observed one (Cochran-Mantel-Haenszel, conditional, exact).
With one trial a side this is McNemar's exact test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from evalward.decide.statistics.counting import Weights, convolved, power


class CaseTrials(Struct, frozen=True):
    """How often one case passed, of how many valid trials, before and now."""

    passed_before: int
    trials_before: int
    passed_now: int
    trials_now: int

    def __post_init__(self) -> None:
        if not (0 <= self.passed_before <= self.trials_before and 0 <= self.passed_now <= self.trials_now):
            raise ValueError(f"more passes than trials, or fewer than none: {self}")

    @property
    def comparable(self) -> bool:
        """True when there are trials on both sides."""
        return self.trials_before > 0 and self.trials_now > 0

    @property
    def difference(self) -> float:
        """Pass rate now minus pass rate before; only of a comparable case."""
        return self.passed_now / self.trials_now - self.passed_before / self.trials_before


@lru_cache(maxsize=4096)
def case_trials(passed_before: int, trials_before: int, passed_now: int, trials_now: int) -> CaseTrials:
    """The same object for the same numbers: of thousands of cases most have passed as often as another."""
    return CaseTrials(passed_before, trials_before, passed_now, trials_now)


def stratified_worse(cases: Sequence[CaseTrials]) -> float:
    """p_worse = P[S ≤ observed], S = ΣX_i, X_i ~ Hypergeometric(n_b + n_c, t_i, n_c).

    n_b and n_c are a case's trials before and now, t_i its passes in all. Cases without trials on one side, and those
    that always or never passed, say nothing; where no case says anything p is 1. Source: Agresti, Categorical Data
    Analysis, exact conditional tests for 2 × 2 × K tables.
    """
    return _null(cases).at_most(sum(case.passed_now for case in cases if _is_informative(case)))


def stratified_worse_chosen(cases: Sequence[tuple[CaseTrials, int]]) -> float:
    """As `stratified_worse`, of cases that were looked at because they had passed so often before, each at least as
    often as its number says: of the ways to deal a case's passes out, only those count that would have chosen it.

    Without that, cases chosen for what they passed before would seem to fall by themselves (regression to the mean).
    Source: conditional inference after selection, as in Fithian, Sun and Taylor 2014.
    """
    speaking = [(case, least) for case, least in cases if _is_informative(case)]
    null = convolved(_truncated(case, least) for case, least in speaking)
    return null.at_most(sum(case.passed_now for case, _ in speaking))


def _is_informative(case: CaseTrials) -> bool:
    passed = case.passed_before + case.passed_now
    return case.comparable and 0 < passed < case.trials_before + case.trials_now


def _null(cases: Sequence[CaseTrials]) -> Weights:
    """The distribution of S if nothing changed; cases of equal margins are convolved together."""
    margins = Counter(
        (case.trials_before, case.trials_now, case.passed_before + case.passed_now)
        for case in cases
        if _is_informative(case)
    )
    return _dealt(tuple(sorted(margins.items())))


@lru_cache(maxsize=8)
def _dealt(margins: tuple[tuple[tuple[int, int, int], int], ...]) -> Weights:
    """Of cases of these margins, each so often; several rules ask for the same."""
    return convolved(power(_hypergeometric(*margin), count) for margin, count in margins)


def _hypergeometric(before: int, now: int, passed: int) -> Weights:
    """The weights C(now, x)·C(before, passed − x), each made from its neighbour."""
    first, last = max(0, passed - before), min(now, passed)
    weights = [math.comb(now, first) * math.comb(before, passed - first)]
    for x in range(first, last):
        weights.append(weights[-1] * (now - x) * (passed - x) // ((x + 1) * (before - passed + x + 1)))
    return Weights(first, weights)


def _truncated(case: CaseTrials, least: int) -> Weights:
    """The distribution of a case's passes now, given that it passed at least so often before."""
    if case.passed_before < least:
        raise ValueError(f"{case} would not have been chosen by {least} passes before")
    passed = case.passed_before + case.passed_now
    every = _hypergeometric(case.trials_before, case.trials_now, passed)
    return Weights(every.first, every.weights[: passed - least - every.first + 1])
