"""What a pass means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalward.records.codes.passing import FirstRun, NothingCompared, NothingWorse
from evalward.records.comparison import CaseChange, Comparison
from evalward.records.verdict import RuleOutcome


def what_a_pass_means(
    comparison: Comparison, rules: Sequence[RuleOutcome]
) -> list[FirstRun | NothingCompared | NothingWorse]:
    """What a pass means, and how many cases broke or got fixed. See also `uncompared`."""
    if comparison.baseline is None:
        return [_first_run(comparison, rules)]
    compared = [run for run in comparison.runs if run.comparable]
    if not compared:
        return [NothingCompared()]
    broke, worse = _runs_of(comparison, _broke), _runs_of(comparison, _worse)
    lost = broke or worse
    return [
        NothingWorse(
            within=bool(lost) or _metric_got_worse(comparison, rules),
            runs=len(compared),
            cases=sum(run.comparable for run in compared),
            broke=len(broke),
            worse=0 if broke else len(worse),
            lost_in=len(set(lost)),
            flaky=len(_runs_of(comparison, _flaky)),
            fixed=len(_runs_of(comparison, _fixed)),
        )
    ]


_Wanted = Callable[[CaseChange], bool]


def _broke(case: CaseChange) -> bool:
    return case.change == "broken" and not case.excused


def _worse(case: CaseChange) -> bool:
    return case.change == "worse"


def _fixed(case: CaseChange) -> bool:
    return case.change == "fixed"


def _flaky(case: CaseChange) -> bool:
    return case.excused


def _runs_of(comparison: Comparison, predicate: _Wanted) -> list[str]:
    """The name of the run of each case that is wanted."""
    return [run.name for run in comparison.runs for case in run.cases if predicate(case)]


def _first_run(comparison: Comparison, rules: Sequence[RuleOutcome]) -> FirstRun:
    return FirstRun(
        limited=any(each.rule.floor is not None or each.rule.ceiling is not None for each in rules),
        failing=sum(len(run.new_failures) for run in comparison.runs),
        cases=sum(run.total for run in comparison.runs),
    )


def _metric_got_worse(comparison: Comparison, rules: Sequence[RuleOutcome]) -> bool:
    """True where a metric that a rule protects moved the wrong way."""
    ruled = {(rule.suite, rule.target, rule.rule.metric) for rule in rules}
    return any(
        change.moved == "worse" and (run.suite, run.target, change.id) in ruled
        for run in comparison.runs
        for change in run.metrics
    )
