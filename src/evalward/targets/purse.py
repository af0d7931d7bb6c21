"""What may be spent: an estimate is put aside before a request is sent, and settled when its answer is there.

Nothing here reads a file, a clock or an environment, and nothing belongs to one event loop for longer than a wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal

from evalward.records.budget import Budget
from evalward.records.trace import Usage
from evalward.targets.prices import MILLION, Price, cost

BYTES_PER_TOKEN = 2  # of a request; text and code have 3 to 4, so that this errs on the safe side
UNBOUNDED = 32_000  # tokens of an answer that the request doesn't bound
LONGER = 2.0  # how many times dearer the longest requests are, where a price holds only up to a length

Kind = Literal["usd", "tokens", "price"]


class SpentError(Exception):
    """A request that a purse can't pay. `kind` says what is short; "price": a dollar budget, and no price to keep it
    by. `purse` is the one that refused."""

    def __init__(self, kind: Kind, message: str, purse: Purse) -> None:
        purse.refused = purse.refused or message
        self.kind, self.message, self.purse = kind, message, purse
        super().__init__(message)


@dataclass(frozen=True)
class Estimate:
    """The most that a request is believed to use: tokens read, tokens written, at this price (`None`: unknown).

    `least`: its answer can be bounded to fewer tokens than `written`, down to so many; `None` where nobody can.
    """

    read: int
    written: int
    price: Price | None
    least: int | None = None

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.read + self.written

    @property
    def usd(self) -> float | None:
        """What it would cost, each token at the dearest price that it can have."""
        rates = self._rates()
        return None if rates is None else (self.read * rates[0] + self.written * rates[1]) / MILLION

    def _rates(self) -> tuple[float, float] | None:
        if self.price is None:
            return None
        longer = LONGER if self.price.up_to is not None and self.read > self.price.up_to else 1.0
        return max(self.price.input, self.price.cache_write or 0.0) * longer, self.price.output * longer

    def within(self, usd: float | None, tokens: int | None) -> Estimate | None:
        """The estimate with an answer that so much can pay; `None` when that would be less than `least`."""
        written, rates = self.written, self._rates()
        if tokens is not None:
            written = min(written, tokens - self.read)
        if usd is not None and rates is not None and rates[1] > 0:
            written = min(written, int((usd * MILLION - self.read * rates[0]) / rates[1]))
        elif usd is not None and rates is not None and self.read * rates[0] > usd * MILLION:
            return None
        return None if self.least is None or written < self.least else replace(self, written=written)


def read_estimate(size: int) -> int:
    """Tokens that a request of so many bytes is believed to hold at most."""
    return -(-size // BYTES_PER_TOKEN)


class Purse:
    """One budget, of dollars and of tokens; `None` is without limit. What is put aside counts as spent.

    Who doesn't get in because of what others have put aside waits until they have settled: first come, first served.
    A request that is alone gets what is left; where its answer can't be bounded it may go beyond that, once. The share
    `kept` can't be used before `unlock`.
    """

    def __init__(self, usd: float | None = None, tokens: int | None = None, kept: float = 0.0) -> None:
        self._budget = Budget(usd, tokens, kept)
        self.used_usd, self.used_tokens = 0.0, 0
        self._aside: dict[Reservation, Estimate] = {}
        self._line: deque[object] = deque()
        self._waiting: set[asyncio.Future[None]] = set()
        self.refused: str | None = None  # what the first request was told that it couldn't pay

    @property
    def spent(self) -> str | None:
        """Why nothing more may be asked, if so."""
        return self._budget.spent(self.used_usd, self.used_tokens)

    def known(self, usage: Usage) -> None:
        """Count what was used elsewhere of the same budget."""
        self.used_usd += usage.cost_usd or 0.0
        self.used_tokens += (usage.total_input_tokens or 0) + (usage.output_tokens or 0)

    def unlock(self) -> None:
        """The planned trials are done: what was kept for the confirm stage may be used."""
        self._budget = self._budget.whole
        self._changed()

    def reserve(self, estimate: Estimate) -> Reservation:
        """Put the estimate aside at once. Raises `SpentError` when it doesn't fit beside what is spent and put aside.

        Of an estimate with `least`, what fits is put aside: the reservation's `written` bounds the answer.
        """
        return Reservation((self,), self._fitted(estimate, soft=False))

    @asynccontextmanager
    async def _room(self, estimate: Estimate) -> AsyncIterator[None]:
        """Stand at the head of the line, with the estimate fitting or nothing put aside. Raises `SpentError`."""
        place = object()
        self._line.append(place)
        try:
            while not self._turn(place, estimate):
                change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.add(change)
                try:
                    await change
                finally:
                    self._waiting.discard(change)
            yield
        finally:
            self._line.remove(place)
            self._changed()

    def _turn(self, place: object, estimate: Estimate) -> bool:
        self._refuse(estimate)
        return self._line[0] is place and (not self._aside or self._short(estimate) is None)

    def _free(self, estimate: Estimate) -> bool:
        """Whether the estimate fits at once, and nobody stands in line. Raises `SpentError`."""
        self._refuse(estimate)
        return not self._line and self._short(estimate) is None

    def _refuse(self, estimate: Estimate) -> None:
        if self._budget.usd is not None and estimate.usd is None:
            raise SpentError("price", "budget: the price of the model is unknown, so the budget can't be kept", self)
        if self.spent is not None:
            money = self._budget.usd_now is not None and self.used_usd >= self._budget.usd_now
            raise SpentError("usd" if money else "tokens", self.spent, self)

    def _left(self) -> tuple[float | None, int | None]:
        aside = self._aside.values()
        usd, tokens = self._budget.usd_now, self._budget.tokens_now
        usd = None if usd is None else usd - self.used_usd - sum(each.usd or 0.0 for each in aside)
        tokens = None if tokens is None else tokens - self.used_tokens - sum(each.tokens for each in aside)
        return usd, tokens

    def _short(self, estimate: Estimate) -> Kind | None:
        usd, tokens = self._left()
        if usd is not None and (estimate.usd or 0.0) > usd:
            return "usd"
        return "tokens" if tokens is not None and estimate.tokens > tokens else None

    def _fitted(self, estimate: Estimate, *, soft: bool) -> Estimate:
        """What of the estimate there is room for. `soft`: all of it where its answer can't be bounded."""
        self._refuse(estimate)
        short = self._short(estimate)
        if short is None or (soft and estimate.least is None):
            return estimate
        fitted = estimate.within(*self._left())
        if fitted is not None:
            return fitted
        raise SpentError(short, f"budget: {self._told(short, estimate)}", self)

    def _told(self, short: Kind, estimate: Estimate) -> str:
        """What is used, what is kept, and what the request would need."""
        limits = self._budget
        if short == "usd":
            kept = f", ${(limits.usd or 0.0) * limits.kept:g} is kept for the confirm stage," if limits.kept else ","
            used = f"${self.used_usd:.4f} of ${limits.usd:g} is spent"
            return f"{used}{kept} and the next request may cost ${estimate.usd:.4f}"
        allowed = limits.tokens or 0
        kept = f", {allowed - (limits.tokens_now or 0):,} are kept for the confirm stage," if limits.kept else ","
        used = f"{self.used_tokens:,} of {allowed:,} tokens are used"
        return f"{used}{kept} and the next request may use {estimate.tokens:,}"

    def _changed(self) -> None:
        for change in self._waiting:
            if not change.done():
                change.set_result(None)


class Reservation:
    """What is put aside for one request, in all of its purses, until it is settled. Settling twice does nothing."""

    def __init__(self, purses: Sequence[Purse], estimate: Estimate) -> None:
        self.estimate, self._purses = estimate, tuple(purses)
        self._open = True
        for purse in self._purses:
            purse._aside[self] = estimate  # one mechanism in two classes

    @property
    def written(self) -> int:
        """How many tokens the answer may have."""
        return self.estimate.written

    def settle(self, usage: Usage) -> None:
        """Charge what the provider told. What it didn't tell, or what has no price, is charged as it was put aside."""
        read, written = usage.total_input_tokens, usage.output_tokens
        tokens = self.estimate.tokens if read is None or written is None else read + written
        usd = cost(usage, self.estimate.price)
        if usd is None:
            used = replace(self.estimate, read=read or 0, written=written or 0)
            usd = max(self.estimate.usd or 0.0, used.usd or 0.0)
        self._charge(usd, tokens)

    def forfeit(self) -> None:
        """Charge all that was put aside: nobody knows what the request has used."""
        self._charge(self.estimate.usd or 0.0, self.estimate.tokens)

    def release(self) -> None:
        """Charge nothing: the provider has refused the request, or has never got it."""
        self._charge(0.0, 0)

    def _charge(self, usd: float, tokens: int) -> None:
        if not self._open:
            return
        self._open = False
        for purse in self._purses:
            purse.used_usd += usd
            purse.used_tokens += tokens
            del purse._aside[self]
            purse._changed()


async def admitted(purses: Sequence[Purse], estimate: Estimate) -> Reservation:
    """Put the estimate aside in every purse, the narrowest first, waiting for the answers that are under way.

    Raises `SpentError` when a purse can't pay it. Whoever waits holds nothing that another waits for.
    """
    if all(purse._free(estimate) for purse in purses):  # as nearly always: nobody waits, and nobody has to
        return Reservation(purses, estimate)
    async with AsyncExitStack() as stack:
        for purse in purses:
            await stack.enter_async_context(purse._room(estimate))
        for purse in purses:
            estimate = purse._fitted(estimate, soft=True)
        return Reservation(purses, estimate)
