"""The base measured again beside the head: which of these trials are evidence, and whether the base itself moved."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from evalward.decide.statistics.stratified import CaseTrials, stratified_worse_chosen
from evalward.records.comparison import Tally
from evalward.records.evidence import SideBySide
from evalward.records.metric import EPSILON
from evalward.records.report import Run
from evalward.records.result import Result

DRIFT = 0.05  # how often a base that has not moved is said to have


class Aside(Struct, frozen=True):
    """One case's valid trials of either side, run in one session."""

    base: Sequence[Result]
    head: Sequence[Result]


def asides(run: Run, definitions: Mapping[str, str]) -> Mapping[str, Aside]:
    """By case, those that were measured on both sides and ask what the planned trials asked. No others are evidence."""
    if run.beside is None:
        return {}
    base, head = (_valid(results, definitions) for results in (run.beside.base, run.beside.head))
    return {case: Aside(base[case], head[case]) for case in base if case in head}


def _valid(results: Iterable[Result], definitions: Mapping[str, str]) -> Mapping[str, Sequence[Result]]:
    found: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.valid and definitions.get(result.id) == result.definition:
            found[result.id].append(result)
    return dict(found)


class Seen(Struct, frozen=True):
    """One case as it was seen: in the baseline, in the head's trials that chose it, and side by side."""

    id: str
    before: Tally
    chosen_by: Sequence[Tally]
    aside: Aside


def side_by_side(run: Run, seen: Sequence[Seen]) -> SideBySide | None:
    """What came of it, `None` where the base was not measured again."""
    if run.beside is None:
        return None
    base = Tally.of([result for each in seen for result in each.aside.base])
    head = Tally.of([result for each in seen for result in each.aside.head])
    if base is None or head is None:
        why = run.beside.note or "no case has a valid trial on both sides"
        return SideBySide(commit=run.beside.commit, unusable=why)
    return SideBySide(
        commit=run.beside.commit,
        cases=sorted(each.id for each in seen),
        base_trials=base.trials,
        base_passed=base.passed,
        head_trials=head.trials,
        head_passed=head.passed,
        note=run.beside.note,
        drifted=_drift(seen) <= DRIFT,
    )


def _drift(seen: Sequence[Seen]) -> float:
    """p of the base's fresh trials falling so short of the committed baseline's of the same cases.

    The cases were chosen because the baseline passed them more often than the head did. That is allowed for.
    """
    cases = []
    for each in seen:
        fresh, least = Tally.of(each.aside.base), _least(each)
        if fresh is not None and each.before.passed >= least:
            cases.append((CaseTrials(each.before.passed, each.before.trials, fresh.passed, fresh.trials), least))
    return stratified_worse_chosen(cases)


def _least(each: Seen) -> int:
    """How often the baseline has to pass the case at least, so that the head's trials are fewer in comparison."""
    return math.floor(rate_of(each.chosen_by) * each.before.trials + EPSILON) + 1


def rate_of(tallies: Sequence[Tally]) -> float:
    """The share of all these trials that passed; there is at least one."""
    return sum(tally.passed for tally in tallies) / sum(tally.trials for tally in tallies)
