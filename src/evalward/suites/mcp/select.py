"""One trial in mode `select`: one model turn with all tools, and what it would call. Nothing is executed."""

from __future__ import annotations

from evalward.records.base import clean_text
from evalward.records.trace import Message, Text, ToolCall
from evalward.suites.base import TrialOutcome
from evalward.suites.blame import blameless
from evalward.suites.loop import keep, writable
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.context import McpContext, McpPrepared
from evalward.suites.mcp.judging import score_calls
from evalward.suites.mcp.outcome import ScoredTrial, outcome_of, unreadable_outcome
from evalward.suites.mcp.own_server import refuse_unlisted
from evalward.suites.single_turn import SingleTurn, ask_once
from evalward.targets.base import BrokeOffError, Chat, Request, Target, TrialSkippedError

LEFT_OUT, GONE = "tool_left_out", "tool_not_listed"


async def run_select(suite: McpPrepared, case: McpCase, target: Target, trial: int) -> TrialOutcome:
    """One answer, and what the calls in it say."""
    settings = suite.settings
    refuse_unmeasurable(settings, case, target)
    chat = target.open(case, trial)
    try:
        turn = await _asked(settings, case, chat, target.id)
        try:
            scored = _scored(settings, case, chat, turn)
        except Exception as error:  # what was said is all that is looked at
            raise BrokeOffError(turn.trace, error) from error
    except BrokeOffError as broke:
        ours = blameless(keep(broke.trace), broke.error)
        if ours is not None:
            raise ours from broke
        return unreadable_outcome(case, trial, keep(broke.trace), broke.error, settings.tools.own)
    return outcome_of(case, trial, scored)


def refuse_unmeasurable(settings: McpContext, case: McpCase, target: Target) -> None:
    """Raises `TrialBrokenError` where the server listed no tools, `TrialSkippedError` for one that isn't offered.

    A case that names a tool which is gone is skipped for every target: it is missing in the comparison, which blocks.
    """
    refuse_unlisted(settings.unlisted)
    if gone := settings.gone.get(case.id):
        raise TrialSkippedError(GONE, f"{gone[0].message}. {gone[0].remedy}".removesuffix("."))
    lacking = settings.tools.lacking(case, target.id)
    if lacking is not None:
        raise TrialSkippedError(LEFT_OUT, lacking)


async def _asked(settings: McpContext, case: McpCase, chat: Chat, target: str) -> SingleTurn:
    asked = Message(role="user", content=[Text(text=case.prompt)])
    request = Request(settings.system, (asked,), settings.tools.to(target).tools)
    return await ask_once(
        chat, request, settings.timeout_s, lambda message: settings.tools.as_shown(writable(message), target)
    )


def _scored(settings: McpContext, case: McpCase, chat: Chat, turn: SingleTurn) -> ScoredTrial:
    said = turn.trace.messages[-1] if turn.reply is not None else Message(role="assistant", content=[])
    calls = [settings.calls.attempt(use) for use in said.tool_uses]
    not_run = [ToolCall(commands=settings.calls.text(use), exit_code=None, ran=False) for use in said.tool_uses]
    return ScoredTrial(
        trace=turn.trace.model_copy(update={"tool_calls": not_run}),
        scored=score_calls(case, calls, settings.tools.own),
        answer=clean_text(said.text).strip(),
        replayed=chat.recording is not None,
        why_none=turn.why,
    )
