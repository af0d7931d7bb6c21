"""The check `llm_judge:…`: its text is the one criterion by which a judge scores the trial; its weight counts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalward.records.judge import JudgeOutcome
from evalward.records.result import CheckResult
from evalward.records.trace import Trace, Usage, add_usage
from evalward.suites.bash.case import BashCase, Expectation
from evalward.suites.bash.checks import JUDGED, parse_check

if TYPE_CHECKING:
    from evalward.suites.judge.who import Judges

WHATEVER = "The task is done as it was asked for."  # of a check without words of its own


@dataclass(frozen=True)
class JudgedChecks:
    """All checks of a trial, with what the judge said. `error` says why nobody judged, though somebody should have."""

    checks: list[CheckResult]
    outcomes: list[JudgeOutcome] = field(default_factory=list)
    usage: Usage | None = None
    error: str | None = None


def wants_judge(case: BashCase) -> bool:
    """Whether one of its checks is a judge's."""
    return bool(_questions(case))


async def judge_checks(case: BashCase, trace: Trace, checks: list[CheckResult], judges: Judges | None) -> JudgedChecks:
    """The checks with the judge's in place of `llm_judge`; as they are, with weight 0, when nobody judges."""
    judge = judges.of() if judges is not None else None
    places = _questions(case)
    if judge is None or judges is None or not places:
        return JudgedChecks(checks)
    from evalward.suites.judge.ask import Gate, JudgeInput  # noqa: PLC0415 - only who wants a judge pays for one
    from evalward.suites.judge.rubric import one_criterion  # noqa: PLC0415

    gates = [Gate(c.check, c.passed, c.detail) for index, c in enumerate(checks) if index not in places]
    asked = (
        judge.judge(
            JudgeInput(_name(case, number), case.task.prompt, trace, gates),
            one_criterion(_prompt(case.task.expectations[place])),
            judges.threshold,
        )
        for number, place in enumerate(places, 1)
    )
    outcomes = await asyncio.gather(*asked)
    replaced = list(checks)
    for place, outcome in zip(places, outcomes, strict=True):
        replaced[place] = _result(case.task.expectations[place], outcome)
    error = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
    usage = add_usage(outcome.usage for outcome in outcomes)
    message = None if error is None else f"{judge.model} could not judge: {error}"
    return JudgedChecks(replaced, list(outcomes), usage, message)


def _result(item: Expectation, outcome: JudgeOutcome) -> CheckResult:
    """The check's result; without a verdict it is not passed, and weighs nothing."""
    judged = outcome.passed is not None
    weight = item.weight if judged else 0.0
    return CheckResult(check=item.check, passed=bool(outcome.passed), detail=outcome.sentence, weight=weight)


def _questions(case: BashCase) -> Sequence[int]:
    return [index for index, item in enumerate(case.task.expectations) if parse_check(item.check).name == JUDGED]


def _prompt(item: Expectation) -> str:
    return parse_check(item.check).args[0].strip()[:2_000] or WHATEVER


def _name(case: BashCase, number: int) -> str:
    """What a recorded judge knows it by: the case's id, and from the second judged check on its number."""
    return case.id if number == 1 else f"{case.id}/{number}"
