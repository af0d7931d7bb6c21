"""When all trials that are under way wait for a model."""

from __future__ import annotations

import asyncio

from evalward.targets.under_way import STEPS, TrialsUnderWay


class Told:
    """Counts how often it was told that all wait."""

    def __init__(self) -> None:
        self.times = self.requests = 0
        self.under_way = TrialsUnderWay(self.tell)

    def tell(self, requests: int) -> None:
        self.times += 1
        self.requests = requests

    async def trial(self, name: str, *events: asyncio.Event) -> None:
        """A trial that asks as often as there are events, each the answer."""
        with self.under_way.trial(name):
            for event in events:
                with self.under_way.asking() as asker:
                    assert asker == name
                    await event.wait()


async def settle() -> None:
    for _ in range(3 * STEPS):
        await asyncio.sleep(0)


async def test_it_is_told_when_the_last_one_asks() -> None:
    told, first, second = Told(), asyncio.Event(), asyncio.Event()
    one = asyncio.ensure_future(told.trial("one", first))
    with told.under_way.trial("works"):
        await settle()
        assert told.times == 0
        with told.under_way.asking():
            await settle()
            assert told.times == 1
    second.set()
    await settle()
    assert told.times == 2  # the other one has ended: the one that is left still waits
    first.set()
    await one
    await settle()
    assert told.times == 2


async def test_a_trial_that_asks_twice_at_once_waits_once() -> None:
    told, answer = Told(), asyncio.Event()

    async def votes() -> None:
        async def vote() -> None:
            with told.under_way.asking():
                await answer.wait()

        with told.under_way.trial("judged"):
            await asyncio.gather(vote(), vote(), vote())

    judged = asyncio.ensure_future(votes())
    with told.under_way.trial("works"):
        await settle()
        assert told.times == 0
    await settle()
    assert (told.times, told.requests) == (1, 3)
    answer.set()
    await judged


async def test_who_takes_the_place_of_a_trial_that_ended_is_waited_for() -> None:
    told, gate = Told(), asyncio.Semaphore(1)
    answers = [asyncio.Event(), asyncio.Event()]

    async def placed(number: int) -> None:
        async with gate:
            await told.trial(str(number), answers[number])

    waiting = asyncio.ensure_future(told.trial("waits", asyncio.Event()))
    both = [asyncio.ensure_future(placed(number)) for number in range(2)]
    await settle()
    assert told.times == 1
    answers[0].set()
    await settle()
    assert told.times == 2  # not once more between the end of the first and the question of the second
    for task in (waiting, *both):
        task.cancel()


async def test_a_request_of_no_trial_has_no_name_and_is_a_request_all_the_same() -> None:
    told, answer = Told(), asyncio.Event()
    with told.under_way.asking() as name:
        assert name == ""
        await settle()
        assert told.times == 0
        one = asyncio.ensure_future(told.trial("one", answer))
        await settle()
    assert (told.times, told.requests) == (1, 2)
    answer.set()
    await one
