"""How many requests a provider gets at once: fewer when it says that it is too much, more when it copes again."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST = 8  # requests at once where the configuration doesn't say


class Slot:
    """One place at the provider, held for one question with all its retries.

    `waited_s` is how long its holder stood in line.
    """

    def __init__(self, limiter: Limiter, waited_s: float, round_: int) -> None:
        self.waited_s = waited_s
        self._limiter = limiter
        self._round = round_

    def too_much(self) -> None:
        """The provider said that it gets too many requests: half as many from now on.

        One burst tells it in many voices. Only the first counts: the others' requests were sent before the limit fell.
        """
        self._round = self._limiter._shrink(self._round)  # one mechanism in two classes

    def succeeded(self) -> None:
        """The provider answered."""
        self._limiter._grow()


class Limiter:
    """First come, first served; additive increase, multiplicative decrease; between 1 and `most`.

    For one event loop at a time. `clock` gives seconds.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = most
        self._clock = clock
        self._held = 0
        self._round = 0  # how often the limit has fallen
        self._successes = 0
        self._line: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait in line for a place, and hold it."""
        came = self._clock()
        await self._enter()
        try:
            yield Slot(self, self._clock() - came, self._round)
        finally:
            self._held -= 1
            self._admit()

    async def _enter(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it was our turn already: the next one's then
                self._held -= 1
            elif place in self._line:  # whoever left since has passed over it
                self._line.remove(place)
            self._admit()
            raise

    def _admit(self) -> None:
        while self._line and self._held < self.limit:
            place = self._line.popleft()
            if not place.done():
                self._held += 1
                place.set_result(None)

    def _shrink(self, round_: int) -> int:
        if round_ == self._round:
            self.limit = max(1, self.limit // 2)
            self._successes = 0
            self._round += 1
        return self._round

    def _grow(self) -> None:
        self._successes += 1
        if self._successes >= self.limit and self.limit < self.most:
            self.limit += 1
            self._successes = 0
            self._admit()


class Limiters:
    """The limiters of a run: one per provider, whichever of its models is asked."""

    def __init__(self) -> None:
        self._limiters: dict[str, Limiter] = {}

    def of(self, provider: str, most: int = MOST) -> Limiter:
        """The provider's limiter; made when it is first asked for."""
        return self._limiters.setdefault(provider, Limiter(most))
