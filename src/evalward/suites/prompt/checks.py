"""What the evaluators say of an answer: texts are compared here, the rest is asked of a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalward.records.judge import JudgeOutcome
from evalward.records.result import CheckResult
from evalward.records.trace import Usage, add_usage
from evalward.suites.prompt.builtin import BUILT_IN
from evalward.suites.prompt.case import PromptCase
from evalward.suites.prompt.file import LlmEvaluator, PromptEvaluator, StringEvaluator
from evalward.suites.prompt.template import fill, fill_around

if TYPE_CHECKING:
    from evalward.suites.judge.judge import Judge

NOTHING_TO_JUDGE = "there is no answer to judge"
_SHOWN = 200  # characters of a text in a check's words

_HOLDS: Mapping[str, Callable[[str, str], bool]] = {
    "equals": lambda answer, wanted: answer == wanted,
    "contains": lambda answer, wanted: wanted.lower() in answer.lower(),
    "startsWith": lambda answer, wanted: answer.lower().startswith(wanted.lower()),
    "endsWith": lambda answer, wanted: answer.lower().endswith(wanted.lower()),
}
_WORDS = {
    "equals": "isn't",
    "contains": "doesn't contain",
    "startsWith": "doesn't start with",
    "endsWith": "doesn't end with",
}


@dataclass(frozen=True)
class AnswerEvaluation:
    """What all evaluators say of an answer. `error` says why a judge gave no verdict, though one was asked."""

    checks: list[CheckResult]
    scores: dict[str, float]
    outcomes: list[JudgeOutcome] = field(default_factory=list)
    usage: Usage | None = None
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every evaluator is content."""
        return all(check.passed for check in self.checks)


def compared(evaluator: StringEvaluator, values: Mapping[str, str], answer: str) -> tuple[bool, str]:
    """Whether the answer holds what the evaluator wants, and in words what doesn't.

    Line ends around a wanted text don't count, as YAML's blocks leave them behind; the answer has none either.
    """
    for key, text in evaluator.wanted:
        wanted = fill(text, values).strip("\n")
        if not _HOLDS[key](answer, wanted):
            return False, f"it {_WORDS[key]} {_shown(wanted)}: {_shown(answer)}"
    return True, "as wanted"


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line[:_SHOWN]}…"' if len(line) > _SHOWN else f'"{line}"'


def string_checks(case: PromptCase, answer: str) -> dict[str, CheckResult]:
    """The checks of evaluators that compare texts, by their names."""
    found = {}
    for evaluator in case.evaluators:
        if evaluator.string is not None:
            passed, detail = compared(evaluator.string, case.values, answer)
            found[evaluator.name] = CheckResult(check=evaluator.name, passed=passed, detail=detail)
    return found


async def evaluate(case: PromptCase, answer: str, judge: Judge | None) -> AnswerEvaluation:
    """All evaluators on an answer. A judge is asked nothing about an empty one, which passes none of its questions."""
    checks = string_checks(case, answer)
    scores = {name: float(check.passed) for name, check in checks.items()}
    judged = [(evaluator, llm) for evaluator in case.evaluators if (llm := question_of(evaluator)) is not None]
    outcomes: Sequence[JudgeOutcome] = ()
    if answer and judge is not None:
        outcomes = await asyncio.gather(*(_ask(judge, case, evaluator, llm, answer) for evaluator, llm in judged))
        for (evaluator, _), outcome in zip(judged, outcomes, strict=True):
            checks[evaluator.name] = _judged(evaluator, outcome)
            scores |= {} if outcome.score is None else {evaluator.name: outcome.score}
    else:
        names = [evaluator.name for evaluator, _ in judged]
        checks |= {name: CheckResult(check=name, passed=False, detail=NOTHING_TO_JUDGE) for name in names}
        scores |= dict.fromkeys(names, 0.0)
    unclear = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
    return AnswerEvaluation(
        checks=[checks[evaluator.name] for evaluator in case.evaluators],
        scores=scores,
        outcomes=list(outcomes),
        usage=add_usage(outcome.usage for outcome in outcomes) if outcomes else None,
        error=None if unclear is None or judge is None else f"{judge.model} could not judge: {unclear}",
    )


def question_of(evaluator: PromptEvaluator) -> LlmEvaluator | None:
    """What a judge is asked; `None` for an evaluator that compares texts."""
    return evaluator.llm or (None if evaluator.uses is None else BUILT_IN[evaluator.uses])


async def _ask(
    judge: Judge, case: PromptCase, evaluator: PromptEvaluator, llm: LlmEvaluator, answer: str
) -> JudgeOutcome:
    from evalward.suites.judge.choice import ChoiceQuestion, GradeChoice  # noqa: PLC0415 - few suites have judges

    asked = ChoiceQuestion(
        id=f"{case.id}/{evaluator.name}",
        name=evaluator.name,
        system=fill_around(llm.system_prompt, case.values),
        prompt=fill_around(llm.prompt, case.values),
        choices=[GradeChoice(each.choice, each.score) for each in llm.choices],
        answer=answer,
    )
    return await judge.answer(asked)


def _judged(evaluator: PromptEvaluator, outcome: JudgeOutcome) -> CheckResult:
    """The check's result; without a verdict it is not passed, and weighs nothing."""
    known = outcome.passed is not None
    return CheckResult(
        check=evaluator.name, passed=bool(outcome.passed), detail=outcome.sentence, weight=1.0 if known else 0.0
    )
