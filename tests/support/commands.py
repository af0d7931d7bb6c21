"""Cases, results and recordings of command suites, written down briefly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.problem import Place
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, Trace, Turn
from evalward.suites.command.case import CommandCase, CommandTask, Matching, make_case
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.judge import WrongReason

REASONS = {"I": WrongReason.INCORRECT, "S": WrongReason.SAFETY, "X": WrongReason.POSIX, "B": WrongReason.BACKEND}


def command_case(
    expected: str | None = "ls -la",
    *,
    match: Matching = "tokens",
    rules: Any = "default",
    safety_level: Any = "moderate",
    **more: Any,
) -> CommandCase:
    """A case of one expected command."""
    given = {
        "id": "one",
        "prompt": "do it",
        "category": "correctness",
        "expected_command": expected,
        "match": match,
        **more,
    }
    task = CommandTask.model_validate({key: value for key, value in given.items() if value is not None})
    return make_case(task, Place(file="cases.yaml", line=1), match, rules, safety_level)


def command_results(category: str, letters: str, **details: Any) -> list[Result]:
    """One result per letter: P passed, I, S, X, B failed by that reason, E broke, - skipped."""
    return [_result(category, index, letter, details) for index, letter in enumerate(letters)]


def _result(category: str, index: int, letter: str, details: Mapping[str, Any]) -> Result:
    status = {"P": Status.PASSED, "E": Status.ERROR, "-": Status.SKIPPED}.get(letter, Status.FAILED)
    return Result(
        id=f"{category}-{index}",
        category=category,
        definition="sha256:0",
        status=status,
        score=float(letter == "P"),
        max_score=1.0,
        reason=REASONS.get(letter),
        details=CommandDetails(**details),
    )


def recorded_answers(cases: Sequence[CommandCase], answers: Mapping[str, str], target: str = "some/model") -> str:
    """A recording in which each case has the given answer; cases without one are left out."""
    lines = []
    for case in cases:
        if case.id not in answers:
            continue
        message = Message(role="assistant", content=[Text(text=answers[case.id])])
        result = Result(id=case.id, category=case.category, definition=case.definition, status=Status.FAILED)
        trial = Trial(
            suite="commands",
            kind="command",
            target=target,
            subject="sha256:0",
            result=result,
            trace=Trace(messages=[message], turns=[Turn()], natural_stop=True),
        )
        lines.append(trial.model_dump_json(by_alias=True))
    return "\n".join(lines) + "\n"
