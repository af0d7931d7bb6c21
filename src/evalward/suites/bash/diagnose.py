"""What several targets on one suite show together: the specification's "Cross-Model Diagnostics", computed.

One model that fails is a model's problem; all of them failing alike is the tool's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from evalward.records.report import Finding, Run
from evalward.records.result import BashDetails, Result, Status

# The specification names the patterns; where it says "similar", "same" and "different", these are our numbers for it.
SIMILAR_STDERR = 0.6  # share of equal text, after numbers and names are masked
SAME_PASS_RATE = 0.03  # one of 37 tasks
DIFFERENT_USE = 1.25  # times as many calls or tokens
ALL_FAIL_CATEGORY = 0.50  # as for one model's weak category

FIX_INTERPRETER = "Fix the interpreter: it helps all models. Then compare the reports of the two versions."
LOOK_AT_TASK = (
    "Read the traces. If the task leaves open what is asked, say it, or add expectations that score it better."
)
ADD_BUILTINS = "Add what the failing commands of this category miss, and tasks for builtins that none covers yet."
MODEL_DIFFERENCE = "Nothing to mend in the tool: it is the models that differ."

LEAST_RUNS = 2


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """Findings over the runs of one suite; none for fewer than two measured ones."""
    measured = [run for run in runs if any(result.valid for result in run.cases)]
    if len(measured) < LEAST_RUNS:
        return []
    tables = {run.target: _by_case(run) for run in measured}
    shared = sorted(set.intersection(*(set(table) for table in tables.values())))
    return [
        *_all_fail_alike(shared, tables),
        *_one_passes(shared, tables),
        *_same_rate_other_use(measured),
        *_category_fails_for_all(measured),
    ]


Table = Mapping[str, Sequence[Result]]


def _by_case(run: Run) -> dict[str, list[Result]]:
    grouped: dict[str, list[Result]] = defaultdict(list)
    for result in run.cases:
        if result.valid:
            grouped[result.id].append(result)
    return grouped


def _mostly_passed(results: Sequence[Result]) -> bool:
    return 2 * sum(result.status is Status.PASSED for result in results) > len(results)


def _all_fail_alike(shared: Sequence[str], tables: Mapping[str, Table]) -> Iterator[Finding]:
    for case_id in shared:
        if any(_mostly_passed(table[case_id]) for table in tables.values()):
            continue
        errors = [_stderr(table[case_id]) for table in tables.values()]
        if all(errors) and all(_similar(errors[0], other) for other in errors[1:]):
            yield Finding(
                id="all_fail_alike",
                level="warning",
                message=f"All {len(tables)} targets fail {case_id} with similar errors: a limitation of the tool",
                evidence=errors[0].strip()[:200],
                threshold=f"stderr at least {SIMILAR_STDERR:.0%} alike",
                advice=FIX_INTERPRETER,
                cases=[case_id],
            )
        else:
            yield Finding(
                id="all_fail",
                level="info",
                message=f"All {len(tables)} targets fail {case_id}, each in its own way",
                evidence="; ".join(f"{target}: {_failed_check(table[case_id])}" for target, table in tables.items()),
                threshold="no target passes it in most trials",
                advice=LOOK_AT_TASK,
                cases=[case_id],
            )


def _stderr(results: Sequence[Result]) -> str:
    details = [r.details for r in results if r.status is Status.FAILED and isinstance(r.details, BashDetails)]
    return next((d.failing_stderr for d in details if d.failing_stderr), "")


def _masked(text: str) -> str:
    """An error's form: without the numbers, paths and quoted names in it."""
    return re.sub(r"\d+|'[^']*'|\"[^\"]*\"|/[\w./-]+", "_", text.strip().lower())[:500]


def _similar(one: str, other: str) -> bool:
    return SequenceMatcher(None, _masked(one), _masked(other), autojunk=False).ratio() >= SIMILAR_STDERR


def _failed_check(results: Sequence[Result]) -> str:
    checks = [check for result in results for check in result.checks if not check.passed]
    return checks[0].check[:60] if checks else "no failed check is known"


def _one_passes(shared: Sequence[str], tables: Mapping[str, Table]) -> Iterator[Finding]:
    alone: dict[str, list[str]] = defaultdict(list)
    for case_id in shared:
        passing = [target for target, table in tables.items() if _mostly_passed(table[case_id])]
        if len(passing) == 1:
            alone[passing[0]].append(case_id)
    for target, cases in sorted(alone.items()):
        yield Finding(
            id="one_passes",
            level="info",
            message=f"Only {target} passes {_counted(len(cases), 'task')}: a difference of the models",
            evidence=f"of {len(shared)} shared tasks",
            threshold="one target passes, all others fail",
            advice=MODEL_DIFFERENCE,
            cases=cases,
        )


def _same_rate_other_use(runs: Sequence[Run]) -> Iterator[Finding]:
    for one, other in combinations(runs, 2):
        rates = _value(one, "pass_rate"), _value(other, "pass_rate")
        if rates[0] is None or rates[1] is None or abs(rates[0] - rates[1]) > SAME_PASS_RATE:
            continue
        yield from _gap(one, other, _calls, "reasoning_gap", "tool calls")
        yield from _gap(one, other, _tokens, "cost_gap", "tokens")


def _gap(one: Run, other: Run, use: Callable[[Run], float | None], finding: str, word: str) -> Iterator[Finding]:
    first, second = use(one), use(other)
    if not first or not second:
        return
    more, less = (one, other) if first > second else (other, one)
    factor = max(first, second) / min(first, second)
    if factor >= DIFFERENT_USE:
        yield Finding(
            id=finding,
            level="info",
            message=f"{more.target} passes as much as {less.target} with {factor:.1f} times the {word}",
            evidence=f"{max(first, second):,.0f} against {min(first, second):,.0f} {word}",
            threshold=f"pass rates within {SAME_PASS_RATE:.0%}, {word} beyond a factor of {DIFFERENT_USE:g}",
            advice=MODEL_DIFFERENCE,
        )


def _value(run: Run, metric: str) -> float | None:
    found = run.metrics.get(metric)
    return found.value if found else None


def _calls(run: Run) -> float | None:
    return _value(run, "total_tool_calls")


def _tokens(run: Run) -> float | None:
    read, written = _value(run, "total_input_tokens"), _value(run, "total_output_tokens")
    return None if read is None or written is None else read + written


def _category_fails_for_all(runs: Sequence[Run]) -> Iterator[Finding]:
    names = set.intersection(*(set(run.categories) for run in runs))
    for name in sorted(names):
        rates = [run.categories[name].rate for run in runs]
        if all(rate is not None and rate < ALL_FAIL_CATEGORY for rate in rates):
            yield Finding(
                id="category_fails_for_all",
                level="warning",
                message=f"Category {name} is weak for all {len(runs)} targets: the tool lacks something for it",
                evidence=", ".join(f"{run.target} {run.categories[name].rate or 0:.1%}" for run in runs),
                threshold=f"< {ALL_FAIL_CATEGORY:.0%} for each",
                advice=ADD_BUILTINS,
            )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
