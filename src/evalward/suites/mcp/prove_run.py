"""Proves the cases of a suite in mode `run`: the server executes the expected calls, and every check holds then.

Only a program is asked for it: it has a folder of its own, while a server at an address would be changed by it.
"""

from __future__ import annotations

from evalward.records.problem import Problem
from evalward.records.result import Result, Status
from evalward.render.numbers import plural
from evalward.suites.base import Proof, TrialBrokenError
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.run import run_run
from evalward.targets.scripted import Oracle

_MEND = "Fix the case, or the server."


async def prove_by_running(suite: McpPrepared) -> Proof:
    """What the expected calls don't satisfy once they are executed, case by case."""
    problems: list[Problem] = []
    executed = 0
    for case in suite.cases:
        try:
            result = (await run_run(suite, case, Oracle(), 1)).result
        except TrialBrokenError as error:
            problems.append(_problem(case, f"the expected calls can't be executed: {error.message}"))
            continue
        executed += result.details.executed if isinstance(result.details, McpDetails) else 0
        problems += [_problem(case, why) for why in _failures(result)]
    return Proof(problems, f"{plural(executed, 'expected call')} executed by the server; every check holds")


def _failures(result: Result) -> list[str]:
    if result.status is Status.PASSED:
        return []
    failed = [check for check in result.checks if not check.passed]
    words = [f"the executed calls fail {check.check!r}: {check.detail}" for check in failed]
    return [result.message] if result.message else words


def _problem(case: McpCase, message: str) -> Problem:
    return Problem(place=case.place, field=case.id, message=message, remedy=_MEND)
