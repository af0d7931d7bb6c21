"""Geometric means and the advantage at four levels, as the specification has them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from evalward.suites.speedup.details import LEVELS, BenchmarkSpeed, LevelAdvantage
from evalward.suites.speedup.names import Group, groups


def gmean(values: Sequence[float]) -> float | None:
    """The geometric mean of positive numbers; `None` of none."""
    if not values:
        return None
    return values[0] if len(values) == 1 else math.exp(math.fsum(map(math.log, values)) / len(values))


def task_speedup(benchmarks: Iterable[BenchmarkSpeed]) -> float | None:
    """The geometric mean of the valid agent/nop; `None` when no benchmark is valid."""
    return gmean([b.agent for b in benchmarks if b.valid and b.agent is not None])


def levels(benchmarks: Iterable[BenchmarkSpeed]) -> list[LevelAdvantage]:
    """The advantage at levels 1 to 4; empty when no benchmark is valid.

    Per group gmean(agent) − gmean(oracle), then the arithmetic mean over the groups: groups weigh equally, a module
    with one benchmark like one with 500.
    """
    found: tuple[dict[Group, list[tuple[float, float]]], ...] = tuple(defaultdict(list) for _ in LEVELS)
    for benchmark in benchmarks:
        if benchmark.valid and benchmark.agent is not None and benchmark.oracle is not None:
            pair = (benchmark.agent, benchmark.oracle)
            for members, group in zip(found, groups(benchmark.name), strict=True):
                members[group].append(pair)
    return [_level(members.values()) for members in found] if found[-1] else []


def _level(members: Iterable[Sequence[tuple[float, float]]]) -> LevelAdvantage:
    advantages = [_advantage(pairs) for pairs in members]
    return LevelAdvantage(advantage=math.fsum(advantages) / len(advantages), groups=len(advantages))


def _advantage(pairs: Sequence[tuple[float, float]]) -> float:
    agent, oracle = gmean([a for a, _ in pairs]), gmean([o for _, o in pairs])
    assert agent is not None  # noqa: S101 - a group has members
    assert oracle is not None  # noqa: S101
    return agent - oracle
