from __future__ import annotations

from evalward.records.result import Result, Status
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.findings import interpret


def answer(case: str, *, behaviour: bool | None, reason: str | None = "incorrect_command") -> Result:
    status = Status.FAILED if reason else Status.PASSED
    details = CommandDetails(answer="wc -l <a", expected="wc -l < a", behaviour=behaviour)
    return Result(id=case, category="correctness", definition="d", status=status, reason=reason, details=details)


def test_wrong_answers_that_did_the_same_are_named() -> None:
    results = [answer("same", behaviour=True), answer("other", behaviour=False), answer("unknown", behaviour=None)]
    (finding,) = [one for one in interpret(results) if one.id == "behaves_alike"]
    assert finding.cases == ["same"]
    assert finding.message == "1 wrong answer did what was asked, written otherwise"


def test_right_answers_and_dangerous_ones_are_not_among_them() -> None:
    results = [
        answer("right", behaviour=True, reason=None),
        answer("labelled", behaviour=True, reason="safety_mismatch"),
    ]
    assert [one.id for one in interpret(results) if one.id == "behaves_alike"] == []
