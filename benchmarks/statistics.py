"""What the tests of the verdict take: 1,000 cases, against the 37 of a usual suite."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.measure import Row, middle, ms, spent
from evalward.decide.statistics import stratified
from evalward.decide.statistics.permutation import CaseValues, permutation_tails
from evalward.decide.statistics.stratified import CaseTrials

ROUNDS = 7


def measure_statistics() -> list[Row]:
    """The exact stratified test and the exact permutation test of scores, with five trials a side."""
    few, many = 37, 1000
    return [
        _row(f"stratified test, {many} cases × (5 + 5)", few, _stratified(many), _stratified(few), "≤ 100 ms"),
        _row(f"permutation test, {many} cases × (5 + 5)", few, _permutation(many), _permutation(few)),
    ]


def _row(what: str, few: int, large: Callable[[], float], small: Callable[[], float], aim: str = "–") -> Row:
    took, held = (middle([spent(work) for _ in range(ROUNDS)]).wall for work in (large, small))
    return Row(what, ms(took), f"{ms(held)} ({few})", took / held, aim)


def _stratified(count: int) -> Callable[[], float]:
    """Cases that pass with a chance of their own, the same before and now."""
    dice = random.Random(count)

    def passed(chance: float) -> int:
        return sum(dice.random() < chance for _ in range(5))

    chances = [dice.random() for _ in range(count)]
    cases = [CaseTrials(passed(chance), 5, passed(chance), 5) for chance in chances]

    def tested() -> float:
        stratified._dealt.cache_clear()  # it remembers the last answers, and would give the same one again
        return stratified.stratified_worse(cases)

    return tested


def _permutation(count: int) -> Callable[[], float]:
    dice = random.Random(count)

    def scores() -> list[float]:
        return [dice.uniform(0, 1) for _ in range(5)]

    cases = [CaseValues(scores(), scores()) for _ in range(count)]
    return lambda: permutation_tails(cases).low
