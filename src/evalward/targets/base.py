"""What every target has in common: it opens one chat per trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field
from typing_extensions import TypeIs

from evalward.records.base import why_of
from evalward.records.case import Case
from evalward.records.problem import Problem
from evalward.records.trace import Message, Trace, Turn, Usage

NO_MODEL = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
"""The usage of turns that no model was asked for."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it. `input_schema` is JSON Schema."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


MostTokens = Annotated[int, Field(ge=1, le=1_000_000_000)]
Temperature = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
TopP = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""Bounds that hold wherever a request is read: what comes over the wire may be anything."""


ConversationPart = Literal["alone", "more", "last"]


@dataclass(frozen=True)
class Request:
    """What a model is asked in one turn: the conversation so far and the tools that it may use.

    `output_schema`: the answer has to be JSON of this schema, enforced by the provider's own means. It has closed
    objects with every property required and no bounds, which is what all providers accept. `max_tokens` bounds the
    answer within what the configuration allows; `temperature` and `top_p` are sent to models that take them.

    `part` says whether a provider's cache of this conversation would be read: one that stands "alone" is not gone on
    with, after "more" the next request may hold all of it, and the "last" one goes on with what was asked before.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    output_schema: Mapping[str, Any] | None = None
    max_tokens: MostTokens | None = None
    temperature: Temperature | None = None
    top_p: TopP | None = None
    part: ConversationPart = "alone"


@dataclass(frozen=True)
class Reply:
    """What came back in one turn."""

    message: Message
    turn: Turn


class TrialSkippedError(Exception):
    """This target can't do this trial: no recording of it, no reference solution. Counted as missing."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message
        super().__init__(message)


class BrokeOffError(Exception):
    """A target that had begun, and whose trial did not come to an end that can be read.

    `trace` is what is known of it, `error` what happened. Unless it is a provider's or the harness's fault, it is the
    target's own: nothing that it does, prints or leaves may make its failure nobody's.
    """

    def __init__(self, trace: Trace, error: Exception) -> None:
        self.trace, self.error = trace, error
        super().__init__(why_of(error))


class NoAnswerError(Exception):
    """The target itself gave no answer that can be used: a program that failed. Its own doing, unlike `TargetError`."""


class Free:
    """What targets have in common that ask nobody: no key, no cost, no connection."""

    priced = True
    missing_key: str | None = None
    at_once: int | None = None

    def prepare(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to give back."""


def in_batches(asked: object) -> bool:
    """Whether the requests of a target or its chat go in batches: for how long one waits says nothing about it."""
    return bool(getattr(asked, "in_batches", False))


class Chat(Protocol):
    """The conversation of one trial."""

    @property
    def recording(self) -> Trace | None:
        """What this conversation repeats, for replays; their tool answers are compared with it."""
        ...

    async def send(self, request: Request) -> Reply:
        """One round trip. Raises `TargetError` when there is no answer."""
        ...


class Evaluated(Protocol):
    """Who is evaluated: a target that one talks with, or an agent that works by itself."""

    @property
    def id(self) -> str:
        """How the configuration and every report call it."""
        ...

    @property
    def random(self) -> bool:
        """True when equal input can give other answers."""
        ...

    @property
    def subject(self) -> Mapping[str, str]:
        """What identifies the target beside its id: hash of the recording, settings of the model."""
        ...

    @property
    def priced(self) -> bool:
        """True when it is known what the answers cost, be it nothing: only then can a dollar budget hold."""
        ...

    @property
    def missing_key(self) -> str | None:
        """The environment variable that has to hold a key and doesn't; `None` when nothing is missing."""
        ...

    @property
    def at_once(self) -> int | None:
        """How many of its trials may be under way together; `None` where only this machine's processor counts."""
        ...

    def prepare(self) -> None:
        """Load what takes a while, before the clock of any trial runs. Trials do without it, too."""
        ...

    async def close(self) -> None:
        """Give back connections, at the end of the run. The target can be opened again."""
        ...


class Target(Evaluated, Protocol):
    """One whom somebody else's loop talks with: a model, or what stands in for one."""

    def open(self, case: Case, trial: int) -> Chat:
        """The chat for a trial. Raises `TrialSkippedError` when the target can't do it."""
        ...


class Answering(Protocol):
    """A target that knows beforehand which cases it can't do: what it answers is written down."""

    def lacking(self, cases: Sequence[Case]) -> Sequence[Problem]:
        """What is missing for cases of its suites that it can't do."""
        ...

    def unused(self, cases: Sequence[Case]) -> Sequence[str]:
        """What it has for no case: probably misspelt."""
        ...


def knows_answers(target: object) -> TypeIs[Answering]:
    """Whether a target can say beforehand which cases it can't do."""
    return callable(getattr(target, "lacking", None))


def without_solution(target: str, cases: Sequence[Case]) -> list[Problem]:
    """The mistake of each case that has no reference solution, under a target that gives nothing else."""
    message = f"the case has no reference solution, and the target {target} has nothing else to run"
    remedy = f"Write its solution, or remove {target} from the suite's targets."
    return [
        Problem(place=case.place, field=case.id, message=message, remedy=remedy) for case in cases if not case.solved
    ]


def talks(target: Evaluated) -> TypeIs[Target]:
    """Whether one can talk with it: the other kind of target works by itself."""
    return callable(getattr(target, "open", None))
