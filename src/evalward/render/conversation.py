"""One trial as people read it: what was asked, what was said and called, what it cost. Plain text, not yet escaped.

The terminal and the HTML page show it in the same order; both take it from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evalward.records.result import CheckResult, Status
from evalward.records.sections import TrialSection
from evalward.records.trace import Usage

Voice = Literal["system", "tool", "user", "assistant", "thinking"]
"""Whose words: the system prompt, the tool's description, the task, the model's, its thinking where it was kept."""


@dataclass(frozen=True)
class Said:
    """Words in a conversation."""

    voice: Voice
    text: str


@dataclass(frozen=True)
class Called:
    """A tool call and what it gave. `exit_code` and `duration_ms` are `None` where they aren't known.

    `cut`: characters that weren't kept. `ran` is false where nothing was executed. `answer` is what the model read,
    where the trace has no output apart from it.
    """

    tool: str
    command: str
    stdout: str = ""
    stderr: str = ""
    answer: str = ""
    exit_code: int | None = None
    duration_ms: int | None = None
    cut: int = 0
    ran: bool = True


@dataclass(frozen=True)
class TurnEnd:
    """The end of one round trip to the model: which one, what it used, why it stopped, how long it took."""

    number: int
    usage: Usage
    stop: str
    model: str | None
    wall_ms: int


Step = Said | Called | TurnEnd


@dataclass(frozen=True)
class TrialView:
    """One trial. `missing` says why there is no conversation to show; `before`: of the baseline's side."""

    suite: str
    target: str
    case: str
    category: str
    trial: int
    status: Status
    score: str
    reason: str
    message: str
    checks: list[CheckResult]
    usage: Usage
    judge_usage: Usage | None
    duration_ms: int
    steps: list[Step] = field(default_factory=list)
    sections: list[TrialSection] = field(default_factory=list)
    missing: str = ""
    before: bool = False
