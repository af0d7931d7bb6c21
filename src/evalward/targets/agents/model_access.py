"""A model that an agent may ask: settings, prices, and the door to whoever asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from evalward.config import Config
from evalward.targets.agents.base import AgentJob
from evalward.targets.asking import AgentBounds, AgentRequests, Asker
from evalward.targets.base import TrialSkippedError
from evalward.targets.models.settings import LiveSettings, settings_of


@dataclass(frozen=True)
class ModelLink:
    """What an agent needs to ask its model. `url` is without a path; `token` is worth something for one trial."""

    provider: str
    model: str
    url: str
    token: str

    @property
    def openai_url(self) -> str:
        """The base URL as OpenAI's clients take it."""
        return f"{self.url}/v1"


@dataclass
class Visit:
    """One trial at the door: the link for the agent, and when it has ended, all that it asked."""

    link: ModelLink
    asked: AgentRequests = field(default_factory=AgentRequests)


class ModelAccess:
    """One model for all trials of an agent. `target` is the agent's id, for messages."""

    def __init__(
        self,
        target: str,
        config: Config,
        env: Mapping[str, str],
        asker: Asker,
        name: tuple[str, str],
        *,
        pinned: bool,
    ) -> None:
        self.settings: LiveSettings = settings_of(config, *name)
        self._there = not self.settings.key_env or bool(env.get(self.settings.key_env, "").strip())
        self._target, self._asker, self._pinned = target, asker, pinned

    @property
    def missing_key(self) -> str | None:
        """The variable that should hold the key and is not set."""
        return None if self._there else self.settings.key_env

    async def close(self) -> None:
        """Give back connections."""
        await self._asker.close()

    @asynccontextmanager
    async def opened(self, job: AgentJob) -> AsyncIterator[Visit]:
        """A visit for one trial; at its end its last requests are counted.

        Raises `TargetError` without a key, `TrialSkippedError` when a dollar budget has no price to be kept by.
        """
        if job.budget_usd is not None and self.settings.price is None:
            raise TrialSkippedError("budget", f"the price of {self._target} is unknown, so cost.max_usd can't be kept")
        bounds = AgentBounds(job.max_turns, job.budget_tokens, job.budget_usd, self._pinned)
        provider, model = self.settings.provider, self.settings.model
        listener = None if job.listener is None else await job.listener()
        async with self._asker.door(self._target, provider, model, bounds, listener) as door:
            visit = Visit(ModelLink(provider, model, door.url, door.token))
            yield visit
            visit.asked = await door.settled()
