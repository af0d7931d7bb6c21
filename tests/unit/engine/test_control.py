"""What ends a run before its end."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from evalward.engine.control import Control, Ended, Spending, ends_on_signals
from evalward.records.budget import Budget
from evalward.records.trace import Usage


def used(
    read: int | None = 60, written: int | None = 40, cost: float | None = 0.25, cached: int | None = None
) -> Usage:
    return Usage(input_tokens=read, cache_read_tokens=cached, output_tokens=written, cost_usd=cost)


# --- budgets --------------------------------------------------------------------------------------------------------


def test_without_a_budget_nothing_is_ever_spent() -> None:
    account = Spending(Budget())
    assert account.charge(used(read=None, written=None, cost=None)) is None
    assert account.charge(used(10**9, 10**9, 10.0**6)) is None


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(tokens=201), [None, None, "budget: 300 of 201 tokens are used"]),
        (Budget(tokens=200), [None, "budget: 200 of 200 tokens are used"]),
        (Budget(usd=0.6), [None, None, "budget: $0.7500 of $0.6 is spent"]),
        (Budget(usd=0.5), [None, "budget: $0.5000 of $0.5 is spent"]),
        (Budget(usd=9, tokens=100), ["budget: 100 of 100 tokens are used"]),
    ],
)
def test_a_budget_is_spent_when_it_is_reached(budget: Budget, spent: list[str | None]) -> None:
    account = Spending(budget)
    assert [account.charge(used()) for _ in spent] == spent


def test_cached_tokens_are_tokens() -> None:
    account = Spending(Budget(tokens=1000))
    assert account.charge(used(cached=900)) == "budget: 1,000 of 1,000 tokens are used"


@pytest.mark.parametrize(
    ("budget", "usage", "words"),
    [
        (Budget(usd=1), used(cost=None), "the cost of a trial is unknown, so `budget_usd`"),
        (Budget(tokens=1000), used(read=None), "a trial reported no tokens, so `budget_tokens`"),
        (Budget(tokens=1000), used(written=None), "a trial reported no tokens, so `budget_tokens`"),
    ],
)
def test_what_cant_be_watched_ends_the_run(budget: Budget, usage: Usage, words: str) -> None:
    assert words in (Spending(budget).charge(usage) or "")


@pytest.mark.parametrize(
    ("budget", "usage"), [(Budget(tokens=1000), used(cost=None)), (Budget(usd=1), used(read=None, written=None))]
)
def test_what_no_budget_is_about_may_be_unknown(budget: Budget, usage: Usage) -> None:
    assert Spending(budget).charge(usage) is None


def test_the_planned_trials_leave_the_confirm_stage_its_part() -> None:
    account = Spending(Budget.planned(1.0, None, confirms=True))
    assert [account.charge(used()) for _ in range(2)] == [None, None]
    assert account.charge(used()) == "budget: $0.7500 of $1 is spent; the rest is kept for the confirm stage"
    assert account.has_kept
    account.release()
    assert not account.has_kept
    assert account.charge(used(cost=0.2)) is None
    assert account.charge(used(cost=0.05)) == "budget: $1.0000 of $1 is spent"


def test_tokens_are_kept_as_dollars_are() -> None:
    account = Spending(Budget.planned(None, 400, confirms=True))
    assert [account.charge(used()) for _ in range(2)] == [None, None]
    assert account.charge(used()) == "budget: 300 of 400 tokens are used; the rest is kept for the confirm stage"
    assert Budget.planned(None, 1, confirms=True).tokens_now == 1


# --- stopping -------------------------------------------------------------------------------------------------------


async def sleeper(control: Control) -> None:
    with control.running():
        await asyncio.sleep(60)


async def test_stop_lets_go_on_what_runs_and_abort_cancels_it() -> None:
    control = Control()
    tasks = [asyncio.create_task(sleeper(control)) for _ in range(2)]
    other = asyncio.create_task(asyncio.sleep(0.01))
    await asyncio.sleep(0)
    control.stop("first", "budget")
    await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    control.abort("second", "signal")
    await asyncio.gather(*tasks, return_exceptions=True)
    await other
    assert all(task.cancelled() for task in tasks)
    assert (control.reason, control.by) == ("first", "budget")


async def test_what_has_ended_is_not_cancelled() -> None:
    control = Control()
    with control.running():
        pass
    control.abort("now", "signal")
    await asyncio.sleep(0)  # a cancellation of this very task would arrive here
    assert control.reason == "now"


# --- signals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_signal_aborts_and_the_second_is_anybodys(number: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    control = Control()
    try:
        with ends_on_signals(control, Ended()):
            task = asyncio.create_task(sleeper(control))
            await asyncio.sleep(0)
            os.kill(os.getpid(), number)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert control.reason == f"interrupted by {number.name}"
            assert {each: signal.getsignal(each) for each in before} == before
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


async def test_without_a_signal_nothing_is_told() -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    control = Control()
    try:
        with ends_on_signals(control, Ended()):
            await asyncio.sleep(0)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert control.reason is None
