"""Who asks models for a run. Whoever runs the cases holds no key: it asks, and somebody else talks to the provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from socket import socket
from typing import Protocol

from msgspec import Struct

from evalward.records.case import Case
from evalward.records.trace import Message, Trace, Turn
from evalward.targets.agents.base import Limit
from evalward.targets.base import Chat, Reply, Request
from evalward.targets.failures import Cause, TargetError, key_words
from evalward.targets.models.settings import LiveSettings
from evalward.targets.under_way import MOST_BATCHED


class AgentBounds(Struct, frozen=True):
    """What one trial of an agent may ask: how many turns, tokens (read and written) and dollars; `None` is no limit.

    `pinned`: no other model than the target's own.
    """

    turns: int | None = None
    tokens: int | None = None
    usd: float | None = None
    pinned: bool = True


class AnsweredRequest(Struct, frozen=True):
    """One answered request of an agent. `main`: by the model that is evaluated, not by one that it asks beside it."""

    turn: Turn
    message: Message
    main: bool


class AgentRequests(Struct, frozen=True):
    """All that an agent asked in a trial: answers, the limit that ended it, the fault that its last request met.

    `refused` is what the provider said where it refused the last request as a bad one: the agent's own doing.
    """

    answers: Sequence[AnsweredRequest] = ()
    limit: Limit | None = None
    ended_by: TargetError | None = None
    refused: str | None = None

    @property
    def turns(self) -> list[Turn]:
        """Every answered request, in order."""
        return [answer.turn for answer in self.answers]


class ModelDoor(Protocol):
    """Where an agent asks its model during one trial."""

    @property
    def url(self) -> str:
        """The address, without a path."""
        ...

    @property
    def token(self) -> str:
        """What opens it: worth something for this trial alone."""
        ...

    async def settled(self) -> AgentRequests:
        """What was asked, when the agent has ended. Nothing can be asked after this."""
        ...


class Asker(Protocol):
    """Whoever talks to the providers. `batched`: requests go in batches, which take hours."""

    batched: bool

    def prepare(self, names: Sequence[str]) -> None:
        """Load what these models (`provider/name`) need, before the clock of any trial runs."""
        ...

    async def ask(self, provider: str, model: str, request: Request) -> Reply:
        """One answer. Raises `TargetError` after the retries."""
        ...

    def door(
        self, target: str, provider: str, model: str, bounds: AgentBounds, listener: socket | None
    ) -> AbstractAsyncContextManager[ModelDoor]:
        """An allowance for one trial of the agent `target`; `listener` is where it can connect, `None` our loopback.

        Raises `TargetError` where there is no key that can be used.
        """
        ...

    async def close(self) -> None:
        """Give back connections, at the end of a run; all can be opened again."""
        ...


class NoAsker:
    """Nobody: for whoever only wants to know what would be asked."""

    batched = False

    def prepare(self, names: Sequence[str]) -> None:
        """Nothing to load."""

    async def ask(self, provider: str, model: str, request: Request) -> Reply:  # noqa: ARG002 - nobody is asked
        """Raises `TargetError`."""
        raise _no_key(f"{provider}/{model}", provider, model, "")

    def door(
        self,
        target: str,
        provider: str,
        model: str,
        bounds: AgentBounds,  # noqa: ARG002 - there is no door
        listener: socket | None,  # noqa: ARG002
    ) -> AbstractAsyncContextManager[ModelDoor]:
        """Raises `TargetError`."""
        raise _no_key(target, provider, model, "")

    async def close(self) -> None:
        """Nothing is open."""


class AskedTarget:
    """A model that somebody else asks for us. `env` says which keys are there; their values are of no use here."""

    random = True

    def __init__(self, settings: LiveSettings, env: Mapping[str, str], asker: Asker) -> None:
        self.settings, self._asker = settings, asker
        self._there = not settings.key_env or bool(env.get(settings.key_env, "").strip())

    @property
    def id(self) -> str:
        """`provider/model`."""
        return self.settings.id

    @property
    def subject(self) -> Mapping[str, str]:
        """Model, host and settings."""
        return self.settings.subject

    @property
    def priced(self) -> bool:
        """True when the model's price is known."""
        return self.settings.price is not None

    @property
    def missing_key(self) -> str | None:
        """The variable that should hold the key and is not set."""
        return None if self._there else self.settings.key_env

    @property
    def at_once(self) -> int:
        """As many as the provider's places: further trials would only stand in line, begun but not going on.

        In batches there are no places, and the more of them are under way the more go in one.
        """
        return MOST_BATCHED if self._asker.batched else self.settings.concurrency

    @property
    def in_batches(self) -> bool:
        """Whether its requests go in batches."""
        return self._asker.batched

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - a model sees the conversation, not the case
        """A chat with the model. Where the key is missing its first answer is the `TargetError`."""
        return AskedChat(self.settings, self._asker, missing=self.missing_key)

    def prepare(self) -> None:
        """Have whoever asks make ready, where there is a key to ask with."""
        if self._there:
            self._asker.prepare([self.id])

    async def close(self) -> None:
        """Give back connections."""
        await self._asker.close()


class AskedChat:
    """The conversation of one trial with a model."""

    recording: Trace | None = None

    def __init__(self, settings: LiveSettings, asker: Asker, *, missing: str | None) -> None:
        self._settings, self._asker, self._missing = settings, asker, missing
        self.in_batches = asker.batched

    async def send(self, request: Request) -> Reply:
        """One answer. Raises `TargetError` after the retries."""
        if self._missing is not None:
            raise _no_key(self._settings.id, self._settings.provider, self._settings.model, self._missing)
        return await self._asker.ask(self._settings.provider, self._settings.model, request)


def _no_key(target: str, provider: str, model: str, variable: str) -> TargetError:
    return TargetError(Cause.KEY, f"{key_words(provider, model, variable)} ({variable} is not set)", target=target)
