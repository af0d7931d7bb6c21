"""How often the gate is wrong, on simulated suites: the promise that makes a verdict worth reading.

These take about nine seconds each on purpose: a rate of 5 % can't be told from one of 8 % by fewer decisions. The seeds
are fixed, so the numbers never change by themselves; the two run side by side.
"""

from __future__ import annotations

from collections import Counter

from evalward.records.verdict import Outcome
from support.simulated import World, simulate

DECISIONS = 240


def decide(world: World, seed: int) -> Counter[Outcome]:
    """The outcomes of many decisions, each of which keeps to the bound on trials."""
    counts: Counter[Outcome] = Counter()
    for number in range(seed, seed + DECISIONS):
        decided = simulate(world, number)
        assert decided.trials <= 2 * world.cases * world.trials
        counts[decided.verdict.outcome] += 1
    return counts


def test_nothing_changed__fails_at_most_one_check_in_twenty() -> None:
    counts = decide(World(baseline_trials=5), 20_000)
    assert counts[Outcome.FAIL] <= 0.05 * DECISIONS
    assert counts[Outcome.PASS] >= 0.8 * DECISIONS
    assert not counts[Outcome.ERROR]


def test_three_of_37_broken__fails_at_least_19_checks_in_20() -> None:
    counts = decide(World(broken=3, baseline_trials=5), 30_000)
    assert counts[Outcome.FAIL] >= 0.95 * DECISIONS
    assert not counts[Outcome.PASS]
