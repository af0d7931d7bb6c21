"""A model that an agent may ask: settings, key, prices, and the proxy that stands before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from evalward.config import Config
from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.proxy import Account, Allowance, Proxy
from evalward.targets.base import TrialSkippedError
from evalward.targets.failures import Cause, TargetError
from evalward.targets.limiter import Limiters
from evalward.targets.models.common import told
from evalward.targets.models.faults import Fault
from evalward.targets.models.settings import Secret, Settings, settings_of
from evalward.targets.prices import Price
from evalward.targets.purse import Purse


@dataclass(frozen=True)
class Link:
    """What an agent needs to ask its model. `url` is without a path; `token` is worth something for one trial."""

    provider: str
    model: str
    url: str
    token: str

    @property
    def openai_url(self) -> str:
        """The base URL as OpenAI's clients take it."""
        return f"{self.url}/v1"


class ModelAccess:
    """One model for all trials of an agent. `target` is the agent's id, for messages; `purse` the invocation's."""

    def __init__(
        self,
        target: str,
        config: Config,
        env: Mapping[str, str],
        limiters: Limiters,
        name: tuple[str, str],
        *,
        pinned: bool,
        purse: Purse | None = None,
    ) -> None:
        self.settings: Settings = settings_of(config, *name)
        self.key = Secret(env.get(self.settings.key_env, "") if self.settings.key_env else "")
        self.limiter = limiters.of(self.settings.provider, self.settings.concurrency)
        self._target, self._config, self._pinned, self._purse = target, config, pinned, purse
        self._proxy = Proxy(self.limiter)

    @property
    def missing_key(self) -> str | None:
        """The variable that should hold the key and is not set."""
        return self.settings.key_env if not self.key else None

    def price(self, model: str) -> Price | None:
        """The price of any model of the provider."""
        return settings_of(self._config, self.settings.provider, model).price

    def error(self, fault: Fault) -> TargetError:
        """A fault in words for people."""
        return told(fault, self.settings, self.key, self._target)

    def starved(self, message: str) -> TargetError:
        """That the invocation's purse could not pay the agent's request."""
        return TargetError(Cause.BUDGET, message, target=self._target)

    @asynccontextmanager
    async def opened(self, job: AgentJob) -> AsyncIterator[tuple[Link, Account]]:
        """An account for one trial; at the end its last requests are counted.

        Raises `TargetError` without a key, `TrialSkippedError` when a dollar budget has no price to be kept by.
        """
        if self.missing_key:
            raise self.error(Fault(Cause.KEY, f"{self.missing_key} is not set"))
        if not self.key.usable:
            raise self.error(Fault(Cause.KEY, f"{self.settings.key_env} holds characters that no key has"))
        if job.budget_usd is not None and self.settings.price is None:
            raise TrialSkippedError("budget", f"the price of {self._target} is unknown, so cost.max_usd can't be kept")
        await self._proxy.start()
        allowance = Allowance(job.max_turns, job.budget_tokens, job.budget_usd)
        account = Account(self.settings, self.key, self.price, allowance, self._pinned, self._purse)
        self._proxy.open(account)
        try:
            async with AsyncExitStack() as stack:
                url = self._proxy.url
                if job.listener is not None:
                    url = await stack.enter_async_context(self._proxy.also_on(await job.listener()))
                yield Link(self.settings.provider, self.settings.model, url, account.token), account
                await self._proxy.settled(account)
        finally:
            self._proxy.end(account)

    async def close(self) -> None:
        """End the proxy."""
        await self._proxy.close()
