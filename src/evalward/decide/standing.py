"""What a broken case of a random target is, on closer look. This informs; it decides nothing.

A case that fails now and then fails now and then: naming it as the pull request's doing is what makes people stop
reading. The p-values are corrected for the number of cases that were looked at (Benjamini and Hochberg).
"""

from __future__ import annotations

from collections.abc import Sequence

from evalward.decide.history import flaky
from evalward.decide.statistics.multiple import benjamini_hochberg
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.records.baseline import Baseline
from evalward.records.comparison import CaseChange, Comparison, RunComparison, Standing
from evalward.records.history import HistoryEntry
from evalward.records.trend import FlakyCase

REGRESSED_Q = 0.05
RELIABLE = 0.7  # a case that passed less often in the baseline was unreliable before


def placed(cases: Sequence[CaseChange]) -> list[CaseChange]:
    """The cases of a random target, with p, q and standing."""
    tested = [(case, p) for case in cases if (p := _p(case)) is not None]
    corrected = benjamini_hochberg([p for _, p in tested])
    found = {case.id: _placed(case, p, q) for (case, p), q in zip(tested, corrected, strict=True)}
    return [found.get(case.id, case) for case in cases]


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


def _p(case: CaseChange) -> float | None:
    """The probability of so few passes by chance; fresh trials, where there are any, speak instead of the planned."""
    if case.before is None or case.now is None or case.change in {"redefined", "added", "missing", "not_valid"}:
        return None
    now = case.fresh or case.now
    return stratified_worse([CaseTrials(case.before.passed, case.before.trials, now.passed, now.trials)])


def _placed(case: CaseChange, p: float, q: float) -> CaseChange:
    standing = _standing(case, q) if case.change == "broken" else None
    return case.model_copy(update={"p": p, "q": q, "standing": standing})


def _standing(case: CaseChange, q: float) -> Standing | None:
    if q <= REGRESSED_Q:
        return "regressed"
    if case.fresh is not None and case.fresh.passes:
        return "not_repeated"
    if case.before is not None and case.before.passed < RELIABLE * case.before.trials:
        return "unreliable"
    return "repeated" if case.fresh is not None else None
