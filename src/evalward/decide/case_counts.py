"""How often each case passed in one measurement or several: what a line of the history says, and two sides compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalward.decide.statistics.stratified import CaseTrials
from evalward.records.history import HistoryEntry

_MOST_TRIALS = 100  # of a case in one measurement: no run makes more, whatever a line says

Counts = Mapping[str, tuple[str, int, int]]
"""By case: its definition's short digest, passed trials, valid trials."""


def counts_of_entry(entry: HistoryEntry, lists: Mapping[str, dict[str, str]]) -> Counts:
    """What a line says of each case; nothing where its list of cases is lost, and of numbers that no run makes."""
    found = {}
    for case, definition in lists.get(entry.case_set, {}).items():
        ends = entry.others.get(case)
        passed, valid = (ends.passed, ends.valid) if ends else (entry.trials, entry.trials)
        if 0 < valid <= _MOST_TRIALS:
            found[case] = (definition, passed, valid)
    return found


def pooled(measurements: Iterable[Counts]) -> Counts:
    """All trials of each case's newest definition."""
    found: dict[str, tuple[str, int, int]] = {}
    for counts in measurements:
        for case, (definition, passed, valid) in counts.items():
            known = found.get(case)
            before = known if known and known[0] == definition else (definition, 0, 0)
            found[case] = (definition, before[1] + passed, before[2] + valid)
    return found


def pairs_of(before: Counts, now: Counts, also: Sequence[Counts] = ()) -> dict[str, CaseTrials]:
    """The cases of both sides that ask the same on both; `also` are more measurements of the side of now."""
    return {case: _pair(before, case, [now, *also]) for case in now if _same(before, now, case)}


def _same(before: Counts, now: Counts, case: str) -> bool:
    return case in before and before[case][0] == now[case][0]


def _pair(before: Counts, case: str, measurements: Sequence[Counts]) -> CaseTrials:
    definition, passed, trials = before[case]
    alike = [counts[case] for counts in measurements if case in counts and counts[case][0] == definition]
    return CaseTrials(passed, trials, sum(one[1] for one in alike), sum(one[2] for one in alike))
