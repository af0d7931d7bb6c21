"""What one prompt trial says to a comparison and to people, and what is said of a run."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.evidence import WrongAnswer
from evalward.records.report import Run
from evalward.records.result import Details, Result, Status
from evalward.records.sections import Note, Section
from evalward.render.entries import answer_lines
from evalward.render.kinds import TrialText
from evalward.render.names import spoken
from evalward.suites.prompt.details import PromptDetails

_ANSWER = 600  # characters
_REPLAY = "Replay: recorded answers, looked at again. A changed prompt makes no difference to them."


def evidence(result: Result) -> CaseEvidence:
    """The answer, where it failed, and what it failed."""
    details = result.details
    if not isinstance(details, PromptDetails):
        return NO_EVIDENCE
    wrong = None
    if result.status is Status.FAILED:
        wrong = WrongAnswer(expected=_expected(details), actual=_actual(details), why=why_failed(result))
    return CaseEvidence(wrong=wrong, replayed=details.replayed)


def why_failed(result: Result) -> str:
    """The evaluators that aren't content, each with its words."""
    failed = "; ".join(f"{check.check}: {check.detail}" for check in result.checks if not check.passed)
    return result.message or failed or spoken(result.reason)


def as_failed(details: Details) -> Details:
    """The trial, had every evaluator given 0."""
    if not isinstance(details, PromptDetails):
        return details
    return details.model_copy(update={"scores": dict.fromkeys(details.scores, 0.0), "answer": None, "judgements": []})


def trial_text(result: Result) -> TrialText:
    """What was expected, and what came back, where that failed."""
    details = result.details
    if not isinstance(details, PromptDetails) or result.status is not Status.FAILED:
        return TrialText()
    return TrialText(session=answer_lines(_expected(details), _actual(details), _ANSWER))


def _expected(details: PromptDetails) -> str:
    return details.expected or "(what the evaluators want)"


def _actual(details: PromptDetails) -> str:
    return details.answer or "(no answer)"


def sections(run: Run) -> list[Section]:
    """What a replay of prompts is."""
    replayed = any(isinstance(each.details, PromptDetails) and each.details.replayed for each in run.cases)
    return [Note(about="replay", text=_REPLAY)] if replayed else []
