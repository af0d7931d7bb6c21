"""Waiting and measuring so that the speed and the load of a machine decide nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE_S = 300.0
FACTORS = (1, 10, 100)

T = TypeVar("T")


def wait_until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait for something that another process or thread does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it didn't happen in time"
        time.sleep(0.005)


async def until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """The same, while our own tasks go on."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it didn't happen in time"
        await asyncio.sleep(0.005)


async def patiently(attempt: Callable[[int], Awaitable[T]], enough: Callable[[T], bool]) -> T:
    """What an attempt with 1, 10 or 100 times the time-out found: the first that got far enough, else the last.

    For tests of a time-out that want to see what was done before: on a busy machine that takes its time.
    """
    for factor in FACTORS:
        found = await attempt(factor)
        if enough(found):
            break
    return found


@contextmanager
def little_work(seconds: float) -> Iterator[None]:
    """The block takes at most so many seconds of this thread's own computing: others at work don't count."""
    started = time.thread_time()
    yield
    spent = time.thread_time() - started
    assert spent < seconds, f"it computed for {spent:.1f} s"
