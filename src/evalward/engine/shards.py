"""Shards: which of a plan's cases one of several machines runs. Each machine finds the same by itself.

The unit is a case of a target with all its trials. The longest go first, each to the shard that has least to do so far
(the LPT rule), by how long the baseline's trials took. A case without a time counts as the median of its target's; of a
target that the baseline doesn't have, as the history says; else as the median of all. Equal ones go in the order of
their hashes. So nothing decides but the plan, and files of the commit that judges.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from statistics import median
from typing import NamedTuple

from msgspec import Struct, field, structs

from evalward.config import Config
from evalward.engine.plan import Plan, PlannedRun
from evalward.records.base import digest
from evalward.records.budget import Budget
from evalward.records.case import Case
from evalward.records.part import Part, Shard
from evalward.targets.limiter import MOST

SuiteTarget = tuple[str, str]
Durations = Mapping[SuiteTarget, Mapping[str, float]]
"""By suite and target: how many milliseconds a trial of a case took, by its id."""
UsualTimes = Mapping[SuiteTarget, float]
"""By suite and target: how many milliseconds a trial takes, of whatever case."""
NO_TIME = 1.0
"""What every case counts as where no time is known: then all weigh as their trials do."""


class Unit(NamedTuple):
    """A case of a target, with all its trials: what is never divided. `weight` is in milliseconds, or all alike."""

    run: int
    case: str
    weight: float
    order: str


class KnownTimes(Struct, frozen=True, dict=True):
    """How long trials take: of single cases, and of targets as the history has it."""

    cases: Durations = field(default_factory=dict)
    usual: UsualTimes = field(default_factory=dict)

    def of(self, run: SuiteTarget, cases: Sequence[str]) -> list[float]:
        """Milliseconds of a trial of each case; where no time is known, all weigh alike."""
        own = self.cases.get(run, {})
        usual = median(own.values()) if own else self.usual.get(run, self._of_any)
        return [own.get(case, usual) for case in cases]

    @cached_property
    def _of_any(self) -> float:
        times = [each for cases in self.cases.values() for each in cases.values()]
        return median(times or [*self.usual.values()] or [NO_TIME])


def sharded(plan: Plan, shard: Shard, times: KnownTimes, left: Collection[str] = ()) -> tuple[Plan, Part]:
    """The part of a plan that is this shard's, and what its report says of that.

    Every run stays in it, also without a case. `left` are suites that no shard measures; gathered ones are none of a
    shard's either, as another program runs them as a whole.
    """
    kept = [run for run in plan.runs if run.suite.spec.name not in left]
    units = [unit for number, run in enumerate(kept) for unit in _units(number, run, times)]
    owners = assigned(units, shard.total)
    shared = [[unit.order, at] for unit, at in zip(units, owners, strict=True)]
    whole = digest([[_identity(run) for run in kept], shared])
    mine = [unit for unit, at in zip(units, owners, strict=True) if at == shard.number]
    names = {(unit.run, unit.case) for unit in mine}
    runs = [_part_of(run, [case for case in run.cases if (at, case.id) in names]) for at, run in enumerate(kept)]
    others = sorted({*(name for name in left if _has(plan, name)), *plan.gathered_names})
    part = Part(index=shard.number, total=shard.total, plan=whole, left=others)
    return structs.replace(plan, runs=runs, gathered=()), part


def _has(plan: Plan, suite: str) -> bool:
    return any(run.suite.spec.name == suite for run in plan.runs)


def assigned(units: Sequence[Unit], total: int) -> list[int]:
    """The shard of each unit, from 1: the longest first, to whichever shard has least."""
    loads = [(0.0, index) for index in range(1, total + 1)]
    owner = [0] * len(units)
    for at in sorted(range(len(units)), key=lambda at: (-units[at].weight, units[at].order)):
        load, index = loads[0]
        owner[at] = index
        heapq.heapreplace(loads, (load + units[at].weight, index))
    return owner


def _units(number: int, run: PlannedRun, times: KnownTimes) -> list[Unit]:
    if run.not_measured is not None:
        return []
    suite, target = run.suite.spec.name, run.target.id
    known = times.of((suite, target), [case.id for case in run.cases])
    return [
        Unit(number, case.id, time * len(run.numbers_of(case)), _order(suite, target, case))
        for case, time in zip(run.cases, known, strict=True)
    ]


def _order(suite: str, target: str, case: Case) -> str:
    return digest([suite, target, case.id, case.definition])


def _identity(run: PlannedRun) -> list[str | int | None]:
    return [run.suite.spec.name, run.target.id, run.subject.hash, run.trials, run.not_measured]


def _part_of(run: PlannedRun, cases: Sequence[Case]) -> PlannedRun:
    """The run with these of its cases: a shard is no selection, so nothing is said to be left out."""
    whole = run.whole if run.whole > len(run.cases) else 0
    return structs.replace(run, cases=cases, whole=whole)


def config_of_shard(config: Config, total: int, *, confirms: bool) -> Config:
    """What each of `total` shards may use: its part of the budgets and of each provider's requests at once.

    Where a confirm stage follows, its share stays for whoever judges all parts. At least one request is always under
    way, so more shards than `concurrency` ask more at once than one machine would.
    """
    budget = Budget.planned(config.budget_usd, config.budget_tokens, confirms=confirms)
    usd, tokens = budget.usd_now, budget.tokens_now
    update: dict[str, object] = {
        "budget_usd": None if usd is None else usd / total,
        "budget_tokens": None if tokens is None else max(1, tokens // total),
        "providers": config.providers.at_once(lambda given: max(1, (given or MOST) // total)),
    }
    return config.model_copy(update=update)
