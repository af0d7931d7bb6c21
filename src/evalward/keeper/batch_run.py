"""One batch: sent, looked after until it has ended or time is up, and its answers handed out.

What comes back is a provider's answer: bounded, read line by line; only what was asked for counts, and once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import TypeVar

from evalward.keeper.batch_office import BatchOffice
from evalward.records.batch import SentBatch
from evalward.targets.failures import Cause, TargetError
from evalward.targets.models.batching import BatchApi, BatchLine, BatchOutcome, BatchState, checked_id
from evalward.targets.models.common import LiveTarget
from evalward.targets.models.faults import Fault, fault_of
from evalward.targets.models.reading import MalformedError
from evalward.targets.retry import with_retries

T = TypeVar("T")
Answers = dict[str, "asyncio.Future[BatchOutcome]"]
"""Who waits for an answer, by the request's id."""

FIRST_LOOK_S, LONGEST_LOOK_S = 1.0, 60.0  # between two looks at a batch
ENDING_S = 900.0  # that a cancelled batch may take to end
LIVE_TOO = {Cause.KEY, Cause.QUOTA}
"""Why a batch fails that requests would meet live as well."""


class BatchRun:
    """One batch of a model."""

    def __init__(self, target: LiveTarget, api: BatchApi, office: BatchOffice) -> None:
        self._target, self._api, self._office = target, api, office

    async def submitted(self, lines: Sequence[BatchLine]) -> BatchState:
        """The batch of these requests, made. Raises `TargetError` for what its requests meet instead."""
        return await self._kept_to(lambda: self._api.send(lines))

    async def followed(self, state: BatchState, answers: Answers) -> None:
        """Wait for its end, and hand out the answers; who is left in `answers` then has none. Raises `TargetError`."""
        requests = len(answers)
        state = await self._ended(state)
        if state.fault is not None:
            raise self._refused(self._target.failed(state.fault))
        if state.ended:
            await self._kept_to(lambda: self._handed_out(state, answers))
        self._office.ended(state.id, requests - len(answers), requests)

    async def resumed(self, batch: SentBatch, answers: Answers) -> None:
        """The same for a batch of an earlier run. Raises `TargetError`, also where it is gone."""
        try:
            identity = checked_id(batch.id)
        except MalformedError as error:
            raise self._target.error(fault_of(error)) from None
        state = await self._kept_to(lambda: self._api.look(identity))
        await self.followed(state, answers)

    async def _ended(self, state: BatchState) -> BatchState:
        pauses = _pauses()
        while not state.ended:
            left = self._office.left_s
            if left <= 0:
                return await self._cancelled(state)
            await self._office.timing.sleep(min(next(pauses), left))
            state = await self._looked(state)
        return state

    async def _cancelled(self, state: BatchState) -> BatchState:
        """The batch, stopped: as far as it has come. One that doesn't end gives no answers."""
        timing = self._office.timing
        try:
            state = await self._asked(lambda: self._api.cancel(state.id))
        except TargetError:
            state = await self._looked(state)  # it may have ended just now
        until = timing.clock() + ENDING_S
        pauses = _pauses()
        while not state.ended and timing.clock() < until:
            await timing.sleep(next(pauses))
            state = await self._looked(state)
        return state

    async def _looked(self, state: BatchState) -> BatchState:
        """How far it is; as far as it was where that can't be known now."""
        try:
            return await self._asked(lambda: self._api.look(state.id))
        except TargetError as error:
            if error.rule.retried:
                return state
            raise self._refused(error) from None

    async def _handed_out(self, state: BatchState, answers: Answers) -> None:
        async with aclosing(self._api.outcomes(state)) as outcomes:
            async for outcome in outcomes:
                if outcome.custom_id not in answers or (outcome.answer is None and outcome.fault is None):
                    continue
                answer = answers.pop(outcome.custom_id)
                if not answer.done():  # whoever asked may have gone
                    answer.set_result(outcome)
                if not answers:
                    return

    # --- asking the provider ----------------------------------------------------------------------------------------

    async def _kept_to(self, ask: Callable[[], Awaitable[T]]) -> T:
        """As `_asked`, with what the batch's requests meet instead where it fails."""
        try:
            return await self._asked(ask)
        except TargetError as error:
            raise self._refused(error) from None

    def _refused(self, error: TargetError) -> TargetError:
        if error.cause in LIVE_TOO:
            self._target.dead = error
            return error
        self._office.say(f"A batch for {self._target.id} failed: {error.message}")
        return self._office.instead(self._target.settings, error.message)

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """With the retries of every request. Raises `TargetError`."""

        async def attempt() -> T:
            limit = self._target.settings.timeout_s
            try:
                async with asyncio.timeout(limit):
                    return await ask()
            except TimeoutError:
                fault = Fault(Cause.TIMEOUT, f"no answer after {limit:g} s")
            except Exception as error:
                fault = fault_of(error)
            raise self._target.error(fault)  # outside: the SDK's exceptions hold the request, and with it the key

        return (await with_retries(attempt, self._target.behaviour.policy, self._office.timing)).value


def _pauses() -> Iterator[float]:
    """Seconds between two looks: short ones first, for small batches take minutes."""
    pause = FIRST_LOOK_S
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_LOOK_S)
