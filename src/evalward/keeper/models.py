"""The providers' models, asked with our keys: by chats for the runner, and through the proxy for its agents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from socket import socket
from typing import TYPE_CHECKING

from evalward.config.model import Config
from evalward.keeper.batch_office import BatchOffice, NotBatchedError
from evalward.keeper.proxy import Allowance, Proxy, TrialAccount
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import target_id
from evalward.targets.asking import AgentBounds, AgentRequests, ModelDoor
from evalward.targets.base import Reply, Request
from evalward.targets.failures import Cause, TargetError
from evalward.targets.limiter import Limiters
from evalward.targets.models.common import LiveTarget, target_error
from evalward.targets.models.faults import Fault
from evalward.targets.models.protocol import protocol_of
from evalward.targets.models.settings import Secret, settings_of
from evalward.targets.prices import Price
from evalward.targets.purse import Purse
from evalward.targets.pursed import PursedChat

if TYPE_CHECKING:
    from evalward.keeper.batches import TargetBatches


def live_target(
    provider: str, model: str, config: Config, env: Mapping[str, str], limiters: Limiters | None = None
) -> LiveTarget:
    """A model that we ask ourselves. `env` is where its key is looked up, and nowhere else.

    `limiters` are shared by all models of a run; without them the target has its own.
    """
    settings = settings_of(config, provider, model)
    limiter = (limiters or Limiters()).of(provider, settings.concurrency)
    return LiveTarget(settings, env, limiter, protocol_of(provider).wire)


class ModelKeeper:
    """All models of an invocation: by the configuration that may say where keys go, with the keys of `env`.

    Belongs to one event loop between two calls of `close`.
    """

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        purse: Purse | None = None,
        office: BatchOffice | None = None,
    ) -> None:
        """With an `office` requests go in batches where their provider has them."""
        self._config, self._env, self._office = config, env, office
        self.batched = office is not None
        self._limiters = Limiters()
        self._purse = purse or Purse(config.budget_usd, config.budget_tokens)  # one for all that the invocation asks
        self._targets: dict[tuple[str, str], LiveTarget] = {}
        self._proxies: dict[str, Proxy] = {}
        self._batches: dict[str, TargetBatches | None] = {}

    def unlock(self) -> None:
        """The planned trials are done: what was kept of the budget for the confirm stage may be used."""
        self._purse.unlock()

    def prepare(self, names: Sequence[str]) -> None:
        """Import the SDKs of these models, `provider/name`, and make their clients."""
        for name in names:
            asked = target_id(name)
            if asked.form == "model" and asked.model:
                self._target(asked.provider, asked.model).prepare()

    async def ask(self, provider: str, model: str, request: Request, trial: str = "") -> Reply:
        """One answer. Raises `TargetError` after the retries. `trial` is who asks, for what batches answer."""
        self._refuse_unknown(f"{provider}/{model}", provider)
        target = self._target(provider, model)
        batches = self._batches_of(target) if self._office is not None else None
        if batches is not None:
            from evalward.keeper.batches import BatchedChat, half_price  # noqa: PLC0415 - few runs can wait

            try:
                chat = BatchedChat(batches, trial)
                return await PursedChat(chat, half_price(target.settings), self._purse).send(request)
            except NotBatchedError:
                pass
        return await PursedChat(target.open(_NO_CASE, 1), target.settings, self._purse).send(request)

    def all_wait(self) -> None:
        """All trials that are under way wait for an answer: what is gathered is sent."""
        for batches in self._batches.values():
            if batches is not None:
                batches.all_wait()

    def _batches_of(self, target: LiveTarget) -> TargetBatches | None:
        """The batches of a model; `None` where its provider has none, or there is no key to ask with."""
        if target.id not in self._batches:
            from evalward.keeper.batches import batches_of  # noqa: PLC0415

            self._batches[target.id] = batches_of(target, self._office) if self._office is not None else None
        return self._batches[target.id]

    @asynccontextmanager
    async def door(
        self, target: str, provider: str, model: str, bounds: AgentBounds, listener: socket | None
    ) -> AsyncIterator[ModelDoor]:
        """An allowance for one trial of an agent. Raises `TargetError` where there is no key that can be used."""
        self._refuse_unknown(target, provider)
        settings = settings_of(self._config, provider, model)
        key = Secret(self._env.get(settings.key_env, "") if settings.key_env else "")
        if settings.key_env and not key:
            raise target_error(Fault(Cause.KEY, f"{settings.key_env} is not set"), settings, key, target)
        if not key.usable:
            raise target_error(
                Fault(Cause.KEY, f"{settings.key_env} has characters that are not allowed in a key"),
                settings,
                key,
                target,
            )
        proxy = self._proxies.setdefault(provider, Proxy(self._limiters.of(provider, settings.concurrency)))
        await proxy.start()
        allowance = Allowance(bounds.turns, bounds.tokens, bounds.usd)
        account = TrialAccount(settings, key, self._price_of(provider), allowance, bounds.pinned, self._purse)
        proxy.open(account)
        try:
            async with AsyncExitStack() as stack:
                url = proxy.url if listener is None else await stack.enter_async_context(proxy.also_on(listener))
                yield _Opened(url, account.token, proxy, account, target)
        finally:
            proxy.end(account)

    async def close(self) -> None:
        """End all connections; both can be opened again."""
        for proxy in self._proxies.values():
            await proxy.close()
        while self._batches:
            batches = self._batches.popitem()[1]
            if batches is not None:
                await batches.close()
        for target in self._targets.values():
            await target.close()

    def _target(self, provider: str, model: str) -> LiveTarget:
        key = (provider, model)
        if key not in self._targets:
            self._targets[key] = live_target(provider, model, self._config, self._env, self._limiters)
        return self._targets[key]

    def _refuse_unknown(self, target: str, provider: str) -> None:
        if provider not in PROVIDERS:
            raise TargetError(Cause.MODEL_NOT_FOUND, f"there is no provider {provider!r}", target=target)

    def _price_of(self, provider: str) -> Callable[[str], Price | None]:
        """The price of any model of a provider."""
        return lambda model: settings_of(self._config, provider, model).price


@dataclass(frozen=True)
class _Opened:
    """An open door."""

    url: str
    token: str
    proxy: Proxy
    account: TrialAccount
    target: str

    async def settled(self) -> AgentRequests:
        """Wait until what is under way is counted; then the door is shut."""
        account = self.account
        await self.proxy.settled(account)
        fault = account.ended_by if account.limit is None else None
        ended_by = None if fault is None else target_error(fault, account.settings, account.key, self.target)
        if account.starved is not None:
            ended_by = TargetError(Cause.BUDGET, account.starved, target=self.target)
        refused = account.refused
        refusal = None if refused is None else target_error(refused, account.settings, account.key, self.target).message
        return AgentRequests(list(account.answers), account.limit, ended_by, refusal)


_NO_CASE = Case(id="", category="", definition="", place=Place(file=""))  # a model sees the conversation alone
