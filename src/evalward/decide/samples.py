"""What the tests of a difference look at: each case's trials on both sides, metric by metric.

A kind's own `measure` gives the numbers, case by case, so that whatever a kind measures can be tested. Only valid
trials count: an error is nobody's evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evalward.decide.compare import Sides, failing, find_runs, sides_of, unusable
from evalward.decide.kinds import UNKNOWN, ComparedKind, Kinds
from evalward.decide.portions import Portion, portion_of
from evalward.records.baseline import Baseline
from evalward.records.metric import EPSILON, Better, Metric, Unit
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status


@dataclass(frozen=True)
class Trials:
    """One case's valid trials on one side. They are measured one by one when a test first asks for it."""

    results: Sequence[Result]
    kind: ComparedKind

    @cached_property
    def each(self) -> Sequence[Mapping[str, Metric]]:
        """Every trial's own metrics, by id."""
        return [self.kind.measure([result]).metrics for result in self.results]


@dataclass(frozen=True)
class Observed:
    """One metric over one case's valid trials on one side."""

    of: Trials
    value: float
    numerator: float | None = None
    denominator: float | None = None

    @property
    def trials(self) -> int:
        """How many there are."""
        return len(self.of.results)

    def portions(self, metric: str) -> list[Portion | None]:
        """What each trial adds to the metric; `None` for one in which it isn't available."""
        return [portion_of(metrics.get(metric)) for metrics in self.of.each]

    @property
    def per_trial(self) -> float:
        """The mean denominator of a trial; 1 for metrics without one."""
        return self.denominator / self.trials if self.denominator is not None else 1.0


@dataclass(frozen=True)
class Pair:
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
    def sides(self) -> list[Observed]:
        """Everything that was observed of it."""
        return [side for side in (self.before, self.now, self.fresh, self.again, self.aside) if side is not None]


@dataclass(frozen=True)
class Sample:
    """One metric of one run. `counted`: each trial of it is a yes or no, so that it can be counted exactly.

    `plain`: the metric is nothing but such a count. A weighted score is counted, too, where no case has several ways of
    falling short of all of it.
    """

    metric: str
    unit: Unit
    better: Better
    pairs: Sequence[Pair]

    @cached_property
    def plain(self) -> bool:
        """True when every number is a count of trials."""
        return self.unit == "ratio" and all(_is_count(side) for pair in self.pairs for side in pair.sides)

    @cached_property
    def counted(self) -> bool:
        """True when trials of a case come out in two ways only: with all of it, or failed with one part of it."""
        if self.plain or self.unit != "ratio":
            return self.plain
        return all((pair.failed or pair.now.value == 1.0) and self._two_ways(pair) for pair in self.pairs)

    def _two_ways(self, pair: Pair) -> bool:
        every = {portion for side in pair.sides for portion in side.portions(self.metric)}
        weights = {portion.of if portion else None for portion in every}
        less = [portion for portion in every if portion and portion.value != portion.of]
        return len(weights) == 1 and bool(weights.pop()) and len(less) <= 1

    def good(self, side: Observed) -> tuple[int, int]:
        """How many trials of a case have all of it, of how many; of a sample that is counted."""
        if self.plain:
            return round(side.numerator or 0), round(side.denominator or 0)
        portions = [portion for portion in side.portions(self.metric) if portion]
        return sum(portion.value == portion.of for portion in portions), len(portions)


def _is_count(side: Observed) -> bool:
    numerator, denominator = side.numerator, side.denominator
    if numerator is None or denominator is None or not (numerator.is_integer() and denominator.is_integer()):
        return False
    return 0 <= numerator <= denominator <= side.trials


@dataclass(frozen=True)
class RunSamples:
    """All metrics of one run, by id. `confirmed`: the ids of the cases that a confirm stage tried again; `settled`:
    those that were measured on both sides; `open`: those that should have been tried again, or on both sides, and have
    no valid trial of it; `steady`: those that give the same twice, of a run that is random only because others don't.
    """

    metrics: Mapping[str, Sample] = field(default_factory=dict)
    confirmed: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    steady: frozenset[str] = frozenset()


Samples = Mapping[tuple[str, str], RunSamples]
"""By suite and target. Runs that need no statistics have none: the difference of a deterministic target is one."""


def gather(report: Report, baseline: Baseline | None, kinds: Kinds) -> Samples:
    """The samples of all random runs that the baseline knows."""
    found: dict[tuple[str, str], RunSamples] = {}
    for run, base in find_runs(report, baseline):
        kind = kinds.get(run.kind, UNKNOWN)
        if base is not None and is_random(run, kind) and run.kind in kinds:
            sides = sides_of(run, base, report.partial)
            found[run.suite, run.target] = _samples(run, sides, kind)
    return found


def is_random(run: Run, kind: ComparedKind) -> bool:
    """True where equal input can give other results: a target that says so, or a replay whose two executions differ."""
    return run.random or not all(kind.evidence(result).deterministic for result in run.cases)


def _steady(run: Run, sides: Sides, kind: ComparedKind) -> frozenset[str]:
    """Cases in which chance has no part: a replay's whose executions are equal, now and in the baseline."""
    if run.random:
        return frozenset()

    def is_steady(case: str) -> bool:
        return all(kind.evidence(each).deterministic for each in (*sides.now[case], *sides.before[case].results()))

    return frozenset(filter(is_steady, sides.comparable))


def _samples(run: Run, sides: Sides, kind: ComparedKind) -> RunSamples:
    pairs: dict[str, list[Pair]] = {}
    kinds: dict[str, Metric] = {}
    ids = sides.comparable
    for case_id in ids:
        aside = sides.aside.get(case_id)
        seen = (sides.before[case_id].results(), sides.now[case_id], sides.fresh.get(case_id, ()))
        sides_now = (aside.base, aside.head) if aside else ((), ())
        found = [_observe([r for r in results if r.valid], kind, kinds) for results in (*seen, *sides_now)]
        before, now, fresh, again, head = found
        failed = any(r.status is Status.FAILED for r in sides.now[case_id])
        for metric in before.keys() & now.keys():
            both = (again.get(metric), head.get(metric)) if metric in again and metric in head else (None, None)
            pair = Pair(case_id, before[metric], now[metric], fresh.get(metric), failed, *both)
            pairs.setdefault(metric, []).append(pair)
    samples = {name: Sample(name, kinds[name].unit, kinds[name].better, found) for name, found in pairs.items()}
    known = frozenset(ids)
    tried = frozenset(case for case in known if any(r.valid for r in sides.fresh.get(case, ())))
    confirmed = tried if unusable(run, sides) is None else frozenset()
    settled = known.intersection(sides.aside)
    return RunSamples(samples, confirmed, settled, _open(run, sides, settled or confirmed), _steady(run, sides, kind))


def _open(run: Run, sides: Sides, tried: frozenset[str]) -> frozenset[str]:
    """What the last stage that tells something was to tell of, and doesn't."""
    if not tried:
        return frozenset()
    beside = run.beside
    if beside is not None and tried.intersection(sides.aside):
        asked = {result.id for result in (*beside.base, *beside.head)}
    else:
        asked = {case for case in sides.comparable if failing(sides.now[case])}
    return frozenset(asked.intersection(sides.comparable)) - tried


def _observe(results: Sequence[Result], kind: ComparedKind, kinds: dict[str, Metric]) -> dict[str, Observed]:
    if not results:
        return {}
    trials, seen = Trials(results, kind), dict[str, Observed]()
    for name, metric in kind.measure(results).metrics.items():
        if metric.value is not None and abs(metric.value) < 1 / EPSILON**2:
            kinds.setdefault(name, metric)
            seen[name] = Observed(trials, metric.value, metric.numerator, metric.denominator)
    return seen
