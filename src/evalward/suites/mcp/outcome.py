"""The result of a trial: its calls and its answer, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalward.records.result import UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace
from evalward.suites.base import TrialOutcome
from evalward.suites.blame import unreadable
from evalward.suites.mcp.answer import check_answer
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.evidence import as_failed
from evalward.suites.mcp.judging import ScoredCalls, score_calls

NO_ANSWER, CHECKS_FAILED, TURN_LIMIT = "no_answer", "checks_failed", "turn_limit"
FORBIDDEN, NEEDLESS, NO_CALL, WRONG_TOOL = "forbidden_call", "needless_call", "no_call", "wrong_tool"
WRONG_ARGUMENTS, EXTRA = "wrong_arguments", "extra_call"
_STOPS = {"refusal", "content_filter", "context_length", "length", "other"}
_SHOWN = 2_000  # characters of an answer that a result keeps; the trial's file has all of it


@dataclass(frozen=True)
class ScoredTrial:
    """What happened in a trial, and what its calls say. `checks` are those beyond calls and answer.

    `why_none`: there is no answer that counts, and this is why; `failure` is the reason where the server failed.
    `diverged_at`, `refused` and `list_changed`: see `McpDetails`.
    """

    trace: Trace
    scored: ScoredCalls
    answer: str
    replayed: bool = False
    why_none: str = ""
    failure: str = ""
    checks: Sequence[CheckResult] = ()
    diverged_at: int | None = None
    refused: Mapping[str, int] = field(default_factory=dict)
    list_changed: int = 0

    @property
    def details(self) -> McpDetails:
        """All that the result says of calls, turns and answer."""
        known = {
            "turns": len(self.trace.turns),
            "answer": self.answer[:_SHOWN] or None,
            "replayed": self.replayed,
            "diverged_at": self.diverged_at,
            "refused": dict(self.refused),
            "list_changed": self.list_changed,
        }
        return self.scored.details.model_copy(update=known)


def outcome_of(case: McpCase, trial: int, done: ScoredTrial) -> TrialOutcome:
    """Passed where every check on calls, answer and whatever else holds."""
    checks = [*done.scored.checks, *check_answer(case.task.answer, done.answer), *done.checks]
    passed = not done.why_none and all(check.passed for check in checks)
    outcome: dict[str, Any] = {"status": Status.PASSED}
    if not passed:
        outcome = {"status": Status.FAILED, "reason": _reason(case, done), "message": done.why_none or None}
    return TrialOutcome(
        _result(case, trial, done.trace, {**outcome, "checks": checks, "details": done.details}), done.trace
    )


def unreadable_outcome(case: McpCase, trial: int, trace: Trace, error: Exception, catalogue: Catalogue) -> TrialOutcome:
    """A failed trial: what the target did can't be looked at. It counts as having failed in everything."""
    why = unreadable(error)
    scored = score_calls(case, [], catalogue)
    checks = [CheckResult(check=check.check, passed=False, detail=why) for check in scored.checks]
    outcome = {"status": Status.FAILED, "reason": UNREADABLE, "message": why}
    details = as_failed(scored.details).model_copy(update={"turns": len(trace.turns)})
    return TrialOutcome(_result(case, trial, trace, {**outcome, "checks": checks, "details": details}), trace)


def _result(case: McpCase, trial: int, trace: Trace, outcome: dict[str, Any]) -> Result:
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        score=float(outcome["status"] is Status.PASSED),
        max_score=1.0,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        **outcome,
    )


def _reason(case: McpCase, done: ScoredTrial) -> str:
    """In a word, why a trial failed: what it did that it must not do, then what it didn't do."""
    judged = done.scored.details.judged
    stop = done.trace.turns[-1].stop if done.trace.turns else "end"
    needless = judged.expects == "none" and judged.counted > 0
    silent = judged.expects == "calls" and not judged.counted
    extra = judged.counted - judged.matched
    causes = (
        (done.failure, bool(done.failure)),
        (NO_ANSWER, bool(done.why_none)),
        (FORBIDDEN, bool(judged.forbidden)),
        (NEEDLESS, needless),
        (stop, stop in _STOPS),
        (TURN_LIMIT, case.mode == "run" and bool(done.trace.turns) and not done.trace.natural_stop),
        (NO_CALL, silent),
        (WRONG_TOOL, judged.selected is False),
        (WRONG_ARGUMENTS, judged.args_matched < judged.args_tried),
        (EXTRA, judged.matched == judged.expected and extra > (case.max_extra or 0)),
    )
    return next((reason for reason, holds in causes if holds), CHECKS_FAILED)
