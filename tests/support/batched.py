"""A keeper whose requests go in batches, against the local model server; its clock moves when it sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalward.config.batch import Batch
from evalward.keeper.batch_ledger import BatchLedger
from evalward.keeper.batch_office import BatchOffice
from evalward.keeper.batches import QUIET_S
from evalward.keeper.models import ModelKeeper
from evalward.keeper.outputs import OutputFolder
from evalward.records.trace import Message, Text
from evalward.targets.base import Reply, Request
from evalward.targets.purse import Purse
from evalward.targets.retry import Timing
from support.live import MODELS, PRICE, VARIABLE, live_config
from support.model_server import KEY, Answer, BatchRules, Conversation, Fault, ModelServer, Script, Tokens

TOKENS = Tokens(input=1000, output=100)
LIVE_USD = (1000 * PRICE["input"] + 100 * PRICE["output"]) / 1e6
ECHO = Script(default=(Answer(text="live and well", tokens=TOKENS),))


def question(text: str) -> Request:
    """A request of one message."""
    return Request("Be short.", (Message(role="user", content=[Text(text=text)]),))


def answering(*texts: str) -> Script:
    """A model that answers each of these questions with `re: ` and the question."""
    return Script(tuple(Conversation(text, (Answer(text=f"re: {text}", tokens=TOKENS),)) for text in texts))


@dataclass
class BatchTime:
    """A clock that moves when somebody sleeps. Sleeping until all is quiet lasts until `quiet` is set; while it is
    `stopped`, every sleep lasts for ever.
    """

    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: bool = False

    async def sleep(self, seconds: float) -> None:
        if seconds == QUIET_S and not self.quiet.is_set():
            await self.quiet.wait()
        if self.stopped:
            await asyncio.Event().wait()
        self.slept.append(seconds)
        self.now += seconds

    def timing(self) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, uniform=lambda _, high: high)


@dataclass
class Batched:
    """A keeper and what it said."""

    keeper: ModelKeeper
    provider: str
    time: BatchTime
    said: list[str]

    @property
    def model(self) -> str:
        return MODELS[self.provider]

    async def ask(self, text: str, trial: str = "") -> Reply:
        """One answer, of a trial that is called as the question unless it has a name."""
        return await self.keeper.ask(self.provider, self.model, question(text), trial or text)

    async def ask_all(self, texts: Sequence[str], trials: Sequence[str] = ()) -> list[Any]:
        """The answers to these questions, or what they met: asked together, and all wait."""
        names = trials or texts
        asked = [asyncio.ensure_future(self.ask(*each)) for each in zip(texts, names, strict=True)]
        await asyncio.sleep(0)
        self.keeper.all_wait()
        return await asyncio.gather(*asked, return_exceptions=True)


@asynccontextmanager
async def batched(
    server: ModelServer,
    folder: Path,
    provider: str = "anthropic",
    *,
    terms: Batch | None = None,
    resume: bool = False,
    purse: Purse | None = None,
    **settings: Any,
) -> AsyncIterator[Batched]:
    """A keeper of its own, closed in the end."""
    model = MODELS[provider]
    url = server.messages_url if provider == "anthropic" else server.openai_url
    given = {"base_url": url, "key_env": VARIABLE, "prices": {model: PRICE}, **settings}
    config = live_config([f"{provider}/{model}"], {provider: given}).config
    output, time, said = OutputFolder.open(folder), BatchTime(), list[str]()
    ledger = BatchLedger(lambda: output, resume)
    office = BatchOffice(terms or Batch(), ledger, said.append, lambda: "2026-11-23T08:00:00Z", time.timing())
    keeper = ModelKeeper(config, {VARIABLE: KEY}, purse, office)
    try:
        yield Batched(keeper, provider, time, said)
    finally:
        await keeper.close()


def batch_server(script: Script = ECHO, *, faults: Sequence[Fault] = (), **rules: Any) -> ModelServer:
    """A server whose batches go by these rules."""
    return ModelServer(script, faults=faults, batches=BatchRules(**rules))


def bought(server: ModelServer) -> list[int]:
    """How many requests each batch had."""
    return [len(batch.lines) for batch in server.batches.made.values()]


def live_requests(server: ModelServer) -> int:
    """How many requests came by themselves."""
    return sum("batches" not in logged.path for logged in server.requests)
