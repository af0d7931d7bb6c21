"""What the tests of a difference look at: each case's trials on both sides, metric by metric.

A kind says what each trial adds to a metric, so that whatever it measures can be tested. Only valid trials count: an
error is nobody's evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from evalward.decide.beside import Aside
from evalward.decide.kinds import UNKNOWN, ComparedKind, Kinds, PerTrial
from evalward.decide.portions import NONE, Portion, portion_of
from evalward.decide.sides import unusable
from evalward.decide.succession import Aligned, RunPair
from evalward.records.metric import EPSILON, Better, Unit
from evalward.records.report import Run
from evalward.records.result import Result, Status

MOST = 1 / EPSILON**2
"""A value from here on is nothing that a test could tell from another."""


class Observed(Struct, frozen=True, eq=False):
    """One metric over one case's valid trials on one side; `portions` are what each of them adds to it.

    Cases whose trials add the same share one within a sample: so what follows from it is computed once.
    """

    trials: int
    portions: tuple[Portion | None, ...]
    value: float
    numerator: float | None = None
    denominator: float | None = None

    @property
    def per_trial(self) -> float:
        """The mean denominator of a trial; 1 for metrics without one."""
        return self.denominator / self.trials if self.denominator is not None else 1.0


class CasePair(NamedTuple):
    """One case on both sides; `fresh` are the trials of the confirm stage, `failed`: a planned trial failed.

    `again` is what came of the base, measured again, and `aside` what came of the head beside it: both or neither.
    """

    id: str
    before: Observed
    now: Observed
    fresh: Observed | None = None
    failed: bool = False
    again: Observed | None = None
    aside: Observed | None = None

    @property
    def sides(self) -> tuple[Observed | None, ...]:
        """Everything that was observed of it, `None` where nothing was."""
        return self.before, self.now, self.fresh, self.again, self.aside


NEITHER: tuple[Observed | None, Observed | None] = (None, None)


@dataclass(frozen=True)
class Sample:
    """One metric of one run. `counted`: each trial of it is a yes or no, so that it can be counted exactly.

    `plain`: the metric is nothing but such a count. A weighted score is counted, too, where no case has several ways of
    falling short of all of it.
    """

    metric: str
    unit: Unit
    better: Better
    pairs: Sequence[CasePair]
    _good: dict[Observed, tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def plain(self) -> bool:
        """True when every number is a count of trials."""
        return self.unit == "ratio" and all(_is_count(side) for side in self._distinct)

    @cached_property
    def counted(self) -> bool:
        """True when trials of a case come out in two ways only: with all of it, or failed with one part of it."""
        if self.plain or self.unit != "ratio":
            return self.plain
        if not all(pair.failed or pair.now.value == 1.0 for pair in self.pairs):
            return False
        return all(self._two_ways(sides) for sides in {pair.sides for pair in self.pairs})

    @cached_property
    def _distinct(self) -> frozenset[Observed]:
        return frozenset(side for pair in self.pairs for side in pair.sides if side is not None)

    def _two_ways(self, sides: Sequence[Observed | None]) -> bool:
        every = {portion for side in sides if side is not None for portion in side.portions}
        weights = {portion.of if portion else None for portion in every}
        less = [portion for portion in every if portion and portion.value != portion.of]
        return len(weights) == 1 and bool(weights.pop()) and len(less) <= 1

    def good(self, side: Observed) -> tuple[int, int]:
        """How many trials of a case have all of it, of how many; of a sample that is counted."""
        if side not in self._good:
            self._good[side] = self._counted_good(side)
        return self._good[side]

    def _counted_good(self, side: Observed) -> tuple[int, int]:
        if self.plain:
            return round(side.numerator or 0), round(side.denominator or 0)
        portions = [portion for portion in side.portions if portion]
        return sum(portion.value == portion.of for portion in portions), len(portions)


def _is_count(side: Observed) -> bool:
    numerator, denominator = side.numerator, side.denominator
    if numerator is None or denominator is None or not (numerator.is_integer() and denominator.is_integer()):
        return False
    return 0 <= numerator <= denominator <= side.trials


class _ValidTrials(NamedTuple):
    """A comparable case's valid trials, as `CasePair` has them; `failed`: a planned trial failed."""

    id: str
    before: Sequence[Result]
    now: Sequence[Result]
    fresh: Sequence[Result]
    again: Sequence[Result]
    head: Sequence[Result]
    failed: bool


@dataclass(frozen=True)
class RunSamples:
    """The samples of one run, and the ids of its comparable cases by what became of them."""

    pair: RunPair
    kind: ComparedKind
    _found: dict[str, Sample | None] = field(default_factory=dict, repr=False)

    def of(self, metric: str) -> Sample | None:
        """One metric of the cases in which both sides have it; `None` where none has. Made when first asked for."""
        if metric not in self._found:
            self._found[metric] = _sample(self._cases, metric, self.kind)
        return self._found[metric]

    @cached_property
    def _cases(self) -> list[_ValidTrials]:
        """The comparable cases with their valid trials, sorted out once for all metrics."""
        sides, nothing = self.pair.sides, Aside((), ())
        return [
            _ValidTrials(
                case,
                _valid(sides.known[case]),
                _valid(sides.now[case]),
                _valid(sides.fresh.get(case, ())),
                _valid(sides.aside.get(case, nothing).base),
                _valid(sides.aside.get(case, nothing).head),
                any(result.status is Status.FAILED for result in sides.now[case]),
            )
            for case in sides.comparable
        ]

    @cached_property
    def confirmed(self) -> frozenset[str]:
        """Those that a confirm stage tried again, if it is evidence."""
        sides = self.pair.sides
        tried = (case for case in sides.comparable if any(r.valid for r in sides.fresh.get(case, ())))
        return frozenset(tried) if unusable(self.pair.run, sides) is None else frozenset()

    @cached_property
    def settled(self) -> frozenset[str]:
        """Those that were measured on both sides."""
        return frozenset(self.pair.sides.comparable).intersection(self.pair.sides.aside)

    @cached_property
    def open(self) -> frozenset[str]:
        """Those without a valid trial of the last stage that tells something, although it was to try them."""
        tried, sides = self.settled or self.confirmed, self.pair.sides
        if not tried:
            return frozenset()
        both_sides = self.pair.run.beside
        if both_sides is not None and tried.intersection(sides.aside):
            retried = {result.id for result in (*both_sides.base, *both_sides.head)}
        else:
            retried = set(sides.failing)
        return frozenset(retried.intersection(sides.comparable)) - tried

    @cached_property
    def steady(self) -> frozenset[str]:
        """Cases in which chance has no part: a replay's whose executions are equal, now and in the baseline."""
        if self.pair.run.random:
            return frozenset()
        sides = self.pair.sides
        return frozenset(
            case
            for case in sides.comparable
            if all(self.kind.evidence(result).deterministic for result in (*sides.now[case], *sides.known[case]))
        )


Samples = Mapping[tuple[str, str], RunSamples]
"""By suite and target. Runs that need no statistics have none: the difference of a deterministic target is one."""


def gather(aligned: Aligned, kinds: Kinds) -> Samples:
    """The samples of all random runs that the baseline knows."""
    return {
        (pair.run.suite, pair.run.target): RunSamples(pair, kinds[pair.run.kind])
        for pair in aligned.chosen
        if pair.base is not None and pair.run.kind in kinds and is_random(pair.run, kinds[pair.run.kind])
    }


def is_random(run: Run, kind: ComparedKind = UNKNOWN) -> bool:
    """True where equal input can give other results: a target that says so, or a replay whose two executions differ."""
    return run.random or not all(kind.evidence(result).deterministic for result in run.cases)


def _valid(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.valid]


def _sample(cases: Sequence[_ValidTrials], metric: str, kind: ComparedKind) -> Sample | None:
    seen = _Observing(metric, kind).seen
    found, first = [], None
    for case in cases:
        before, now = seen(case.before), seen(case.now)
        if before is None or now is None:
            continue
        both = (seen(case.again), seen(case.head)) if case.again and case.head else NEITHER
        first = first or case
        fresh = seen(case.fresh) if case.fresh else None
        found.append(CasePair(case.id, before, now, fresh, case.failed, *(NEITHER if None in both else both)))
    if first is None:
        return None
    shown = kind.measure(first.now).metrics[metric]
    return Sample(metric, shown.unit, shown.better, found)


class _Observing:
    """One metric, observed over the valid trials of one case after another."""

    def __init__(self, metric: str, kind: ComparedKind) -> None:
        self._metric, self._kind, self._added = metric, kind, kind.per_trial(metric)
        self._summed: dict[tuple[Portion | None, ...], Observed | None] = {}

    def seen(self, valid: Sequence[Result]) -> Observed | None:
        """`None` where it is not available."""
        if not valid:
            return None
        if self._added is None:
            return self._measured(valid)
        portions = tuple(map(self._added.portion, valid))
        if portions not in self._summed:
            self._summed[portions] = _summed(portions, self._added)
        return self._summed[portions]

    def _measured(self, valid: Sequence[Result]) -> Observed | None:
        """Of a metric that isn't made of single trials: by measuring them together, and one by one."""
        portions = tuple(portion_of(self._kind.measure([result]).metrics.get(self._metric)) for result in valid)
        return _observed(portions, portion_of(self._kind.measure(valid).metrics.get(self._metric)))


def _summed(portions: tuple[Portion | None, ...], added: PerTrial) -> Observed | None:
    known = [portion for portion in portions if portion is not None and portion != NONE]
    return _observed(portions, added.together(known)) if known and None not in portions else None


def _observed(portions: tuple[Portion | None, ...], whole: Portion | None) -> Observed | None:
    if whole is None:
        return None
    value = whole.value if whole.of is None else whole.value / whole.of if whole.of else math.inf
    if not abs(value) < MOST:
        return None
    numerator, denominator = (None, None) if whole.of is None else whole
    return Observed(len(portions), portions, value, numerator, denominator)
