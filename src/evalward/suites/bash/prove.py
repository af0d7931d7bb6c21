"""Proves a set of tasks without a model: right answers pass, doing nothing doesn't, and every check can fail.

Each task's solution is run as it is, and then in wrong variants (mutants): left out, cut short, silenced, with other
numbers, with its files wiped, with a failing or noisy last command. A check that no wrong answer fails checks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

from evalward.records.problem import Problem
from evalward.records.result import CheckResult
from evalward.records.trace import ToolCall, Trace
from evalward.sandbox.base import SandboxError
from evalward.suites.base import Proof
from evalward.suites.bash.case import BashCase
from evalward.suites.bash.checks import JUDGED, CheckEvidence, parse_check
from evalward.suites.bash.graded import CheckOutcomes, check_all
from evalward.suites.shells import Shells

GRADER_REMEDY = "Fix the grader, or the name in the check."
MANY_CALLS = 101  # one more than any turn limit lets happen


@dataclass(frozen=True)
class ProofAnswer:
    """A way to answer a task: what it is, and the scripts that are run; the last call counts `times`, and runs once."""

    name: str
    scripts: Sequence[str]
    times: int = 1


async def prove_cases(cases: Sequence[BashCase], shells: Shells) -> Proof:
    """Run every case's answers; all that is wrong with the set."""
    problems = await _unusable_graders(cases)
    if problems:
        return Proof(problems, "no answer tried")
    solved = answers = 0
    for case in cases:
        checked = [(answer, await _judge(case, answer, shells)) for answer in _wrong_answers(case)]
        tried = [(answer, found.checks) for answer, found in checked]
        answers += len(tried)
        problems += _broken_graders(case, checked)
        problems += _passed_by_lazy(case, tried)
        if case.task.solution is None:
            continue
        solved += 1
        problems += _unsolved(case, (await _judge(case, ProofAnswer("the solution", _solution(case)), shells)).checks)
        problems += _never_failing(case, [checks for _, checks in tried])
    without = f", {len(cases) - solved} without a solution" if solved < len(cases) else ""
    summary = f"{solved} of {len(cases)} solutions run{without}, {answers} wrong answers tried"
    return Proof(problems, summary)


async def _unusable_graders(cases: Sequence[BashCase]) -> list[Problem]:
    """Graders whose function can't be found: looked up once each, where they run."""
    named = {check: (case, source) for case in reversed(cases) for check, source in case.graders.items()}
    if not named:
        return []
    from evalward.graders.grading import Grader, GraderError  # noqa: PLC0415 - few suites have graders

    problems = []
    for case, source in named.values():
        try:
            await Grader(source).look_up()
        except (GraderError, SandboxError) as error:
            problems.append(Problem(place=case.place, field=case.id, message=str(error), remedy=GRADER_REMEDY))
    return problems


def _broken_graders(case: BashCase, checked: Sequence[tuple[ProofAnswer, CheckOutcomes]]) -> list[Problem]:
    """A grader that breaks on a wrong answer gives no verdict where a target fails: the first answer of that kind."""
    for answer, found in checked:
        for fault in found.faults.values():
            message = f"no verdict on {answer.name}: {fault}"
            remedy = "A grader must answer for any outcome, even none: let it return False."
            return [Problem(place=case.place, field=case.id, message=message, remedy=remedy)]
    return []


async def _judge(case: BashCase, answer: ProofAnswer, shells: Shells) -> CheckOutcomes:
    calls = []
    async with shells.open(case.task.files, case.timeout_s) as shell:
        for script in answer.scripts:
            done = await shell.run(script)
            calls.append(ToolCall(commands=script, stdout=done.stdout, stderr=done.stderr, exit_code=done.exit_code))
        calls += calls[-1:] * (answer.times - 1)
        return await check_all(case, Trace(tool_calls=calls), CheckEvidence(calls, shell))


def _solution(case: BashCase) -> list[str]:
    solution = case.task.solution
    return [solution] if isinstance(solution, str) else list(solution or [])


LAZY = ("doing nothing", "one empty command", "printing all input files")


def _wrong_answers(case: BashCase) -> Iterator[ProofAnswer]:
    files = " ".join(quote(path) for path in case.task.files)
    yield ProofAnswer(LAZY[0], [])
    yield ProofAnswer(LAZY[1], ["true"])
    if files:
        yield ProofAnswer(LAZY[2], [f"cat {files}"])
    scripts = _solution(case)
    if not scripts:
        return
    for length in range(1, len(scripts)):
        yield ProofAnswer(f"only the first {length} calls of the solution", scripts[:length])
    yield ProofAnswer("the solution without output", [f"{{ {script}\n}} >/dev/null 2>&1" for script in scripts])
    yield ProofAnswer("the solution with other numbers", [_other_numbers(script) for script in scripts])
    yield ProofAnswer("the solution, then a failing command", [*scripts, "exit 3"])
    yield ProofAnswer("the solution, then noise on stderr", [*scripts, "echo noise >&2"])
    yield ProofAnswer("the solution, then far too many calls", [*scripts, "true"], times=MANY_CALLS)
    paths = sorted({path for item in case.task.expectations for path in _path_of(item.check)})
    if paths:
        wiped = [f"rm -rf {quote(path)}" for path in paths]
        yield ProofAnswer("the solution with its files taken away", [*scripts, *wiped])
        spoilt = [f"[ -f {quote(path)} ] && echo spoilt > {quote(path)}" for path in paths]
        yield ProofAnswer("the solution with its files spoilt", [*scripts, *spoilt])


def _other_numbers(script: str) -> str:
    return re.sub(r"\d+", lambda found: str(int(found[0]) + 7), script)


def _path_of(text: str) -> tuple[str, ...]:
    check = parse_check(text)
    return check.args[:1] if check.name.startswith(("file_", "dir_")) else ()


def _passed_by_lazy(case: BashCase, tried: Sequence[tuple[ProofAnswer, list[CheckResult]]]) -> list[Problem]:
    found = [a.name for a, checks in tried if a.name in LAZY and all(check.passed for check in checks)]
    if not found:
        return []
    remedy = "Add a check on something that only a right answer leaves behind."
    return [Problem(place=case.place, field=case.id, message=f"the task passes by {found[0]}", remedy=remedy)]


def _unsolved(case: BashCase, checks: Sequence[CheckResult]) -> list[Problem]:
    remedy = "Fix the solution or the check."
    return [
        Problem(
            place=case.place,
            field=case.id,
            message=f"the solution fails {check.check!r}: {check.detail}",
            remedy=remedy,
        )
        for check in checks
        if not check.passed
    ]


def _never_failing(case: BashCase, tried: Sequence[Sequence[CheckResult]]) -> list[Problem]:
    """Checks that no wrong answer fails. A judged check can't fail while nobody judges."""
    found = []
    for index, item in enumerate(case.task.expectations):
        if parse_check(item.check).name != JUDGED and all(checks[index].passed for checks in tried):
            message = f"no wrong answer that was tried fails {item.check!r}"
            found.append(
                Problem(place=case.place, field=case.id, message=message, remedy="Make it stricter, or remove it.")
            )
    return found
