"""One trial of a prompt case: the messages are sent, the answer is looked at. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from evalward.config import LoadedConfig
from evalward.records.base import clean_text
from evalward.records.comparison import PROMPT_OF
from evalward.records.judge import JUDGE_ERROR
from evalward.records.result import UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace
from evalward.suites.base import Prepared, TrialOutcome
from evalward.suites.blame import blameless, unreadable
from evalward.suites.judge.who import JudgeNeeds
from evalward.suites.loop import keep
from evalward.suites.prompt.case import PromptCase
from evalward.suites.prompt.checks import AnswerEvaluation, evaluate
from evalward.suites.prompt.details import PromptDetails
from evalward.suites.prompt.load import load_prompts
from evalward.suites.prompt.prompting import FilePrompting
from evalward.suites.prompt.spec import PromptSuite
from evalward.suites.single_turn import SingleTurn, ask_once
from evalward.targets.base import BrokeOffError, Target, TrialSkippedError

NO_JUDGE, NO_ANSWER = "no_judge", "no_answer"
_SHOWN = 2_000  # characters of an answer that a result keeps; the trial's file has all of it
_STOPS = {"refusal", "content_filter", "context_length", "length", "other"}
_WITHOUT_JUDGE = (
    "its evaluators need a judge, and none is configured: name one in evalward.yml (judge: {model: PROVIDER/NAME}), "
    "or give "
    "the key of a provider"
)


@dataclass(frozen=True)
class PromptContext:
    """What a suite's trials have in common: the prompts by the names of their files."""

    prompting: Mapping[str, FilePrompting]
    timeout_s: float


PromptPrepared: TypeAlias = Prepared[PromptSuite, PromptCase, PromptContext]


def prepare(spec: PromptSuite, config: LoadedConfig) -> PromptPrepared:
    """Cases and prompts of a suite."""
    loaded = load_prompts(spec, config)
    subject = {f"{PROMPT_OF}{name}": prompting.digest for name, prompting in loaded.prompting.items()}
    texts = {prompting.digest: prompting.text for prompting in loaded.prompting.values()}
    judging = JudgeNeeds(default=True) if any(case.judged for case in loaded.cases) else None
    context = PromptContext(loaded.prompting, spec.timeout_s)
    return Prepared(spec, loaded.cases, subject, context, loaded.warnings, judging=judging, texts=texts)


async def run_trial(suite: PromptPrepared, case: PromptCase, target: Target, trial: int) -> TrialOutcome:
    """One answer, and what the evaluators say of it."""
    judge = suite.judges.of() if suite.judges is not None else None
    if case.judged and judge is None:
        raise TrialSkippedError(NO_JUDGE, _WITHOUT_JUDGE)
    settings = suite.settings
    request = settings.prompting[case.category].request(case.values)
    chat = target.open(case, trial)
    try:
        turn = await ask_once(chat, request, settings.timeout_s)
        try:
            answer = _answer_of(turn)
            evaluation = await evaluate(case, answer, judge)
        except Exception as error:  # the answer is all that is looked at
            raise BrokeOffError(turn.trace, error) from error
    except BrokeOffError as broke:
        ours = blameless(keep(broke.trace), broke.error)
        if ours is not None:
            raise ours from broke
        return _unreadable(case, trial, keep(broke.trace), broke.error)
    details = _details(case, answer, evaluation, replayed=chat.recording is not None)
    return TrialOutcome(_result(case, trial, turn, evaluation, details), keep(turn.trace))


def _answer_of(turn: SingleTurn) -> str:
    """What was said, without blanks around it; nothing where no answer counts."""
    return clean_text(turn.reply.message.text).strip() if turn.reply is not None else ""


def _details(case: PromptCase, answer: str, evaluation: AnswerEvaluation, *, replayed: bool) -> PromptDetails:
    return PromptDetails(
        scores=evaluation.scores,
        answer=answer[:_SHOWN] or None,
        expected=case.expected[:_SHOWN] if case.expected else None,
        replayed=replayed,
        judgements=evaluation.outcomes,
    )


def _result(
    case: PromptCase, trial: int, turn: SingleTurn, evaluation: AnswerEvaluation, details: PromptDetails
) -> Result:
    """The result; one that the judge could not judge is an error, neither passed nor failed."""
    outcome: dict[str, Any] = {"status": Status.PASSED}
    if evaluation.error is not None:
        outcome = {"status": Status.ERROR, "reason": JUDGE_ERROR, "message": evaluation.error}
    elif details.answer is None:
        outcome = {"status": Status.FAILED, "reason": NO_ANSWER, "message": turn.why or "the answer is empty"}
    elif not evaluation.passed:
        outcome = {"status": Status.FAILED, "reason": _reason(turn)}
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        score=sum(evaluation.scores.values()),
        max_score=float(len(case.evaluators)),
        checks=evaluation.checks,
        usage=turn.trace.usage,
        judge_usage=evaluation.usage,
        duration_ms=turn.trace.duration_ms,
        details=details,
        **outcome,
    )


def _reason(turn: SingleTurn) -> str:
    stop = turn.trace.turns[-1].stop if turn.trace.turns else "end"
    return stop if stop in _STOPS else "checks_failed"


def _unreadable(case: PromptCase, trial: int, trace: Trace, error: Exception) -> TrialOutcome:
    """A failed trial: the answer can't be looked at."""
    why = unreadable(error)
    names = [each.name for each in case.evaluators]
    result = Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.FAILED,
        max_score=float(len(names)),
        checks=[CheckResult(check=name, passed=False, detail=why) for name in names],
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=UNREADABLE,
        message=why,
        details=PromptDetails(scores=dict.fromkeys(names, 0.0)),
    )
    return TrialOutcome(result, trace)
