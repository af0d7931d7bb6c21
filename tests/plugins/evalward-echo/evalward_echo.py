"""A target of a third party: `echo:TEXT` answers everything with a text, `echo` with what it was asked."""

from __future__ import annotations

from evalward.records.case import Case
from evalward.records.target_id import TargetId
from evalward.records.trace import Message, Text, Trace, Turn, Usage
from evalward.targets.base import Chat, Free, Reply, Request
from evalward.targets.context import TargetContext


class EchoChat:
    """One conversation."""

    recording: Trace | None = None

    def __init__(self, text: str) -> None:
        self._text = text

    async def send(self, request: Request) -> Reply:
        """The text, at once."""
        answer = Message(role="assistant", content=[Text(text=self._text or request.messages[-1].text)])
        return Reply(answer, Turn(usage=Usage(input_tokens=0, output_tokens=0, cost_usd=0.0), stop="end"))


class Echo(Free):
    """The target."""

    random = False

    def __init__(self, asked: TargetId) -> None:
        self.id, self._text = asked.text, asked.name
        self.subject = {"echo": "1.0"}

    def open(self, case: Case, trial: int) -> Chat:
        """A chat of its own for each trial."""
        return EchoChat(self._text)


def make(asked: TargetId, context: TargetContext) -> Echo:
    """The target of an id."""
    return Echo(asked)
