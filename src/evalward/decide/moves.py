"""Which measurement moved what: where a metric changed for more than a day, and whether chance is excluded.

At each place of a branch up to `BEFORE` measurements are held against up to `AFTER` from there on; of a target that
always does the same one against one. The place where most changed cuts the branch in two, and the next is looked for
in the parts, so that no change is seen a second time in the windows of its neighbours.

Whether cases pass more or less often than before is the exact stratified test over the cases that ask the same on both
sides. Other metrics, of which the history keeps no trials, are held against how much they vary from run to run, by
Student's t test. Both go either way and are corrected for all places (Bonferroni).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean

from evalward.decide.anchor import OUTCOME_METRICS
from evalward.decide.case_counts import Counts, counts_of_entry, pairs_of, pooled
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.decide.statistics.student import student_above
from evalward.records.history import HistoryEntry
from evalward.records.metric import EPSILON
from evalward.records.past import Move

BEFORE, AFTER = 10, 5
"""Many before, because a change is seen sooner when what was there is well known; few after, because fixes follow."""

LEVEL = 0.05
MOST_CERTAIN = 20
"""So many moves of one metric are named that are no chance."""

MOST_OTHERS = 3
"""So many of the others, the largest."""

_FEWEST = 3  # measurements on a side, below which a single odd one would be a change
_MOST_CASES = 5
_HUGE = 1e100  # squares of it are numbers; no eval measures it


@dataclass(frozen=True)
class _Shift:
    """What a metric was before and after a place, over so many measurements (`runs`)."""

    before: float
    after: float
    runs: tuple[int, int]
    spread: float | None = None
    pairs: Mapping[str, CaseTrials] | None = None
    p: float | None = None
    certain: bool = False

    @property
    def weight(self) -> float:
        """How large the change is, in proportion to how well both sides are known."""
        return abs(self.after - self.before) * math.sqrt(self.runs[0] * self.runs[1] / sum(self.runs))


_Window = Callable[[Sequence[HistoryEntry], Sequence[HistoryEntry]], _Shift | None]


def moves(entries: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]], metrics: Sequence[str]) -> list[Move]:
    """The moves of these metrics in whole measurements of one run (in order of time), the newest first."""
    counts = {id(entry): counts_of_entry(entry, lists) for entry in entries}
    passing = next((metric for metric in metrics if metric in OUTCOME_METRICS), None)
    found = []
    for branch in _branches(entries):
        for metric in metrics:
            window = _cases(lambda entry: counts[id(entry)]) if metric == passing else _values(metric)
            found += [_move(metric, branch, place, change) for place, change in _found(branch, window)]
    return sorted(found, key=lambda move: (move.at, move.metric), reverse=True)


def _branches(entries: Sequence[HistoryEntry]) -> list[list[HistoryEntry]]:
    def ref(entry: HistoryEntry) -> str:
        return entry.ref or ""

    return [list(group) for _, group in groupby(sorted(entries, key=ref), key=ref)]


# --- where ------------------------------------------------------------------------------------------------------------


def _found(branch: Sequence[HistoryEntry], window: _Window) -> Iterator[tuple[int, _Shift]]:
    """The places where something changed, those of most weight first."""
    cuts = [0, len(branch)]
    changes = {place: _at(branch, place, cuts, window) for place in range(1, len(branch))}
    places = len(changes)
    left = {True: MOST_CERTAIN, False: MOST_OTHERS}
    while all(left.values()):
        known = {place: change for place, change in changes.items() if change is not None}
        place = max(known, key=lambda place: (known[place].weight, -place), default=None)
        if place is None or known[place].weight <= EPSILON:
            return
        change = _tested(known[place], places, random=branch[place].random)
        left[change.certain] -= 1
        yield place, change
        cuts = sorted([*cuts, place])
        for near in range(max(1, place - AFTER + 1), min(len(branch), place + BEFORE)):
            changes[near] = _at(branch, near, cuts, window)


def _at(branch: Sequence[HistoryEntry], place: int, cuts: Sequence[int], window: _Window) -> _Shift | None:
    """What changed at a place, looking no further than the cuts around it; `None` at a cut."""
    next_cut = bisect_right(cuts, place)
    if cuts[next_cut - 1] == place:
        return None
    before, after = (BEFORE, AFTER) if branch[place].random else (1, 1)
    start, end = max(cuts[next_cut - 1], place - before), min(cuts[next_cut], place + after)
    return window(branch[start:place], branch[place:end])


# --- what -------------------------------------------------------------------------------------------------------------


def _values(metric: str) -> _Window:
    """The change of a metric's mean."""

    def window(before: Sequence[HistoryEntry], after: Sequence[HistoryEntry]) -> _Shift | None:
        sides = [[value for each in side if (value := _value(each, metric)) is not None] for side in (before, after)]
        if not all(sides):
            return None
        means = [math.fsum(value / len(side) for value in side) for side in sides]
        squares = math.fsum((value - mean) ** 2 for side, mean in zip(sides, means, strict=True) for value in side)
        runs = len(sides[0]), len(sides[1])
        spread = math.sqrt(squares / (sum(runs) - 2)) if min(runs) >= _FEWEST else None
        return _Shift(means[0], means[1], runs, spread)

    return window


def _value(entry: HistoryEntry, metric: str) -> float | None:
    found = entry.metrics.get(metric)
    value = found.value if found else None
    return None if value is None or abs(value) > _HUGE else value


def _cases(counts: Callable[[HistoryEntry], Counts]) -> _Window:
    """The change of the mean pass rate of the cases that ask the same on both sides."""

    def window(before: Sequence[HistoryEntry], after: Sequence[HistoryEntry]) -> _Shift | None:
        first, *rest = map(counts, after)
        pairs = pairs_of(pooled(map(counts, before)), first, rest)
        if not pairs:
            return None
        was = fmean(pair.passed_before / pair.trials_before for pair in pairs.values())
        now = fmean(pair.passed_now / pair.trials_now for pair in pairs.values())
        return _Shift(was, now, (len(before), len(after)), pairs=pairs)

    return window


# --- how sure ---------------------------------------------------------------------------------------------------------


def _tested(change: _Shift, places: int, *, random: bool) -> _Shift:
    """With the p-value of a change this way, twice because it could have gone either way, and for each place."""
    if not random:
        return replace(change, certain=True)
    one = _p_of_values(change) if change.pairs is None else _p_of_cases(change, list(change.pairs.values()))
    if one is None:
        return change
    p = min(1.0, 2 * places * one)
    return replace(change, p=p, certain=p <= LEVEL)


def _p_of_cases(change: _Shift, pairs: list[CaseTrials]) -> float:
    if change.after > change.before:
        pairs = [CaseTrials(each.passed_now, each.trials_now, each.passed_before, each.trials_before) for each in pairs]
    return stratified_worse(pairs)


def _p_of_values(change: _Shift) -> float | None:
    """`None` where too few runs, or runs that are all equal, say nothing of how much they vary."""
    if not change.spread:
        return None
    return student_above(change.weight / change.spread, sum(change.runs) - 2)


def _move(metric: str, branch: Sequence[HistoryEntry], place: int, change: _Shift) -> Move:
    entry, last = branch[place], branch[place - 1]
    known = next(found for each in reversed(branch) if (found := each.metrics.get(metric)))
    return Move(
        at=entry.at,
        commit=entry.commit,
        ref=entry.ref,
        metric=metric,
        unit=known.unit,
        better=known.better,
        before=change.before,
        after=change.after,
        runs_before=change.runs[0],
        runs_after=change.runs[1],
        cases=None if change.pairs is None else len(change.pairs),
        p=change.p,
        certain=change.certain,
        most=_most(change),
        same_commit=entry.commit is not None and entry.commit == last.commit,
        subject=entry.subject != last.subject,
    )


def _most(change: _Shift) -> list[str]:
    """The cases that went the same way furthest."""
    way = 1 if change.after > change.before else -1
    moved = {case: way * pair.difference for case, pair in (change.pairs or {}).items()}
    return sorted((case for case in moved if moved[case] > 0), key=lambda case: (-moved[case], case))[:_MOST_CASES]
