"""Requests that can wait: gathered until all trials wait, sent as a batch, answered when the provider has done it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace

from msgspec import structs
from pydantic_core import to_json

from evalward.keeper.batch_office import BatchOffice, NotBatchedError
from evalward.keeper.batch_run import Answers, BatchRun
from evalward.records.batch import SentBatch
from evalward.records.trace import BATCH_SHARE, Trace, Usage
from evalward.targets.base import Reply, Request
from evalward.targets.failures import Cause, TargetError
from evalward.targets.models.batching import BatchApi, BatchLine, BatchOutcome
from evalward.targets.models.common import LiveTarget, stop_reply
from evalward.targets.models.faults import Fault, fault_of
from evalward.targets.models.protocol import protocol_of
from evalward.targets.models.reading import reading
from evalward.targets.models.settings import LiveSettings
from evalward.targets.prices import Price, cost

MOST_REQUESTS, MOST_BYTES = 10_000, 100_000_000  # of one batch; both providers take more
QUIET_S = 30.0  # after which requests are sent though not all trials wait


def half_price(settings: LiveSettings) -> LiveSettings:
    """The settings with what a request costs in a batch: half of everything."""
    return replace(settings, price=None if settings.price is None else _halved(settings.price))


def _halved(price: Price) -> Price:
    return structs.replace(
        price,
        input=price.input * BATCH_SHARE,
        output=price.output * BATCH_SHARE,
        cache_read=None if price.cache_read is None else price.cache_read * BATCH_SHARE,
        cache_write=None if price.cache_write is None else price.cache_write * BATCH_SHARE,
    )


def batches_of(target: LiveTarget, office: BatchOffice) -> TargetBatches | None:
    """The batches of a model; `None` where its provider has none, or there is no key to ask with."""
    settings = replace(target.settings, stream=False)  # a batch streams nothing
    make = protocol_of(settings.provider).batches
    if make is None or target.missing_key or not target.key.usable:
        return None
    return TargetBatches(target, make(settings, target.key), office)


@dataclass(frozen=True)
class BatchedChat:
    """The conversation of one trial whose requests go in batches."""

    batches: TargetBatches
    trial: str
    recording: Trace | None = None

    async def send(self, request: Request) -> Reply:
        """One answer. Raises `TargetError`."""
        return await self.batches.ask(request, self.trial)


@dataclass
class _Gathering:
    """Requests that wait to be sent, by their ids."""

    lines: dict[str, BatchLine] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    size: int = 0

    @property
    def full(self) -> bool:
        return len(self.lines) >= MOST_REQUESTS or self.size >= MOST_BYTES


class TargetBatches:
    """The batches of one model."""

    def __init__(self, target: LiveTarget, api: BatchApi, office: BatchOffice) -> None:
        self._target, self._api, self._office = target, api, office
        self._price = half_price(target.settings).price
        self._gathering = _Gathering()
        self._quiet: asyncio.Task[None] | None = None
        self._numbers: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._earlier: Answers | None = None
        self._all_wait = False  # all trials that are under way, and none has had an answer since

    async def ask(self, request: Request, trial: str) -> Reply:
        """One answer, at half the price. `trial` tells equal requests of different trials apart.

        Raises `TargetError`; `NotBatchedError` where it is to be asked live.
        """
        body = self._api.body_of(request)
        written = to_json(body)
        digest = hashlib.sha256(written).hexdigest()
        custom_id = self._id_of(trial, digest)
        try:
            outcome = await self._bought(custom_id)
            if outcome is None:
                if self._target.dead is not None:
                    raise self._target.dead
                if self._office.left_s <= 0:
                    raise self._office.too_late(self._target.settings)
                outcome = await self._gathered(BatchLine(custom_id, body), digest, len(written))
        finally:
            self._all_wait = False  # this trial goes on
        return self._reply(outcome, len(request.messages))

    def all_wait(self) -> None:
        """All trials that are under way wait for an answer: what is gathered is sent, and at once what turns out not to
        have been bought by an earlier run.
        """
        self._all_wait = True
        self._send()

    def _send(self) -> None:
        """Send what is gathered."""
        gathered, self._gathering = self._gathering, _Gathering()
        if self._quiet is not None:
            self._quiet.cancel()
            self._quiet = None
        if gathered.lines:
            self._begin(self._sent(gathered), gathered.answers)

    async def close(self) -> None:
        """Give up waiting. Batches that are under way stay so, for whoever resumes."""
        if self._quiet is not None:
            self._quiet.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._api.close()

    # --- gathering --------------------------------------------------------------------------------------------------

    def _id_of(self, trial: str, digest: str) -> str:
        """An id that the same request of the same trial has in every run: what was bought is found by it."""
        name = hashlib.sha256(f"{self._target.id}\0{trial}\0{digest}".encode("utf-8", "replace")).hexdigest()[:40]
        self._numbers[name] += 1
        return f"{name}-{self._numbers[name]}"

    def _gathered(self, line: BatchLine, digest: str, size: int) -> Awaitable[BatchOutcome]:
        answer: asyncio.Future[BatchOutcome] = asyncio.get_running_loop().create_future()
        gathering = self._gathering
        gathering.lines[line.custom_id], gathering.answers[line.custom_id] = line, answer
        gathering.digests[line.custom_id] = digest
        gathering.size += size
        if gathering.full:
            self._send()
            return answer
        if self._quiet is None:
            self._quiet = asyncio.get_running_loop().create_task(self._send_when_quiet())
        if self._all_wait:
            asyncio.get_running_loop().call_soon(self._send_if_all_wait)  # with others that learn the same now
        return answer

    def _send_if_all_wait(self) -> None:
        if self._all_wait:
            self._send()

    async def _send_when_quiet(self) -> None:
        """Some trials work for long while others wait: those go on without them."""
        before = -1
        while len(self._gathering.lines) != before:
            before = len(self._gathering.lines)
            await self._office.timing.sleep(QUIET_S)
        self._quiet = None
        self._send()

    # --- batches that are under way ---------------------------------------------------------------------------------

    def _begin(self, work: Awaitable[None], answers: Answers) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(work, answers))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Awaitable[None], answers: Answers) -> None:
        """Do it; whoever is left without an answer then learns why."""
        error: TargetError = NotBatchedError(self._target.id)
        try:
            await work
            error = self._office.too_late(self._target.settings)
        except TargetError as failed:
            error = failed
        except Exception as failed:
            error = self._target.failed(fault_of(failed))
        finally:
            for answer in answers.values():
                if not answer.done():
                    answer.set_exception(error)
                    answer.exception()  # heard, also where nobody waits for it any more

    async def _sent(self, gathered: _Gathering) -> None:
        settings = self._target.settings
        self._office.begin()
        run = BatchRun(self._target, self._api, self._office)
        state = await run.submitted(list(gathered.lines.values()))
        self._office.ledger.keep(
            SentBatch(
                id=state.id,
                provider=settings.provider,
                model=settings.model,
                host=settings.subject["host"],
                sent_at=self._office.now(),
                requests=gathered.digests,
            )
        )
        self._office.sent(settings, state.id, len(gathered.lines))
        await run.followed(state, gathered.answers)

    async def _bought(self, custom_id: str) -> BatchOutcome | None:
        """What an earlier run has bought under this id, when its batch is done; `None` where there is nothing."""
        answer = self._of_earlier_run().pop(custom_id, None)
        if answer is None:
            return None
        try:
            return await answer
        except TargetError:  # it expired, or is gone: it was never paid for
            return None

    def _of_earlier_run(self) -> Answers:
        if self._earlier is None:
            self._earlier = {}
            settings = self._target.settings
            loop = asyncio.get_running_loop()
            for batch in self._office.ledger.earlier(settings.provider, settings.model, settings.subject["host"]):
                self._office.begin()
                answers: Answers = {custom_id: loop.create_future() for custom_id in batch.requests}
                self._earlier |= answers
                run = BatchRun(self._target, self._api, self._office)
                self._begin(run.resumed(batch, answers), answers)
        return self._earlier

    # --- answers ----------------------------------------------------------------------------------------------------

    def _reply(self, outcome: BatchOutcome, turn: int) -> Reply:
        fault = outcome.fault
        if outcome.answer is not None:
            try:
                with reading():
                    return self._priced(self._api.reply_of(outcome.answer, turn))
            except Exception as error:
                fault = fault_of(error)
        return self._failed(fault or Fault(Cause.MALFORMED))

    def _failed(self, fault: Fault) -> Reply:
        """The stop that a fault is to the target, or else its error; what live requests try again is asked live."""
        reply = stop_reply(fault)
        if reply is not None:
            return reply
        failure = self._target.failed(fault)
        raise NotBatchedError(self._target.id) if failure.rule.retried else failure

    def _priced(self, reply: Reply) -> Reply:
        """The reply with what it cost. Nobody knows how long it took: its times are 0."""
        usage: Usage = reply.turn.usage
        usd = cost(usage, self._price)
        usage = usage.model_copy(update={"cost_usd": usd, "batched": 1, "batch_usd": usd})
        return Reply(reply.message, reply.turn.model_copy(update={"usage": usage}))
