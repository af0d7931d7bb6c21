"""Which measurement moved what: where a metric changed for more than a day, and whether chance is excluded.

At each place of a branch up to `BEFORE` measurements are held against up to `AFTER` from there on; of a target that
always does the same one against one. Of places that are near each other only the largest change is looked at. Whether
cases pass more or less often than before is the exact stratified test, both ways, corrected for all places
(Bonferroni). Of other metrics the history keeps no trials, so that chance is never excluded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from evalward.decide.anchor import OUTCOME_METRICS
from evalward.decide.case_counts import Counts, counts_of_entry, pairs_of, pooled
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.records.history import HistoryEntry
from evalward.records.metric import EPSILON, Metric
from evalward.records.past import Move

BEFORE, AFTER = 10, 5
"""Many before, because a change is seen sooner when what was there is well known; few after, because fixes follow."""

LEVEL = 0.05
MOST_CERTAIN = 20
"""So many moves of one metric are named that are no chance."""

MOST_OTHERS = 3
"""So many of the others, the largest."""

_MOST_TESTED = 40  # places of one branch: a test takes its time
_MOST_CASES = 5


@dataclass(frozen=True)
class _Place:
    """A place of a branch: the measurements before and from there on."""

    before: Sequence[HistoryEntry]
    after: Sequence[HistoryEntry]

    @property
    def entry(self) -> HistoryEntry:
        return self.after[0]


@dataclass(frozen=True)
class _Change:
    """What changed at a place; `number` is the place's."""

    number: int
    place: _Place
    before: float
    after: float
    pairs: Mapping[str, CaseTrials] | None = None
    p: float | None = None
    certain: bool = False

    @property
    def size(self) -> float:
        return abs(self.after - self.before)


def moves(entries: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]], metrics: Sequence[str]) -> list[Move]:
    """The moves of these metrics in whole measurements of one run (in order of time), the newest first."""
    found = []
    for branch in _branches(entries):
        passing = next((metric for metric in metrics if metric in OUTCOME_METRICS), None)
        places = _places(branch)
        for metric in metrics:
            changes = _of_cases(places, branch, lists) if metric == passing else _of_values(places, metric)
            found += [_move(metric, change) for change in _named(changes)]
    return sorted(found, key=lambda move: (move.at, move.metric), reverse=True)


def _branches(entries: Sequence[HistoryEntry]) -> list[list[HistoryEntry]]:
    def ref(entry: HistoryEntry) -> str:
        return entry.ref or ""

    return [list(group) for _, group in groupby(sorted(entries, key=ref), key=ref)]


def _places(branch: Sequence[HistoryEntry]) -> list[_Place]:
    return [
        _Place(branch[max(0, n - before) : n], branch[n : n + after])
        for n in range(1, len(branch))
        for before, after in [(BEFORE, AFTER) if branch[n].random else (1, 1)]
    ]


# --- what changed -----------------------------------------------------------------------------------------------------


def _of_values(places: Sequence[_Place], metric: str) -> list[_Change]:
    """The changes of a metric's mean."""
    found = []
    for number, place in enumerate(places):
        sides = [_mean(entry.metrics.get(metric) for entry in side) for side in (place.before, place.after)]
        if sides[0] is not None and sides[1] is not None:
            found.append(_Change(number, place, sides[0], sides[1], certain=not place.entry.random))
    return _largest(found)


def _mean(metrics: Iterable[Metric | None]) -> float | None:
    values = [metric.value for metric in metrics if metric is not None and metric.value is not None]
    return math.fsum(value / len(values) for value in values) if values else None


def _of_cases(
    places: Sequence[_Place], branch: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]]
) -> list[_Change]:
    """The changes of the mean pass rate of the cases that ask the same on both sides."""
    counts = {id(entry): counts_of_entry(entry, lists) for entry in branch}
    found = []
    for number, place in enumerate(places):
        change = _cases_at(number, place, lambda entry: counts[id(entry)])
        found += [change] if change else []
    return [_tested(change, len(found)) for change in _largest(found)[:_MOST_TESTED]]


def _cases_at(number: int, place: _Place, counts: Callable[[HistoryEntry], Counts]) -> _Change | None:
    first, *rest = (counts(entry) for entry in place.after)
    pairs = pairs_of(pooled(map(counts, place.before)), first, rest)
    if not pairs:
        return None
    sides = [
        math.fsum(passed / trials for passed, trials in side) / len(pairs)
        for side in (
            [(pair.passed_before, pair.trials_before) for pair in pairs.values()],
            [(pair.passed_now, pair.trials_now) for pair in pairs.values()],
        )
    ]
    return _Change(number, place, sides[0], sides[1], pairs)


def _tested(change: _Change, places: int) -> _Change:
    """With the p-value of a change this way; twice, because it could have gone either way."""
    if change.pairs is None or not change.place.entry.random:
        return replace(change, certain=True)
    pairs = list(change.pairs.values())
    if change.after > change.before:
        pairs = [CaseTrials(each.passed_now, each.trials_now, each.passed_before, each.trials_before) for each in pairs]
    p = min(1.0, 2 * places * stratified_worse(pairs))
    return replace(change, p=p, certain=p <= LEVEL)


def _largest(changes: Iterable[_Change]) -> list[_Change]:
    """Those that changed anything, the largest first; none whose measurements a larger one had already."""
    found: list[_Change] = []
    taken: set[int] = set()
    for change in sorted(changes, key=lambda change: (-change.size, change.number)):
        if change.size > EPSILON and change.number not in taken:
            found.append(change)
            width = len(change.place.after)
            taken.update(range(change.number - width + 1, change.number + width))
    return found


def _named(changes: Sequence[_Change]) -> list[_Change]:
    certain = [change for change in changes if change.certain]
    return certain[:MOST_CERTAIN] + [change for change in changes if not change.certain][:MOST_OTHERS]


def _move(metric: str, change: _Change) -> Move:
    entry, last = change.place.entry, change.place.before[-1]
    known = next(found for each in (entry, *change.place.before) if (found := each.metrics.get(metric)))
    return Move(
        at=entry.at,
        commit=entry.commit,
        ref=entry.ref,
        metric=metric,
        unit=known.unit,
        better=known.better,
        before=change.before,
        after=change.after,
        cases=None if change.pairs is None else len(change.pairs),
        p=change.p,
        certain=change.certain,
        most=_most(change),
        same_commit=entry.commit is not None and entry.commit == last.commit,
        subject=entry.subject != last.subject,
    )


def _most(change: _Change) -> list[str]:
    """The cases that went the same way furthest."""
    way = 1 if change.after > change.before else -1
    moved = {case: way * pair.difference for case, pair in (change.pairs or {}).items()}
    return sorted((case for case in moved if moved[case] > 0), key=lambda case: (-moved[case], case))[:_MOST_CASES]
