"""Proves the cases of an mcp suite without a model: the expected calls fit the tools, and satisfy every check."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.records.result import CheckResult
from evalward.records.trace import Message
from evalward.records.words import shown
from evalward.render.numbers import plural
from evalward.suites.base import Proof
from evalward.suites.mcp.answer import check_answer
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.context import McpContext, McpPrepared
from evalward.suites.mcp.judging import score_calls

_MEND = "Fix the case's expectation, or its solution."
_OFFER = "Change the tool's input schema, or measure the case in a suite without models of this provider."
_FIT = "Fix the case's `args`, or the schema."


def prove_cases(suite: McpPrepared) -> Proof:
    """All that is wrong with the cases, as far as it can be seen without a server and a model."""
    settings, own = suite.settings, suite.settings.tools.own
    if settings.unlisted is not None:
        return Proof([settings.unlisted], "nothing could be tried")
    problems = [
        problem
        for case in suite.cases
        for problem in (
            *(settings.gone.get(case.id) or _unfitting(case, settings) or _refused(case, settings)),
            *_unofferable(case, suite),
        )
    ]
    expected = sum(len(case.expect.calls) for case in suite.cases)
    return Proof(
        problems,
        f"{plural(expected, 'expected call')} made as the oracle makes them, none of them executed; "
        f"{plural(len(own.tools), 'tool')} of {shown(own.server)}, ≈ {own.tokens:,} tokens in every request",
    )


def _unfitting(case: McpCase, settings: McpContext) -> list[Problem]:
    """Expected arguments that the tool's own input schema doesn't take."""
    calls = [settings.calls.attempt(use) for message in case.reference() for use in message.tool_uses]
    return [
        _problem(case, f"the arguments that are expected of {call.tool!r} don't fit its input schema: {call.why}", _FIT)
        for call in calls
        if call.valid is False
    ]


def _refused(case: McpCase, settings: McpContext) -> list[Problem]:
    """What the reference solution doesn't satisfy."""
    return [
        _problem(case, f"the expected calls fail {check.check!r}: {check.detail}", _MEND)
        for check in _checks(case, case.reference(), settings)
        if not check.passed
    ]


def _unofferable(case: McpCase, suite: McpPrepared) -> list[Problem]:
    """Tools that a case expects and a target's provider refuses: such a case would be missing in every run."""
    tools = suite.settings.tools
    found = dict.fromkeys(tools.lacking(case, target) for target in suite.spec.targets)
    return [_problem(case, why, _OFFER) for why in found if why is not None]


def _checks(case: McpCase, said: Sequence[Message], settings: McpContext) -> list[CheckResult]:
    calls = [settings.calls.attempt(use) for message in said for use in message.tool_uses]
    answer = said[-1].text if said else ""
    return [*score_calls(case, calls, settings.tools.own).checks, *check_answer(case.task.answer, answer)]


def _problem(case: McpCase, message: str, remedy: str) -> Problem:
    return Problem(place=case.place, field=case.id, message=message, remedy=remedy)
