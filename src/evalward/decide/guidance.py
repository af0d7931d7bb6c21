"""Guidances side by side: which is better, on what, and whether by more than chance.

The numbers are the kind's own metrics, pooled over the scenarios. A difference is tested within the scenarios: if the
guidance made no difference, a scenario's trials could as well have been dealt out the other way round (exact
permutation test, two-sided). What is summed up is, for a share (failed of all commands), each trial's numerator minus
what the pooled share of both sides would give; for a count, the count. So one scenario with ten trials a side can show
something, where pairing scenarios could not. Holm's correction is over all differences of a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import variance

from evalward.decide.portions import Portion, portion_of
from evalward.decide.statistics import intervals
from evalward.decide.statistics.multiple import holm
from evalward.decide.statistics.permutation import CaseValues, least_two_sided, permutation_tails
from evalward.decide.statistics.student import student_quantile
from evalward.records.evidence import Interval
from evalward.records.guidance import (
    Compared,
    GuidanceColumn,
    GuidanceComparison,
    GuidanceDifference,
    GuidanceNumber,
    Standing,
)
from evalward.records.metric import EPSILON, Measurement, Metric
from evalward.records.report import Finding
from evalward.records.result import Result, Status

ALPHA = 0.05
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ComparedRow:
    """A row of the table. `mirrors`: the metric of which it is the complement, so that it is no test of its own."""

    metric: str
    name: str
    mirrors: str | None = None


_WITH_EACH: Mapping[Compared, str] = {
    "guidance": "with each guidance",
    "descriptions": "with each set of descriptions",
}


@dataclass(frozen=True)
class GuidanceReading:
    """How a kind reads its results: its metrics, the rows to show, the patterns, and the advice that they give.

    `case` is what it calls a case, `compares` what differs between the columns.
    """

    measure: Callable[[Sequence[Result]], Measurement]
    rows: Sequence[ComparedRow]
    diagnose: Callable[[Sequence[Result], Measurement], list[Finding]]
    advise: Callable[[Sequence[Result], Sequence[Finding]], list[str]]
    case: str = "scenario"
    compares: Compared = "guidance"


@dataclass(frozen=True)
class GuidanceResults:
    """One guidance's results. `files` are those that differ between the columns, with their fingerprints."""

    name: str
    results: Sequence[Result]
    files: Mapping[str, str] = field(default_factory=dict)


def compare_guidance(
    suite: str,
    target: str,
    columns: Sequence[GuidanceResults],
    reading: GuidanceReading,
    *,
    random: bool,
    why: str = "",
) -> GuidanceComparison:
    """The comparison; the first column is the reference. `random`: equal input can give other results."""
    shared = _shared(columns)
    every = dict.fromkeys(result.id for column in columns for result in column.results)
    base = GuidanceComparison(
        suite=suite,
        target=target,
        compares=reading.compares,
        why=why,
        cases=shared,
        left_out=[case for case in every if case not in shared],
    )
    if not shared:
        return base.model_copy(
            update={"not_measured": f"no {reading.case} has a valid trial {_WITH_EACH[reading.compares]}"}
        )
    sides = [_side(column, shared, reading) for column in columns]
    rows = [row for row in reading.rows if any(_known(side.numbers.get(row.metric)) for side in sides)]
    differences = _differences(sides, rows, random=random)
    return base.model_copy(
        update={
            "columns": [_column(side, rows, reading) for side in sides],
            "differences": differences,
            "notes": list(_notes(sides, differences, reading.case, random=random)),
        }
    )


def differing_parts(subjects: Sequence[Mapping[str, str]]) -> list[str]:
    """The parts that aren't the same in all subjects."""
    parts = dict.fromkeys(part for one in subjects for part in one)
    return [part for part in parts if len({one.get(part) for one in subjects}) > 1]


# ------------------------------------------------------------------------------------------- the sides


@dataclass(frozen=True)
class _ColumnSide:
    """A column over the shared scenarios. `trials` has each metric's numbers, scenario by scenario."""

    column: GuidanceResults
    valid: Sequence[Result]
    measurement: Measurement
    trials: Mapping[str, Sequence[Sequence[Portion]]]
    errors: int

    @property
    def numbers(self) -> Mapping[str, Metric]:
        return self.measurement.metrics

    @property
    def sizes(self) -> list[int]:
        """Valid trials of each scenario."""
        counts: dict[str, int] = {}
        for result in self.valid:
            counts[result.id] = counts.get(result.id, 0) + 1
        return [counts[case] for case in sorted(counts)]


def _shared(columns: Sequence[GuidanceResults]) -> list[str]:
    """Scenarios with a valid trial in every column and one definition in all."""
    found = [{r.id: r.definition for r in column.results if r.valid} for column in columns]
    first, *others = found or [{}]
    return sorted(case for case, definition in first.items() if all(other.get(case) == definition for other in others))


def _side(column: GuidanceResults, shared: Sequence[str], reading: GuidanceReading) -> _ColumnSide:
    mine = [result for result in column.results if result.id in shared]
    valid = [result for result in mine if result.valid]
    by_case = [[reading.measure([r]).metrics for r in valid if r.id == case] for case in shared]
    trials = {
        row.metric: [[portion_of(metrics.get(row.metric)) for metrics in case] for case in by_case]
        for row in reading.rows
    }
    complete = {name: cases for name, cases in trials.items() if all(one is not None for case in cases for one in case)}
    return _ColumnSide(
        column=column,
        valid=valid,
        measurement=reading.measure(valid),
        trials={name: [[one for one in case if one is not None] for case in cases] for name, cases in complete.items()},
        errors=sum(result.status is Status.ERROR for result in mine),
    )


def _known(metric: Metric | None) -> bool:
    return metric is not None and metric.value is not None


def _column(side: _ColumnSide, rows: Sequence[ComparedRow], reading: GuidanceReading) -> GuidanceColumn:
    findings = reading.diagnose(side.valid, side.measurement)
    return GuidanceColumn(
        name=side.column.name,
        files=dict(side.column.files),
        trials=len(side.valid),
        errors=side.errors,
        numbers=[_number(side, row) for row in rows],
        findings=findings,
        advice=reading.advise(side.valid, findings),
    )


def _number(side: _ColumnSide, row: ComparedRow) -> GuidanceNumber:
    value = side.numbers[row.metric]
    interval = None if value.value is None else _interval(side, row.metric)
    return GuidanceNumber(metric=row.metric, name=row.name, value=value, interval=interval)


# ------------------------------------------------------------------------------------------- the differences


def _differences(
    sides: Sequence[_ColumnSide], rows: Sequence[ComparedRow], *, random: bool
) -> list[GuidanceDifference]:
    reference, *others = sides
    found = [_difference(reference, side, row, random=random) for side in others for row in rows]
    mirrored = {row.metric: row.mirrors for row in rows if row.mirrors is not None}
    tested = [d for d in found if d.p is not None and d.metric not in mirrored]
    least = {side.column.name: _least(reference, side) * max(len(tested), 1) for side in others}
    corrected = {(d.column, d.metric): q for d, q in zip(tested, holm([d.p or 0.0 for d in tested]), strict=True)}
    return [
        _judged(d, corrected.get((d.column, mirrored.get(d.metric) or d.metric)), least[d.column], random=random)
        for d in found
    ]


def _difference(reference: _ColumnSide, side: _ColumnSide, row: ComparedRow, *, random: bool) -> GuidanceDifference:
    before, now = reference.numbers.get(row.metric), side.numbers.get(row.metric)
    known = now or before
    difference = GuidanceDifference(
        column=side.column.name, metric=row.metric, name=row.name, better=known.better if known else "neither"
    )
    if before is None or now is None or before.value is None or now.value is None:
        return difference
    delta = now.value - before.value
    delta = 0.0 if abs(delta) <= EPSILON else delta
    has_trials = row.metric in reference.trials and row.metric in side.trials
    return difference.model_copy(
        update={
            "delta": delta,
            "interval": _difference_interval(reference, side, row.metric, delta) if has_trials and random else None,
            "p": permutation_tails(_values(reference, side, row.metric)).two_sided if has_trials and random else None,
        }
    )


def _least(reference: _ColumnSide, side: _ColumnSide) -> float:
    """The smallest p that the trials could have given."""
    return least_two_sided(list(zip(reference.sizes, side.sizes, strict=True)))


def _judged(difference: GuidanceDifference, q: float | None, least: float, *, random: bool) -> GuidanceDifference:
    return difference.model_copy(update={"q": q, "standing": _standing(difference, q, least, random=random)})


def _standing(difference: GuidanceDifference, q: float | None, least: float, *, random: bool) -> Standing:
    if difference.delta is None or (random and q is None):
        return "unknown"
    if difference.delta == 0:
        return "same"
    if q is None:
        return "exact"
    if q <= ALPHA and difference.better != "neither":
        return "better" if (difference.delta > 0) == (difference.better == "higher") else "worse"
    return "thin" if least > ALPHA else "unclear"


def _values(reference: _ColumnSide, side: _ColumnSide, metric: str) -> list[CaseValues]:
    """What the test adds up. For shares the sum of a side is above 0 just when its share is above that of both."""
    before, now = reference.trials[metric], side.trials[metric]
    every = [one for cases in (before, now) for case in cases for one in case]
    of = math.fsum(one.of or 0.0 for one in every)
    pooled = math.fsum(one.value for one in every) / of if of else 0.0

    def values(case: Sequence[Portion]) -> list[float]:
        if all(one.of in {None, 1.0} for one in every):
            return [one.value for one in case]
        return [one.value - pooled * (one.of or 0.0) for one in case]

    return [CaseValues(values(b), values(n)) for b, n in zip(before, now, strict=True)]


# ------------------------------------------------------------------------------------------- intervals


def _difference_interval(reference: _ColumnSide, side: _ColumnSide, metric: str, delta: float) -> Interval | None:
    """From the two sides' own: d ∓ √(Σ(distance to the limit)²). Source: Newcombe 1998; Zou and Donner 2008 (MOVER)."""
    b, n = _interval(reference, metric), _interval(side, metric)
    before, now = reference.numbers[metric].value, side.numbers[metric].value
    if b is None or n is None or before is None or now is None or (b.low == b.high and n.low == n.high):
        return None
    low = delta - math.hypot(now - n.low, b.high - before)
    high = delta + math.hypot(n.high - now, before - b.low)
    return Interval(low=low, high=high)


def _interval(side: _ColumnSide, metric: str) -> Interval | None:
    """A side's own 95 % interval, over its scenarios as they are. `None` where nobody can say.

    Where each trial is a yes or no: Wilson's. For other shares r: Student's, with the variance of numerator − r ·
    denominator within the scenarios (the linearised variance of a ratio: Cochran, Sampling Techniques); where all
    trials are the same, Wilson's over what was counted. For counts: Student's for a sum of means.
    """
    if metric not in side.trials:
        return None
    cases, value = side.trials[metric], side.numbers[metric]
    every = [one for case in cases for one in case]
    if value.value is None or not every:
        return None
    if all(one.of is None for one in every):
        return _of_counts(cases, value.value)
    counted = all(one.value.is_integer() and 0 <= one.value <= (one.of or 0.0) for one in every)
    if counted and all(one.of in {0.0, 1.0} for one in every):
        return _wilson(every)
    return _of_share(cases, value.value) or (_wilson(every) if counted else None)


def _wilson(every: Sequence[Portion]) -> Interval | None:
    found = intervals.wilson(
        math.fsum(one.value for one in every), math.fsum(one.of or 0.0 for one in every), CONFIDENCE
    )
    return Interval(low=found.low, high=found.high) if found else None


def _of_counts(cases: Sequence[Sequence[Portion]], value: float) -> Interval | None:
    if any(len(case) < 2 for case in cases):
        return None
    spread = math.fsum(variance(one.value for one in case) / len(case) for case in cases)
    half = _student(cases) * math.sqrt(spread)
    return Interval(low=max(0.0, value - half), high=value + half)


def _of_share(cases: Sequence[Sequence[Portion]], share: float) -> Interval | None:
    if any(len(case) < 2 for case in cases):
        return None
    of = math.fsum(one.of or 0.0 for case in cases for one in case)
    spread = math.fsum(variance(one.value - share * (one.of or 0.0) for one in case) * len(case) for case in cases)
    if not of or spread <= EPSILON:
        return None
    half = _student(cases) * math.sqrt(spread) / of
    return Interval(low=max(0.0, share - half), high=min(1.0, share + half))


def _student(cases: Sequence[Sequence[Portion]]) -> float:
    return student_quantile((1 + CONFIDENCE) / 2, sum(len(case) - 1 for case in cases))


# ------------------------------------------------------------------------------------------- notes


def _notes(
    sides: Sequence[_ColumnSide], differences: Sequence[GuidanceDifference], case: str, *, random: bool
) -> list[str]:
    notes = []
    if not random:
        notes.append("This target always gives the same result, so no test is needed: every difference is real.")
    if any(d.standing == "thin" for d in differences):
        tests = sum(d.p is not None for d in differences)
        trials_needed = _enough(len(sides[0].sizes), tests)
        notes.append(f"Too few trials to show anything: give each {case} at least {trials_needed}.")
    broken = [f"{side.errors} with {side.column.name}" for side in sides if side.errors]
    if broken:
        notes.append(
            f"Trials that ended in an error through no fault of what is compared, and don't count: {', '.join(broken)}."
        )
    return notes


def _enough(cases: int, tests: int) -> int:
    """Trials of each scenario with which a clear difference would show."""
    return next(n for n in range(1, 100) if least_two_sided([(n, n)] * cases) * tests <= ALPHA)
