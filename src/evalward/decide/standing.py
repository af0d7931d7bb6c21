"""What a broken case of a random target is, on closer look. This informs; it decides nothing.

A case that fails now and then fails now and then: naming it as the pull request's doing is what makes people stop
reading. The p-values are corrected for the number of cases that were looked at (Benjamini and Hochberg).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalward.decide.history import flaky
from evalward.decide.statistics.multiple import benjamini_hochberg
from evalward.decide.statistics.stratified import CaseTrials, case_trials, stratified_worse
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChangeKind, Comparison, RunComparison, Standing, Tally
from evalward.records.history import HistoryEntry
from evalward.records.trend import FlakyCase

REGRESSED_Q = 0.05
RELIABLE = 0.7  # a case that passed less often in the baseline was unreliable before


class Moved(NamedTuple):
    """What became of a case: its tallies in the baseline, in the planned trials, and in those of the confirm stage."""

    change: CaseChangeKind
    before: Tally | None = None
    now: Tally | None = None
    fresh: Tally | None = None


class Placed(NamedTuple):
    """How probable so few passes are by chance, alone and among all cases of the run, and what follows from it."""

    p: float | None = None
    q: float | None = None
    standing: Standing | None = None


NO_STANDING = Placed()


def standings(cases: Mapping[str, Moved]) -> dict[str, Placed]:
    """By id, p, q and standing of the cases of a random target that both sides have."""
    counted = {case: trials for case, moved in cases.items() if (trials := _trials(moved)) is not None}
    worse = {trials: stratified_worse([trials]) for trials in set(counted.values())}
    ps = [worse[trials] for trials in counted.values()]
    return {
        case: Placed(p, q, _standing(cases[case], q) if cases[case].change == "broken" else None)
        for case, p, q in zip(counted, ps, benjamini_hochberg(ps), strict=True)
    }


def with_flaky(comparison: Comparison, baseline: Baseline | None, history: Sequence[HistoryEntry]) -> Comparison:
    """The comparison, with the cases of random targets named that were flaky before."""
    runs = [_named(run, flaky(history, run.suite, run.target, baseline)) for run in comparison.runs]
    return comparison.model_copy(update={"runs": runs})


def _named(run: RunComparison, unsteady: Sequence[FlakyCase]) -> RunComparison:
    known = {case.id: case for case in unsteady}
    if not known or not run.random or run.missing:
        return run
    cases = [
        case.model_copy(update={"flaky": known[case.id]}) if case.id in known and case.p is not None else case
        for case in run.cases
    ]
    return run.model_copy(update={"cases": cases})


def _trials(case: Moved) -> CaseTrials | None:
    """What a case's chance is told from; fresh trials, where there are any, speak instead of the planned."""
    if case.before is None or case.now is None or case.change in {"redefined", "added", "missing", "not_valid"}:
        return None
    now = case.fresh or case.now
    return case_trials(case.before.passed, case.before.trials, now.passed, now.trials)


def _standing(case: Moved, q: float) -> Standing | None:
    if q <= REGRESSED_Q:
        return "regressed"
    if case.fresh is not None and case.fresh.passes:
        return "not_repeated"
    if case.before is not None and case.before.passed < RELIABLE * case.before.trials:
        return "unreliable"
    return "repeated" if case.fresh is not None else None
