"""One trial in mode `run`: the agent loop with the server's tools, which the server executes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.base import clean_text
from evalward.records.result import CheckResult
from evalward.records.trace import Trace
from evalward.sandbox.base import NoWorkspaceError, SandboxError
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.blame import blameless
from evalward.suites.divergence import first_divergence
from evalward.suites.loop import LoopBounds, converse_with, keep
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.context import McpContext, McpPrepared
from evalward.suites.mcp.judging import score_calls
from evalward.suites.mcp.outcome import ScoredTrial, outcome_of, unreadable_outcome
from evalward.suites.mcp.own_server import NOT_LISTED
from evalward.suites.mcp.select import refuse_unmeasurable
from evalward.suites.mcp.server.failures import ServerError
from evalward.suites.mcp.server.session import ServerSession
from evalward.suites.mcp.server_tools import ServerTools
from evalward.suites.mcp.state import STATE, check_state
from evalward.targets.base import BrokeOffError, Chat, Target
from evalward.targets.failures import Cause


async def run_run(suite: McpPrepared, case: McpCase, target: Target, trial: int) -> TrialOutcome:
    """A conversation, in which the server executes the calls; then what they say, and what the server left.

    A server that never lists its tools breaks the trial; what it does from then on is a finding.
    """
    settings = suite.settings
    refuse_unmeasurable(settings, case, target)
    assert settings.servers is not None  # noqa: S101 - as the configuration has it for this mode
    chat = target.open(case, trial)
    began = False
    try:
        async with settings.servers.open(case) as session:
            began = True
            return await _ServedTrial(settings, case, target, trial, session).outcome(chat)
    except ServerError as error:
        raise TrialBrokenError(Trace(), NOT_LISTED, f"the server didn't list its tools: {error}") from error
    except SandboxError as error:
        raise TrialBrokenError(Trace(), Cause.SANDBOX, str(error), begun=began) from error


@dataclass(frozen=True)
class _ServedTrial:
    """A trial whose server has listed its tools."""

    settings: McpContext
    case: McpCase
    target: Target
    trial: int
    session: ServerSession

    async def outcome(self, chat: Chat) -> TrialOutcome:
        """How it ended. What the model or the server does is never an error of ours."""
        tools = ServerTools(self.session, self.settings.calls, self.settings.tools.to(self.target.id))
        trace = Trace()
        try:
            bounds = LoopBounds(self.settings.max_turns)
            done = await converse_with(chat, tools, self.settings.system, self.case.prompt, bounds)
            trace = self._written(done.trace)
            scored = await self._scored(tools, trace, chat.recording)
        except BrokeOffError as broke:
            return self._broken(self._written(broke.trace), broke.error)
        except NoWorkspaceError as error:
            raise TrialBrokenError(trace, Cause.SANDBOX, str(error), begun=True) from error
        except SandboxError as error:
            raise await tools.broken(trace, error) from error
        return outcome_of(self.case, self.trial, scored)

    def _written(self, trace: Trace) -> Trace:
        """The trace as it is written down: with the tools' own names."""
        shown = [self.settings.tools.as_shown(message, self.target.id) for message in trace.messages]
        return keep(trace.model_copy(update={"messages": shown}))

    async def _scored(self, tools: ServerTools, trace: Trace, recording: Trace | None) -> ScoredTrial:
        failure = tools.failure
        return ScoredTrial(
            trace=trace,
            scored=score_calls(self.case, tools.attempts, self.settings.tools.own),
            answer=_answer(trace),
            replayed=recording is not None,
            why_none=f"the server failed: {failure}" if failure is not None else "",
            failure=failure.reason if failure is not None else "",
            checks=await self._state(failed=failure is not None),
            diverged_at=first_divergence(recording.tool_calls, trace.tool_calls) if recording is not None else None,
            refused=self.session.refused,
            list_changed=self.session.traffic.list_changed,
        )

    async def _state(self, *, failed: bool) -> Sequence[CheckResult]:
        script = self.case.task.state
        if script is None:
            return ()
        if failed:
            return [CheckResult(check=STATE, passed=False, detail="the server failed before")]
        return [await check_state(self.session, script, self.settings.timeout_s)]

    def _broken(self, trace: Trace, error: Exception) -> TrialOutcome:
        ours = blameless(trace, error)
        if ours is not None:
            raise ours from error
        return unreadable_outcome(self.case, self.trial, trace, error, self.settings.tools.own)


def _answer(trace: Trace) -> str:
    """What was said at the end; nothing where the conversation was ended before."""
    last = trace.messages[-1] if trace.messages else None
    return clean_text(last.text).strip() if last is not None and last.role == "assistant" else ""
