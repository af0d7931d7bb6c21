"""Bounded retries, in one place: the SDKs' own are switched off."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from evalward.targets.failures import TargetError

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long. All times are in seconds.

    Without word from the provider the wait before retry n is a random time up to `first_s` · 2ⁿ⁻¹, at most `longest_s`
    (full jitter). A provider's Retry-After is waited for, and a little more, so that not all come back at once; a
    longer one than `longest_asked_s` ends the retries. So does a wait that would go beyond `total_s`, counted from the
    first attempt's start.
    """

    retries: int = 4
    first_s: float = 1.0
    longest_s: float = 60.0
    longest_asked_s: float = 120.0
    extra_s: float = 1.0
    total_s: float = 900.0


@dataclass(frozen=True)
class Timing:
    """Where time and chance come from; tests bring their own. `uniform` is `random.uniform`."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform


@dataclass(frozen=True)
class Retried(Generic[T]):
    """What came back in the end, and how many seconds were waited between the attempts."""

    value: T
    waited_s: float


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    timing: Timing,
    failed: Callable[[TargetError], None] = lambda _: None,
) -> Retried[T]:
    """Attempt until it works, or until the last failure is raised. `failed` hears of every failure."""
    started = timing.clock()
    waited_s = 0.0
    number = 0
    while True:
        number += 1
        error = None
        try:
            return Retried(await attempt(), waited_s)
        except TargetError as caught:
            error = caught
        failed(error)
        wait = wait_before_retry(error, number, policy, timing)
        if wait is None or timing.clock() - started + wait > policy.total_s:
            raise _final(error, number, policy)
        await timing.sleep(wait)
        waited_s += wait


def wait_before_retry(error: TargetError, number: int, policy: RetryPolicy, timing: Timing) -> float | None:
    """Seconds to wait before the retry of this number, counted from 1; `None` when there is none."""
    if not error.rule.retried or number > policy.retries:
        return None
    if error.retry_after is not None:
        asked = error.retry_after
        return asked + timing.uniform(0, policy.extra_s) if asked <= policy.longest_asked_s else None
    return timing.uniform(0, min(policy.longest_s, policy.first_s * 2 ** (number - 1)))


def _final(error: TargetError, attempts: int, policy: RetryPolicy) -> TargetError:
    notes = [] if attempts == 1 else [f"{attempts} attempts"]
    asked = error.retry_after
    if error.rule.retried and asked is not None and asked > policy.longest_asked_s:
        notes.append(
            f"it asks to wait {asked:,.0f} s, longer than the {policy.longest_asked_s:,.0f} s that Evalward waits"
        )
    if not notes:
        return error
    message = f"{error.message} ({'; '.join(notes)})"
    return TargetError(error.cause, message, target=error.target, retry_after=error.retry_after)
