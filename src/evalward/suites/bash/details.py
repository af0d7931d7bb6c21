"""What a result of a bash trial says, beside status, score and usage."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evalward.records.base import Cleaned, Count, Record
from evalward.records.judge import JudgeOutcome
from evalward.records.result import Details


class FailedCall(Record):
    """A tool call that failed or wrote to standard error: its script and what it said, both cut."""

    command: Cleaned
    message: Cleaned = ""
    exit_code: int | None = None


class BashDetails(Details):
    """What the metrics of a `bash` trial need, beside score and usage.

    `diverged_at` is the first tool call (counted from 1) whose answer differs from the recording, and
    `deterministic` whether two executions gave the same: both for replays only. `failing_command` is the command to
    look at first when the trial failed. `failures` are the first calls that failed or wrote to standard error, also of
    trials that passed. `judgements` are the outcomes of the checks that a judge decides, in order.
    """

    kind: Literal["bash"] = "bash"
    tool_calls: Count = 0
    tool_calls_ok: Count = 0
    turns: Count = 0
    natural_stop: bool = False
    working_ms: Count = 0
    replayed: bool = False
    diverged_at: int | None = None
    deterministic: bool | None = None
    failing_command: str | None = None
    failing_stderr: str | None = None
    failures: list[FailedCall] = Field(default_factory=list)  # pydantic makes a deep copy of a default
    judgements: list[JudgeOutcome] = Field(default_factory=list)

    @property
    def requests(self) -> int:
        """One for each turn."""
        return self.turns

    def summary(self) -> BashDetails:
        """The part that a baseline keeps: numbers, no text."""
        without: dict[str, Any] = {"failing_command": None, "failing_stderr": None, "failures": [], "judgements": []}
        return self.model_copy(update=without)
