"""Referees of the exact tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalward.decide.statistics.stratified import CaseTrials, stratified_worse


def paired(lost: int, gained: int) -> list[CaseTrials]:
    """Cases of one trial a side: so many passed only before, and so many only now."""
    return [CaseTrials(1, 1, 0, 1)] * lost + [CaseTrials(0, 1, 1, 1)] * gained


def mcnemar_worse(lost: int, gained: int) -> float:
    """McNemar's exact test, in whole numbers: P[Bin(lost + gained, ½) ≤ gained]."""
    every = lost + gained
    return sum(math.comb(every, passed) for passed in range(gained + 1)) / (1 << every)


def stratified_better(cases: Sequence[CaseTrials]) -> float:
    """The other tail of the stratified test: what was before, and what is now, change places."""
    return stratified_worse([CaseTrials(c.passed_now, c.trials_now, c.passed_before, c.trials_before) for c in cases])
