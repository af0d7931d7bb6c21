"""The tools of a server in a conversation: each call of a model is judged by itself, and executed by the server."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.trace import ToolCall, ToolResult, ToolUse, Trace
from evalward.sandbox.base import SandboxError, cut
from evalward.suites.base import TrialBrokenError
from evalward.suites.loop import USAGE_ERROR, UsedTool
from evalward.suites.mcp.call_reader import CallReader
from evalward.suites.mcp.details import AttemptedCall
from evalward.suites.mcp.provider_rules import Offer
from evalward.suites.mcp.server.contents import BAD_ANSWER, CallOutcome
from evalward.suites.mcp.server.failures import ServerAnswerError, ServerError
from evalward.suites.mcp.server.session import ServerSession
from evalward.targets.base import BrokeOffError, ToolSpec
from evalward.targets.failures import Cause

ELSEWHERE = "this tool's server is not running"
_FAILED = 1
"""The exit code of a call that ended in an error."""


class ServerTools:
    """See `suites.loop.Toolbox`. `attempts` are all calls so far, `failure` is why the server can't be used on."""

    def __init__(self, session: ServerSession, calls: CallReader, offer: Offer) -> None:
        self._session, self._calls, self._offer = session, calls, offer
        self.attempts: list[AttemptedCall] = []
        self.failure: ServerError | None = None

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """What the model is offered."""
        return self._offer.tools

    async def use(self, use: ToolUse) -> UsedTool:
        """Execute a call of a tool of the server; others are answered with why they can't be."""
        own = use.model_copy(update={"input": self._offer.own_keys(use.name, use.input)})
        attempt, written = self._calls.attempt(own), self._calls.text(own)
        why_not = self._why_not(attempt)
        if why_not:
            self.attempts.append(attempt)
            call = ToolCall(commands=written, stderr=why_not, exit_code=USAGE_ERROR, ran=False)
            return UsedTool(ToolResult(tool_use_id=use.id, content=why_not, is_error=True), call)
        return await self._executed(use, attempt, written)

    def _why_not(self, attempt: AttemptedCall) -> str:
        """Why a call is not sent, as the model reads it; empty for one that is."""
        if self.failure is not None:
            return str(self.failure)
        if not attempt.known or attempt.arguments is None:
            return attempt.why
        return "" if self._calls.is_own(attempt) else ELSEWHERE

    async def _executed(self, use: ToolUse, attempt: AttemptedCall, written: str) -> UsedTool:
        try:
            outcome = await self._session.call(attempt.tool, attempt.arguments or {})
        except ServerError as error:
            self.failure = error
            outcome = CallOutcome(str(error), is_error=True, why=error.reason)
        if outcome.why == BAD_ANSWER:
            said = f"its answer to {attempt.tool!r} is not the result of a call: {outcome.text}"
            self.failure = ServerAnswerError(said)
        failed = outcome.is_error
        why = cut(outcome.text, 500) if failed else attempt.why
        self.attempts.append(attempt.model_copy(update={"executed": True, "error": failed, "why": why}))
        text = cut(outcome.text)
        call = ToolCall(
            commands=written,
            stdout="" if failed else text,
            stderr=text if failed else "",
            exit_code=_FAILED if failed else 0,
            duration_ms=outcome.duration_ms,
        )
        result = ToolResult(tool_use_id=use.id, content=text, is_error=failed)
        return UsedTool(result, call, over=self.failure is not None)

    async def broken(self, trace: Trace, error: SandboxError) -> TrialBrokenError | BrokeOffError:
        """The server's sandbox was ended by nothing that the server did."""
        return TrialBrokenError(trace, Cause.SANDBOX, str(error), begun=True)
