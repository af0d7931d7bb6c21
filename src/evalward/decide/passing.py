"""What a pass means, in one short sentence at any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalward.decide.sentences import counted
from evalward.records.comparison import CaseChange, Comparison
from evalward.records.verdict import RuleOutcome


def all_well(comparison: Comparison, rules: Sequence[RuleOutcome]) -> str:
    """The headline of a pass: what it means first, then how many cases broke or got fixed. See also `uncompared`."""
    if comparison.baseline is None:
        return _first_run(comparison, rules)
    if not any(run.comparable for run in comparison.runs):
        return "nothing could be compared: no case is in the baseline yet"
    broke, fixed, flaky = _of(comparison, _broke), _of(comparison, _fixed), _of(comparison, _flaky)
    lost = [_where(broke, comparison, "broke")] if broke else [_where(_of(comparison, _worse), comparison, "got worse")]
    other = [f"{counted(len(flaky), 'flaky case')} failed"] if flaky and not any(lost) else []
    other += [f"{len(fixed):,} got fixed" if any(lost) else f"{counted(len(fixed), 'case')} got fixed"] if fixed else []
    told = " and ".join(filter(None, [*lost, *other]))
    if any(lost) or _sank(comparison, rules):
        meaning, mark = "nothing got worse by more than the policy allows", ": "
    else:
        meaning, mark = "nothing got worse", ", "
    return f"{meaning}{mark}{told}" if told else meaning


_Wanted = Callable[[CaseChange], bool]


def _broke(case: CaseChange) -> bool:
    return case.change == "broken" and not case.excused


def _worse(case: CaseChange) -> bool:
    return case.change == "worse"


def _fixed(case: CaseChange) -> bool:
    return case.change == "fixed"


def _flaky(case: CaseChange) -> bool:
    return case.excused


def _of(comparison: Comparison, wanted: _Wanted) -> list[tuple[str, CaseChange]]:
    """The cases of all runs that are wanted, each with its run's name."""
    return [(run.name, case) for run in comparison.runs for case in run.cases if wanted(case)]


def _where(found: Sequence[tuple[str, CaseChange]], comparison: Comparison, verb: str) -> str:
    """`57 of 5,000 cases broke`; with several runs `4 cases broke in 2 of 6 runs`."""
    if not found:
        return ""
    compared = [run for run in comparison.runs if run.comparable]
    if len(compared) == 1:
        return f"{len(found):,} of {counted(compared[0].comparable, 'case')} {verb}"
    return f"{counted(len(found), 'case')} {verb} in {len({name for name, _ in found})} of {len(compared)} runs"


def _first_run(comparison: Comparison, rules: Sequence[RuleOutcome]) -> str:
    limited = any(each.rule.floor is not None or each.rule.ceiling is not None for each in rules)
    failing = sum(len(run.new_failures) for run in comparison.runs)
    total = sum(run.total for run in comparison.runs)
    parts = [
        "there is no baseline yet",
        "every floor and ceiling holds" if limited else "",
        f"{failing:,} of {total:,} cases fail{'s' if failing == 1 else ''}" if failing else "",
    ]
    return "; ".join(part for part in parts if part)


def _sank(comparison: Comparison, rules: Sequence[RuleOutcome]) -> bool:
    """True where a metric that a rule protects moved the wrong way."""
    ruled = {(rule.suite, rule.target, rule.rule.metric) for rule in rules}
    return any(
        change.moved == "worse" and (run.suite, run.target, change.id) in ruled
        for run in comparison.runs
        for change in run.metrics
    )
