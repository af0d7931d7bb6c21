"""What a case's checks say of the final answer."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import CheckResult
from evalward.records.words import shown
from evalward.suites.mcp.case import AnswerCheck
from evalward.suites.re2_pattern import compiled

_SHOWN = 200  # characters of an answer that a detail repeats
LONGEST_SEARCHED = 1_000_000


def check_answer(checks: Sequence[AnswerCheck], answer: str) -> list[CheckResult]:
    """Each check with what it says of the answer, without blanks around it."""
    said = answer.strip()[:LONGEST_SEARCHED]
    return [_checked(check, said) for check in checks]


def _checked(check: AnswerCheck, said: str) -> CheckResult:
    ((key, wanted),) = check.model_dump(exclude_none=True).items()
    passed = _holds(key, wanted, said)
    detail = "it holds" if passed else f"the answer is {shown(said, _SHOWN)}" if said else "there is no answer"
    return CheckResult(check=f"answer {key} {shown(wanted)}", passed=passed, detail=detail)


def _holds(key: str, wanted: str, said: str) -> bool:
    match key:
        case "contains":
            return wanted in said
        case "lacks":
            return wanted not in said
        case "equals":
            return said == wanted.strip()
        case _:
            return compiled(wanted).search(said) is not None
