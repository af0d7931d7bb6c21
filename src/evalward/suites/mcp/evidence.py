"""What one mcp trial says to a comparison and to people."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.evidence import WrongAnswer
from evalward.records.result import Details, Result, Status
from evalward.render.entries import answer_lines
from evalward.render.kinds import TrialText
from evalward.render.names import spoken
from evalward.render.numbers import plural
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.judging import made_text

_CALLS = 600  # characters of the calls of one trial


def evidence(result: Result) -> CaseEvidence:
    """The calls, where it failed, and whether a replay went as recorded."""
    details = result.details
    if not isinstance(details, McpDetails):
        return NO_EVIDENCE
    wrong = None
    if result.status is Status.FAILED:
        wrong = WrongAnswer(expected=_asked(details), actual=_made(details), why=why_failed(result))
    return CaseEvidence(wrong=wrong, replayed=details.replayed, diverged=details.diverged_at is not None)


def why_failed(result: Result) -> str:
    """What was there in place of what was expected."""
    failed = "; ".join(f"{check.check}: {check.detail}" for check in result.checks if not check.passed)
    return result.message or failed or spoken(result.reason)


def as_failed(details: Details) -> Details:
    """The trial, had its model made no call that was expected, and one where none was: nothing forbidden is in it."""
    if not isinstance(details, McpDetails):
        return details
    judged = details.judged
    failed = judged.model_copy(
        update={
            "taken": None,
            "selected": None if judged.selected is None else False,
            "matched": 0,
            "counted": int(judged.expects == "none"),
            "args_matched": 0,
            "forbidden": None if judged.forbidden is None else 0,
            "tools": [],
        }
    )
    calls = {"calls": [], "unknown": 0, "checked": 0, "valid": 0, "executed": 0, "failed": 0, "invented": []}
    return details.model_copy(update={**calls, "judged": failed, "total": failed.counted, "answer": None})


def trial_text(result: Result) -> TrialText:
    """Turns and calls; of a failed trial the expected calls and those that were made."""
    details = result.details
    if not isinstance(details, McpDetails):
        return TrialText()
    session = ""
    if result.status is Status.FAILED:
        session = answer_lines(_asked(details), _made(details), _CALLS)
    return TrialText(turns=f"{details.turns:,}", calls=_calls(details), session=session)


def _calls(details: McpDetails) -> str:
    """Executed calls by how they ended; where nothing is executed, calls by whether they can be."""
    if details.executed:
        return f"{details.executed - details.failed:,} ok, {plural(details.failed, 'error')}"
    wrong = details.unknown + details.checked - details.valid
    return f"{details.total:,}" + (f", {wrong:,} not valid" if wrong else "")


def _asked(details: McpDetails) -> str:
    return details.asked or "(what the case expects)"


def _made(details: McpDetails) -> str:
    more = details.total - len(details.calls)
    return made_text(details.calls, details.server) + (f"\nand {more:,} more" if more > 0 else "")
