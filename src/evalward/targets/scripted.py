"""Targets that answer from what the case itself says: `oracle` gives the reference solution, `nop` does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.case import Case
from evalward.records.problem import Problem
from evalward.records.target_id import TargetId
from evalward.records.trace import Message, Text, Trace, Turn
from evalward.targets.base import (
    NO_MODEL,
    Chat,
    Evaluated,
    Free,
    Reply,
    Request,
    TrialSkippedError,
    without_solution,
)
from evalward.targets.context import TargetContext


class ScriptedChat:
    """Sends given messages, one a turn; when they are used up, it stops."""

    recording: Trace | None = None

    def __init__(self, messages: Sequence[Message]) -> None:
        self._rest = list(messages)

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - a script doesn't listen
        """The next message; the turn ends the conversation when it uses no tool."""
        message = self._rest.pop(0) if self._rest else Message(role="assistant", content=[Text(text="Done.")])
        return Reply(message, Turn(usage=NO_MODEL, stop="tool_use" if message.tool_uses else "end"))


class Oracle(Free):
    """The case's own reference solution: what a perfect target would get."""

    id = "oracle"
    random = False
    subject: Mapping[str, str] = {}

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - every trial is the same
        """A chat that plays the reference solution."""
        messages = case.reference()
        if not messages:
            raise TrialSkippedError("no_solution", "the case has no reference solution")
        return ScriptedChat(messages)

    def lacking(self, cases: Sequence[Case]) -> Sequence[Problem]:
        """The cases without a reference solution."""
        return without_solution(self.id, cases)

    def unused(self, cases: Sequence[Case]) -> Sequence[str]:  # noqa: ARG002 - a solution belongs to its case
        """Nothing."""
        return []


class Nop(Free):
    """Does nothing: what a suite gives away for free."""

    id = "nop"
    random = False
    subject: Mapping[str, str] = {}

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - every case and trial is the same
        """A chat that says that it is done."""
        return ScriptedChat([])


def oracle(asked: TargetId, context: TargetContext) -> Evaluated:  # noqa: ARG001 - it has no name
    """The target `oracle`: an agent where agents work."""
    if not context.agents_work:
        return Oracle()
    from evalward.targets.agents.scripted import OracleAgent  # noqa: PLC0415 - each target costs only who uses it

    return OracleAgent()


def nop(asked: TargetId, context: TargetContext) -> Evaluated:  # noqa: ARG001
    """The target `nop`: an agent where agents work."""
    if not context.agents_work:
        return Nop()
    from evalward.targets.agents.scripted import NopAgent  # noqa: PLC0415

    return NopAgent()
