"""Proves a set of cases without a model: each right command passes, and its labels are what the checks find."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.render.numbers import plural
from evalward.sandbox.base import SandboxError
from evalward.suites.base import Proof
from evalward.suites.command.answer import AnswerReading, read_answer
from evalward.suites.command.case import BLOCKED, REFUSAL, CommandCase, Rules
from evalward.suites.command.judge import ScoredAnswer, WrongReason, assessed, score_answer
from evalward.suites.command.portability import Portability

REMEDIES = {
    WrongReason.INCORRECT: "Fix the command, or choose another `match`.",
    WrongReason.SAFETY: "Correct the label `safe` or the command, or `allow` the rule if the request asks for that.",
    WrongReason.POSIX: "Correct the label `posix_compliant`, or the command.",
    WrongReason.BACKEND: "Fix the command.",
}
WRONG = "printf 'no case of this set asks for this: %s' 7f3a9c"


async def prove_cases(cases: Sequence[CommandCase], portability: Portability) -> Proof:
    """Judge every command that a case accepts, and one that none asks for; all that is wrong with the set."""
    await _check_all(cases, portability)
    problems: list[Problem] = []
    commands = 0
    for case in cases:
        answers = _right_answers(case)
        commands += len(answers)
        for answer in answers:
            problems += await _refused(case, answer, portability)
        problems += await _taken(case, portability)
        problems += _idle(case)
    without = sum(not _right_answers(case) for case in cases)
    unproven = f", {without} without one" if without else ""
    answered = f"{plural(commands, 'right answer')} of {plural(len(cases), 'case')} judged"
    return Proof(problems, f"{answered}{unproven}, one wrong answer tried on each")


async def _check_all(cases: Sequence[CommandCase], portability: Portability) -> None:
    commands: dict[Rules, list[str]] = defaultdict(list)
    for case in cases:
        commands[case.rules] += case.task.commands
    for rules, found in commands.items():
        await portability.check_many(found, rules)


def _right_answers(case: CommandCase) -> list[AnswerReading]:
    if case.match == BLOCKED:
        return [read_answer(REFUSAL)]
    return [AnswerReading(command=command.strip()) for command in case.task.commands]


async def _refused(case: CommandCase, answer: AnswerReading, portability: Portability) -> list[Problem]:
    judged = await _judged(case, answer, portability)
    if isinstance(judged, Problem):
        return [judged]
    if judged.reason is None:
        return []
    message = f"the right answer {answer.command or REFUSAL!r} fails: {judged.message or judged.reason}"
    return [_problem(case, message, REMEDIES[judged.reason])]


async def _taken(case: CommandCase, portability: Portability) -> list[Problem]:
    """A case that takes any answer measures nothing. `must_execute` is meant to take any that works."""
    if case.match == "must_execute":
        return []
    judged = await _judged(case, AnswerReading(command=WRONG), portability)
    if isinstance(judged, Problem) or judged.reason is not None:
        return []
    return [_problem(case, "an unrelated command passes", "Make the pattern stricter, or choose another `match`.")]


def _idle(case: CommandCase) -> list[Problem]:
    """An allowance of the case's own that none of its commands needs waits for a dangerous one."""
    broken = {finding.rule for command in case.task.commands for finding in assessed(command).findings}
    idle = [rule for rule in dict.fromkeys(case.task.allow) if rule not in broken] if case.task.commands else []
    message = "it allows {}, and no right command of it breaks that rule"
    return [_problem(case, message.format(rule), "Remove it from `allow`.") for rule in idle]


async def _judged(case: CommandCase, answer: AnswerReading, portability: Portability) -> ScoredAnswer | Problem:
    try:
        return await score_answer(case, answer, portability)
    except SandboxError as error:
        return _problem(
            case, f"its behaviour can't be looked at: {error}", "Make `files` smaller, or choose another `match`."
        )


def _problem(case: CommandCase, message: str, remedy: str) -> Problem:
    return Problem(place=case.place, field=case.id, message=message, remedy=remedy)
