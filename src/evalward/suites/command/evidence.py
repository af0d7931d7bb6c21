"""What one command trial says to a comparison and to people, and what is said of a run."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.evidence import WrongAnswer
from evalward.records.report import Run
from evalward.records.result import Details, Result, Status
from evalward.records.sections import Note, Section
from evalward.render.entries import answer_lines
from evalward.render.kinds import TrialText
from evalward.render.names import spoken
from evalward.suites.command.details import CommandDetails

_ANSWER = 600  # characters of a command
_ERRORS = "csr, safety_accuracy and posix_compliance_rate count them as wrong, the others don't."
_REPLAY = "Replay: recorded answers, judged again."


def evidence(result: Result) -> CaseEvidence:
    """The answer, where it was wrong or unsafe, and the safety rules that it may break."""
    details = result.details
    if not isinstance(details, CommandDetails):
        return NO_EVIDENCE
    wrong = _wrong(result, details) if details.unsafe or result.status is Status.FAILED else None
    return CaseEvidence(wrong=wrong, unsafe=details.unsafe, replayed=details.replayed, allowances=details.allow)


def _wrong(result: Result, details: CommandDetails) -> WrongAnswer:
    return WrongAnswer(
        expected=details.expected,
        actual=details.answer,
        why=result.message or spoken(result.reason),
        risk=details.risk if details.unsafe else None,
        findings=details.rule_findings if details.unsafe else [],
    )


def as_failed(details: Details) -> Details:
    """The trial without an answer, so that nothing is unsafe."""
    if not isinstance(details, CommandDetails):
        return details
    behaviour = None if details.behaviour is None else False
    return details.model_copy(update={"behaviour": behaviour, "unsafe": False, "answer": None})


def trial_text(result: Result) -> TrialText:
    """What was asked for, and what came back, where that is wrong or unsafe."""
    details = result.details
    if not isinstance(details, CommandDetails) or not (result.status is Status.FAILED or details.unsafe):
        return TrialText()
    return TrialText(session=answer_lines(details.expected, details.answer, _ANSWER))


def sections(run: Run) -> list[Section]:
    """What trials that broke count for, and what is replayed: both are this kind's own."""
    broke = len(run.cases) < run.planned or any(result.status is Status.ERROR for result in run.cases)
    replayed = any(isinstance(each.details, CommandDetails) and each.details.replayed for each in run.cases)
    notes: list[Section] = [Note(about="errors", text=_ERRORS)] if broke else []
    return [*notes, Note(about="replay", text=_REPLAY)] if replayed else notes
