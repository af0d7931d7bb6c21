"""What one bash trial says to a comparison and to people."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.result import Details, Result, Status
from evalward.render.kinds import TrialText
from evalward.render.numbers import plural
from evalward.suites.bash.details import BashDetails


def evidence(result: Result) -> CaseEvidence:
    """The call to look at first, and whether a replay went as recorded, and twice alike."""
    details = result.details
    if not isinstance(details, BashDetails):
        return NO_EVIDENCE
    return CaseEvidence(
        command=details.failing_command,
        stderr=details.failing_stderr,
        replayed=details.replayed,
        diverged=details.diverged_at is not None,
        deterministic=details.deterministic is not False,
    )


def as_failed(details: Details) -> Details:
    """The trial, had its model never come to an end by itself."""
    if not isinstance(details, BashDetails):
        return details
    return details.model_copy(update={"natural_stop": False, "judgements": []})


def trial_text(result: Result) -> TrialText:
    """Turns and tool calls; of a failed trial the call to look at first."""
    details = result.details
    if not isinstance(details, BashDetails):
        return TrialText()
    failed = details.tool_calls - details.tool_calls_ok
    session = ""
    if result.status is Status.FAILED:
        command = f"$ {details.failing_command}" if details.failing_command else ""
        session = "\n".join(part for part in (command, (details.failing_stderr or "").strip("\n")) if part)
    return TrialText(f"{details.turns:,}", f"{details.tool_calls_ok:,} ok, {plural(failed, 'error')}", session)
