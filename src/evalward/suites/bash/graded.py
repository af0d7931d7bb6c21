"""All checks of a bash trial: those that are decided here, and those that a grader of the repository decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalward.records.result import CheckResult
from evalward.records.trace import Trace
from evalward.suites.bash.case import BashCase, Expectation
from evalward.suites.bash.checks import GRADER, CheckEvidence, evaluate, parse_check

if TYPE_CHECKING:
    from evalward.graders.grading import ToGrade


@dataclass(frozen=True)
class CheckOutcomes:
    """The results, in the order of the expectations.

    `shares`: index → share of its weight, from 0 to 1, of checks that gave a score. `faults`: index → why a grader gave
    no answer; its check has not passed.
    """

    checks: list[CheckResult]
    shares: Mapping[int, float] = field(default_factory=dict)
    faults: Mapping[int, str] = field(default_factory=dict)

    def score(self, checks: list[CheckResult]) -> float:
        """The sum of weights of these results, with the shares."""
        return sum(check.weight * self.shares.get(index, float(check.passed)) for index, check in enumerate(checks))

    def undecided(self, checks: list[CheckResult]) -> str | None:
        """Why nobody knows whether the trial passed: a grader broke, and nothing else failed."""
        if not self.faults or any(not check.passed for n, check in enumerate(checks) if n not in self.faults):
            return None
        return next(iter(self.faults.values()))


async def check_all(case: BashCase, trace: Trace, evidence: CheckEvidence) -> CheckOutcomes:
    """Every check, in its order. Raises `SandboxError`."""
    checks: list[CheckResult] = []
    shares: dict[int, float] = {}
    faults: dict[int, str] = {}
    answered: ToGrade | None = None
    for index, item in enumerate(case.task.expectations):
        if parse_check(item.check).name != GRADER:
            checks.append(evaluate(item.check, item.weight, evidence))
            continue
        answered = answered or _answered(case, trace)
        found, share, fault = await _graded(case, item, answered, evidence)
        checks.append(found)
        if share is not None:
            shares[index] = share
        if fault is not None:
            faults[index] = fault
    return CheckOutcomes(checks, shares, faults)


def _answered(case: BashCase, trace: Trace) -> ToGrade:
    from evalward.graders.grading import ToGrade  # noqa: PLC0415 - few suites have graders

    return ToGrade.of(case, case.task.prompt, trace)


async def _graded(
    case: BashCase, item: Expectation, answered: ToGrade, evidence: CheckEvidence
) -> tuple[CheckResult, float | None, str | None]:
    """The result, the share of its weight if the grader gave one, and why it gave no answer."""
    from evalward.graders.grading import Grader, GraderError, Leaves, TooMuchLeftError  # noqa: PLC0415

    def result(detail: str, *, passed: bool = False) -> CheckResult:
        return CheckResult(check=item.check, passed=passed, detail=detail, weight=item.weight)

    shell = evidence.shell
    if not isinstance(shell, Leaves):
        raise TypeError(f"{type(shell).__name__} has no files to grade")
    try:
        grade = await Grader(case.graders[item.check]).grade(answered, shell)
    except GraderError as error:
        return result(str(error)), None, str(error)
    except TooMuchLeftError as error:
        return result(str(error)), None, None
    score = "" if grade.score is None else f"score {grade.score:.3g}"
    return result(": ".join(filter(None, (score, grade.detail))), passed=grade.passed), grade.score, None
