"""The limiter: first come first served, half when it is too much, one more when it copes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.targets.limiter import Limiter, Limiters


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Worker:
    """Somebody who takes a slot and keeps it until told."""

    def __init__(self, limiter: Limiter, name: int, begun: list[int]) -> None:
        self.leave = asyncio.Event()
        self.task = asyncio.create_task(self._work(limiter, name, begun))

    async def _work(self, limiter: Limiter, name: int, begun: list[int]) -> None:
        async with limiter.slot() as self.slot:
            begun.append(name)
            await self.leave.wait()

    async def end(self) -> None:
        self.leave.set()
        await self.task


async def test_no_more_than_the_limit_and_in_order() -> None:
    limiter, begun = Limiter(most=2), list[int]()
    workers = [Worker(limiter, n, begun) for n in range(6)]
    for n, worker in enumerate(workers):
        await settle()
        assert begun == list(range(min(n + 2, 6)))
        await worker.end()


async def test_one_burst_halves_once_and_successes_grow_by_one() -> None:
    limiter, begun = Limiter(most=8), list[int]()
    workers = [Worker(limiter, n, begun) for n in range(8)]
    await settle()
    for worker in workers:
        worker.slot.too_much()
        worker.slot.too_much()  # its own second attempt: that one was sent after the limit fell
        break
    assert limiter.limit == 2
    for worker in workers[1:]:
        worker.slot.too_much()  # sent before
    assert limiter.limit == 2
    for n, worker in enumerate(workers):
        worker.slot.succeeded()
        await worker.end()
        assert limiter.limit == (2, 3, 3, 3, 4, 4, 4, 4)[n]


async def test_it_never_falls_below_one_nor_rises_above_its_most() -> None:
    limiter = Limiter(most=3)
    async with limiter.slot() as slot:
        for _ in range(5):
            slot.too_much()
        assert limiter.limit == 1
        for _ in range(50):
            slot.succeeded()
        assert limiter.limit == 3


async def test_a_lower_limit_lets_those_in_work_finish_and_holds_back_the_next() -> None:
    limiter, begun = Limiter(most=4), list[int]()
    workers = [Worker(limiter, n, begun) for n in range(6)]
    await settle()
    workers[0].slot.too_much()
    await workers[0].end()
    await workers[1].end()
    await settle()
    assert begun == [0, 1, 2, 3]  # two are at work, which is the limit
    await workers[2].end()
    await settle()
    assert begun == [0, 1, 2, 3, 4]
    for worker in workers[3:]:
        await worker.end()


async def test_the_wait_in_line_is_measured() -> None:
    now = [0.0]
    limiter = Limiter(most=1, clock=lambda: now[0])
    first = Worker(limiter, 1, [])
    await settle()
    second = Worker(limiter, 2, [])
    await settle()
    now[0] = 12.5
    await first.end()
    await second.end()
    assert (first.slot.waited_s, second.slot.waited_s) == (0, 12.5)


@pytest.mark.parametrize("cancelled", [[1], [0], [1, 2], [0, 3], [0, 1, 2, 3, 4]])
async def test_who_is_cancelled_leaves_no_hole(cancelled: Sequence[int]) -> None:
    limiter, begun = Limiter(most=1), list[int]()
    workers = [Worker(limiter, n, begun) for n in range(5)]
    await settle()
    for n in cancelled:
        workers[n].task.cancel()
    await settle()
    for n, worker in enumerate(workers):
        if n not in cancelled:
            await worker.end()
    async with asyncio.timeout(1), limiter.slot():
        pass
    assert begun == [n for n in range(5) if n == 0 or n not in cancelled]
    assert all(workers[n].task.cancelled() for n in cancelled)  # and not ended by a fault of ours


async def test_a_turn_that_came_together_with_the_cancellation_is_passed_on() -> None:
    limiter, begun = Limiter(most=1), list[int]()
    workers = [Worker(limiter, n, begun) for n in range(3)]
    await settle()
    workers[0].leave.set()
    await asyncio.sleep(0)  # its place is given to the second, who does not know yet
    workers[1].task.cancel()
    await settle()
    assert begun[-1] == 2
    await workers[2].end()


@given(st.integers(1, 20), st.lists(st.booleans(), max_size=100))
async def test_the_limit_stays_in_its_bounds(most: int, events: list[bool]) -> None:
    limiter = Limiter(most=most)
    async with limiter.slot() as slot:
        for good in events:
            (slot.succeeded if good else slot.too_much)()
            assert 1 <= limiter.limit <= most


def test_a_provider_has_one_limiter() -> None:
    limiters = Limiters()
    assert limiters.of("openai", 3) is limiters.of("openai", 3)
    assert limiters.of("openai", 3) is not limiters.of("anthropic", 3)
    assert limiters.of("openai").most == 3
