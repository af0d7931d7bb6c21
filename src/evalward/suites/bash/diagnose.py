"""What several targets on one suite show together: the specification's "Cross-Model Diagnostics", computed.

One model that fails is a model's problem; all of them failing alike is the tool's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from evalward.records.report import Finding, Run
from evalward.records.result import Result, Status
from evalward.render.names import quoted
from evalward.render.numbers import format_limit, percent, percent_limit, plural
from evalward.suites.alike import SIMILAR_MESSAGE, shared_checks, shared_messages
from evalward.suites.bash.faults import command_faults, messages_of
from evalward.suites.pooling import by_case

# The specification names the patterns; where it says "same" and "different", these are our numbers for it.
SAME_PASS_RATE = 0.03  # one of 37 tasks
DIFFERENT_USE = 1.25  # times as many calls or tokens
ALL_FAIL_CATEGORY = 0.50  # as for one model's weak category

FIX_INTERPRETER = "Fix the interpreter: it helps all models. Then compare the reports of the two versions."
READ_CALLS = (
    "Read these calls: if another shell would run them, the tool lacks something, and fixing it helps all models."
)
LOOK_AT_TASK = (
    "Read the traces. If the task leaves open what is asked, say it, or add expectations that score it better."
)
ADD_BUILTINS = "Add what the failing commands of this category miss, and tasks for builtins that none covers yet."
MODEL_DIFFERENCE = "Nothing to fix in the tool: the models differ."

LEAST_RUNS = 2
SHOWN = 3  # messages, checks and cases that a finding names
NAME_SHOWN = 60  # characters of a check or case
MOST_COMMANDS = 5  # findings about commands that fail for all


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """Findings over the runs of one suite; none for fewer than two measured ones."""
    measured = [run for run in runs if any(result.valid for result in run.cases)]
    if len(measured) < LEAST_RUNS:
        return []
    tables = {run.target: by_case(run.cases) for run in measured}
    shared = sorted(set.intersection(*(set(table) for table in tables.values())))
    return [
        *_all_fail(shared, tables),
        *_commands_that_fail(tables),
        *_one_passes(shared, tables),
        *_same_rate_other_use(measured),
        *_category_fails_for_all(measured),
    ]


Table = Mapping[str, Sequence[Result]]


def _mostly_passed(results: Sequence[Result]) -> bool:
    return 2 * sum(result.status is Status.PASSED for result in results) > len(results)


def _all_fail(shared: Sequence[str], tables: Mapping[str, Table]) -> Iterator[Finding]:
    """Cases that no target passes in most of its trials: alike by a message, alike by a check, or otherwise."""
    for case_id in shared:
        if any(_mostly_passed(table[case_id]) for table in tables.values()):
            continue
        failed = {target: [r for r in table[case_id] if r.status is Status.FAILED] for target, table in tables.items()}
        messages = shared_messages([[m for r in results for m in messages_of(r)] for results in failed.values()])
        checks = shared_checks(list(failed.values()))
        if messages:
            yield _alike(case_id, len(tables), messages, checks)
        elif checks:
            at_check = f"All {len(tables)} targets fail {quoted(case_id)} at the same check"
            yield _unlike(case_id, at_check, _named(checks))
        else:
            nowhere = f"All {len(tables)} targets fail {quoted(case_id)}; no check fails for all"
            failed_checks = [f"{quoted(target)}: {_failed_checks(results)}" for target, results in failed.items()]
            yield _unlike(case_id, nowhere, "; ".join(failed_checks))


def _alike(case_id: str, targets: int, messages: Sequence[tuple[str, int]], checks: Sequence[str]) -> Finding:
    counted = "; ".join(f"{text} ({plural(times, 'time')})" for text, times in messages[:SHOWN])
    where = f"; fails for all: {_named(checks)}" if checks else ""
    return Finding(
        id="all_fail_alike",
        level="warning",
        message=f"All {targets} targets fail {quoted(case_id)} with similar errors: a limitation of the tool",
        evidence=counted + where,
        threshold=f"an error of every target at least {percent_limit(SIMILAR_MESSAGE)} alike",
        advice=FIX_INTERPRETER,
        cases=[case_id],
    )


def _unlike(case_id: str, message: str, evidence: str) -> Finding:
    return Finding(
        id="all_fail",
        level="info",
        message=message,
        evidence=evidence,
        threshold="no target passes it in most trials",
        advice=LOOK_AT_TASK,
        cases=[case_id],
    )


def _named(names: Sequence[str]) -> str:
    """The first of these checks or cases."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(name[:NAME_SHOWN] for name in names[:SHOWN]) + more


def _failed_checks(results: Sequence[Result]) -> str:
    checks = dict.fromkeys(check.check for result in results for check in result.checks if not check.passed)
    return _named(list(checks)) or "no failed check is known"


def _commands_that_fail(tables: Mapping[str, Table]) -> Iterator[Finding]:
    """The specification: if all models fail on the same commands, it is the tool."""
    trials = [[result for results in table.values() for result in results] for table in tables.values()]
    for fault in command_faults(trials)[:MOST_COMMANDS]:
        says, said = ("the same", fault.message) if fault.message else ("nothing", f"exit code {fault.exit_code}")
        yield Finding(
            id="command_fails_for_all",
            level="warning",
            message=f"`{fault.program}` fails with all {len(tables)} targets, and says {says} to all",
            evidence=f"{said}: {plural(fault.calls, 'call')} in {plural(len(fault.cases), 'task')}",
            threshold="the same failure with every target",
            advice=READ_CALLS,
            cases=list(fault.cases),
        )


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
            message=f"Only {quoted(target)} passes {plural(len(cases), 'task')}: a difference of the models",
            evidence=f"{_named(cases)}; of {plural(len(shared), 'shared task')}",
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
    alike = format_limit(SAME_PASS_RATE, "ratio", difference=True)
    if factor >= DIFFERENT_USE:
        yield Finding(
            id=finding,
            level="info",
            message=f"{quoted(more.target)} passes as much as {quoted(less.target)} with {factor:.1f} times the {word}",
            evidence=f"{max(first, second):,.0f} against {min(first, second):,.0f} {word}",
            threshold=f"pass rates within {alike}, {word} beyond a factor of {DIFFERENT_USE:g}",
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
                evidence=", ".join(f"{quoted(run.target)} {percent(run.categories[name].rate or 0)}" for run in runs),
                threshold=f"< {percent_limit(ALL_FAIL_CATEGORY)} for each",
                advice=ADD_BUILTINS,
            )
