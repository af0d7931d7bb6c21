"""How often the gate is wrong, on simulated suites: the promise that makes a verdict worth reading.

The seeds are fixed, so the numbers never change by themselves. They are held to what so few checks can tell; the
numbers of `benchmarks/simulation.py`, of many more, stand in `docs/how-evalward-decides.md`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from evalward.records.policy import Confirm
from evalward.records.verdict import Outcome
from support.outcomes import outcome_of
from support.simulated import ONE_RULE, World, simulate

MOST = 2.6  # trials per case where nothing changed, on the average


def decide(world: World, checks: int, seed: int = 20_000) -> Counter[Outcome]:
    """The outcomes of so many checks, each of which keeps to the bound on trials."""
    counts: Counter[Outcome] = Counter()
    spent = 0
    for number in range(seed, seed + checks):
        decided = simulate(world, number)
        assert decided.trials <= 6 * world.cases * world.trials
        counts[decided.verdict.outcome] += 1
        spent += decided.trials
    assert not counts[Outcome.ERROR]
    if not (world.broken or world.drift or world.lower):
        assert spent <= MOST * world.cases * checks
    return counts


@pytest.mark.parametrize("before", [1, 5])
def test_nothing_changed__is_green(before: int) -> None:
    counts = decide(World(baseline_trials=before, noise="beta", rules=ONE_RULE), 40)
    assert counts[Outcome.FAIL] <= 0.05 * 40
    assert counts[Outcome.INCONCLUSIVE] <= 0.05 * 40


def test_nothing_changed__with_the_rules_that_a_suite_brings() -> None:
    assert decide(World(baseline_trials=5), 20)[Outcome.FAIL] <= 0.05 * 20


@pytest.mark.parametrize("before", [1, 5])
def test_two_of_37_broken__are_seen(before: int) -> None:
    counts = decide(World(broken=2, baseline_trials=before, noise="beta", rules=ONE_RULE), 20)
    assert counts[Outcome.FAIL] >= 0.9 * 20


def test_three_of_37_broken__are_seen_by_a_baseline_of_one_trial() -> None:
    counts = decide(World(broken=3, baseline_trials=1, noise="beta", rules=ONE_RULE), 25)
    assert counts[Outcome.FAIL] >= 0.96 * 25


@pytest.mark.parametrize(("shock", "drift"), [(0.4, 0.0), (0.0, -0.6)])
def test_a_bad_day_of_the_provider__convicts_nobody(shock: float, drift: float) -> None:
    world = World(baseline_trials=5, shock=shock, drift=drift, rules=ONE_RULE)
    assert decide(world, 40)[Outcome.FAIL] <= 0.05 * 40


@pytest.mark.parametrize(("astray", "confirm"), [(4, Confirm()), (1, Confirm(base="off"))])
def test_fresh_trials_of_one_case_that_time_out__save_nothing_that_broke(astray: int, confirm: Confirm) -> None:
    world = World(broken=3, astray=astray, confirm=confirm, rules=ONE_RULE)
    assert decide(world, 10)[Outcome.FAIL] >= 0.9 * 10


def test_cases_that_break_by_erring__never_pass() -> None:
    world = World(cases=100, broken=5, by_error=True, rules=ONE_RULE)
    assert decide(world, 4)[Outcome.INCONCLUSIVE] == 4


def test_drop_over_all_cases__of_the_size_that_is_told_is_seen_four_times_out_of_five() -> None:
    world = World(noise="beta", rules=ONE_RULE)
    quiet = outcome_of(simulate(world, 0).verdict).evidence
    assert quiet is not None
    assert quiet.detectable is not None
    assert decide(replace(world, lower=quiet.detectable), 20)[Outcome.FAIL] >= 0.8 * 20
