"""Which trials are under way, and whether all of them wait for a model: only then is a batch worth sending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

MOST_BATCHED = 256
"""Trials of one target that are under way together where requests go in batches."""
STEPS = 4  # of the event loop, in which trials whose turn has come begin


class _Asking(Struct):
    """A trial that is under way: its name, and how many of its requests have no answer yet."""

    name: str
    requests: int = 0


_TRIAL: ContextVar[_Asking | None] = ContextVar("trial", default=None)


def nothing(requests: int) -> None:
    """Nobody wants to know."""


class TrialsUnderWay:
    """Counts trials; `all_wait` is called when every one of them waits for an answer, and at least one does.

    It is told how many requests have no answer: whoever has answered one since knows that this is out of date. For one
    event loop at a time.
    """

    def __init__(self, all_wait: Callable[[int], None] = nothing) -> None:
        self._all_wait = all_wait
        self._running = self._waiting = self._requests = 0
        self._looking = False

    @contextmanager
    def trial(self, name: str) -> Iterator[None]:
        """Around the work of one trial."""
        before = _TRIAL.set(_Asking(name))
        self._running += 1
        try:
            yield
        finally:
            _TRIAL.reset(before)
            self._running -= 1
            self._look()

    @contextmanager
    def asking(self) -> Iterator[str]:
        """Around a request of the trial at work, whose name is given; `""` where none is."""
        trial = _TRIAL.get() or _Asking("")
        self._requests += 1
        trial.requests += 1
        if trial.name:
            self._waiting += trial.requests == 1
            self._look()
        try:
            yield trial.name
        finally:
            self._requests -= 1
            trial.requests -= 1
            if trial.name:
                self._waiting -= trial.requests == 0

    def _look(self) -> None:
        if not self._looking:
            self._looking = True
            self._step(STEPS)

    def _step(self, left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(self._step, left - 1)
            return
        self._looking = False
        if 0 < self._running == self._waiting:
            self._all_wait(self._requests)
