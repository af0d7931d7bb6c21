"""What a pass means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalward.records.codes.passing import CasesStand, FirstRun, NothingCompared, NothingWorse, StandsUnchanged
from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.verdict import RuleOutcome


def what_a_pass_means(
    comparison: Comparison, rules: Sequence[RuleOutcome]
) -> list[FirstRun | NothingCompared | NothingWorse | StandsUnchanged | CasesStand]:
    """What a pass means, and how many cases broke or got fixed. See also `uncompared`."""
    if comparison.baseline is None:
        return [_first_run(comparison, rules)]
    standing = [run for run in comparison.runs if run.unchanged is not None]
    compared = [run for run in comparison.runs if run.comparable and run.unchanged is None]
    if not compared:
        alone = bool(standing) and all(run.unchanged is not None for run in comparison.runs)
        in_part = _cases_stand(comparison)
        return [*([] if alone or in_part else [NothingCompared()]), *_standing(standing, alone=alone), *in_part]
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
        ),
        *_standing(standing, alone=False),
        *_cases_stand(comparison),
    ]


def _standing(runs: Sequence[RunComparison], *, alone: bool) -> list[StandsUnchanged]:
    """That nothing of these runs was measured: a pass says nothing new of them."""
    since = max((run.unchanged.since for run in runs if run.unchanged is not None), default="")
    return [StandsUnchanged(runs=tuple(run.name for run in runs), all=alone, since=since)] if runs else []


def _cases_stand(comparison: Comparison) -> list[CasesStand]:
    """Of how many cases nothing was measured, in runs of which others were."""
    found = [(run, run.standing) for run in comparison.runs if run.standing is not None]
    if not found:
        return []
    cases, total = sum(stands.cases for _, stands in found), sum(run.total for run, _ in found)
    return [CasesStand(cases=cases, total=total, since=max(stands.since for _, stands in found))]


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
