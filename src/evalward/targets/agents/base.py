"""What every agent has in common: a job in a place, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from socket import socket
from typing import Literal, Protocol

from msgspec import Struct, field
from typing_extensions import TypeIs

from evalward.records.case import Case
from evalward.records.trace import Trace
from evalward.sandbox import base as sandbox
from evalward.targets.base import Evaluated

Claim = str | int | float | bool | None
Limit = Literal["turns", "tokens", "usd", "memory", "disk"]


class EndedAgent(sandbox.EndedCommand, Protocol):
    """How an agent's command ended. Texts are whole, as far as the place keeps them."""

    @property
    def duration_ms(self) -> int:
        """By the clock."""
        ...

    @property
    def exceeded(self) -> Literal["memory", "disk"] | None:
        """What it used up, and was ended for with everything else in its place."""
        ...

    @property
    def dropped_bytes(self) -> int:
        """Output beyond the limit, which nobody kept."""
        ...


class AgentPlace(Protocol):
    """Where an agent works: an isolated copy of a fixture, with a private HOME."""

    @property
    def folder(self) -> Path:
        """The copy of the fixture."""
        ...

    @property
    def home(self) -> Path:
        """The agent's HOME."""
        ...

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] = {},
        cwd: str = ".",
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> EndedAgent:
        """Run a command with this environment, beside PATH, HOME, TMPDIR and LANG."""
        ...


class AgentJob(Struct, frozen=True):
    """What an agent is to do, and where. `env` is what the scenario's target wants.

    `listener` makes a socket that listens where the agent is, `None` where that is our own loopback interface.
    `max_turns`, `budget_tokens` (read and written) and `budget_usd` bind agents whose model is asked through the proxy.
    """

    prompt: str
    workspace: AgentPlace
    timeout_s: float
    env: Mapping[str, str] = field(default_factory=dict)
    max_turns: int | None = None
    system: str | None = None
    budget_tokens: int | None = None
    budget_usd: float | None = None
    listener: Callable[[], Awaitable[socket]] | None = None


class AgentRun(Struct, frozen=True):
    """What came of it. `transcript` is the output as it came: hostile text, like the whole trace.

    `exit_code` is `None` when the time was up. `claims` is what the agent itself says about cost and turns; what we
    count stands in the trace. `limit` is the limit of ours that ended it. `structured`: the agent told its commands;
    else the transcript is all there is. `skipped` are lines of its output that can't be read.
    `recording` is what was repeated, where that is all it did. `refused`: the agent's own last request to its model was
    refused, with these words. `api_error`: the agent ended with a fault at its model, in its own words.
    `lacking`: a program that the agent needs and that isn't where it works.
    """

    trace: Trace
    transcript: str
    exit_code: int | None
    timed_out: bool = False
    claims: Mapping[str, Claim] = field(default_factory=dict)
    limit: Limit | None = None
    structured: bool = True
    skipped: int = 0
    recording: Trace | None = None
    refused: str | None = None
    api_error: str | None = None
    lacking: str | None = None

    @property
    def completed(self) -> bool:
        """Whether the agent came to an end of its own, and a good one."""
        return self.exit_code == 0 and not self.timed_out


class Worker(Protocol):
    """One who does a job by itself, as far as the place of the job has to know."""

    @property
    def id(self) -> str:
        """As reports call it."""
        ...

    @property
    def readable(self) -> Sequence[Path]:
        """What it is installed in, where that isn't with the system's programs: its place has to show it."""
        ...

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """Do the job. Raises `TrialSkippedError` when it can't do this case.

        What goes wrong before it begins is a `TargetError` or `SandboxError`; from then on a `BrokeOffError`.
        """
        ...


class Agent(Evaluated, Worker, Protocol):
    """One who works by itself, evaluated by scenarios."""


def works(target: Evaluated) -> TypeIs[Agent]:
    """Whether it works by itself."""
    return callable(getattr(target, "work", None))
