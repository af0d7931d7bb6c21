"""What ends a run before its end: a spent budget, a failure that every trial would meet, a signal."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from evalward import interrupts
from evalward.records.budget import Budget
from evalward.records.report import Interruption
from evalward.records.trace import Usage
from evalward.targets.failures import Cause

ENDS: Mapping[str, Interruption] = {Cause.BUDGET: "budget", Cause.BATCH: "batch"}
"""Why the target of a trial was refused what it needed to go on, and by what the run ends then."""


class Control:
    """Whether anything new may start. The first reason to stop is the one that is told."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.by: Interruption | None = None
        self._running: set[asyncio.Task[object]] = set()

    def stop(self, reason: str, by: Interruption) -> None:
        """Nothing new starts; what runs may finish."""
        self.reason, self.by = self.reason or reason, self.by or by

    def abort(self, reason: str, by: Interruption) -> None:
        """Nothing new starts, and what runs is cancelled."""
        self.stop(reason, by)
        for task in self._running:
            task.cancel()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Around the work of one trial: what `abort` cancels."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - only called from coroutines
        self._running.add(task)
        try:
            yield
        finally:
            self._running.discard(task)


class Ended:
    """What a signal has ended, for good: of what would follow in the same invocation nothing is begun."""

    def __init__(self) -> None:
        self.reason: str | None = None


class Spending:
    """What the trials have used so far, against the budget.

    Whoever asks the models keeps to the same budget while requests are under way.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.usd = 0.0
        self.tokens = 0

    @property
    def has_kept(self) -> bool:
        """Whether there is something left of what is kept for the confirm stage."""
        return self._budget.kept > 0 and self._budget.whole.spent(self.usd, self.tokens) is None

    def release(self) -> None:
        """The planned trials are done: what was kept for the confirm stage may be used."""
        self._budget = self._budget.whole

    def known(self, usage: Usage) -> None:
        """Add what was used elsewhere: nothing is stopped by it."""
        self.usd += usage.cost_usd or 0.0
        self.tokens += (usage.total_input_tokens or 0) + (usage.output_tokens or 0)

    def charge(self, usage: Usage) -> str | None:
        """Add a trial's usage. Why nothing more may start, if the budget is spent or can't be watched any more."""
        read, written = usage.total_input_tokens, usage.output_tokens
        if self._budget.usd is not None and usage.cost_usd is None:
            return "budget: the cost of a trial is unknown, so `budget_usd` can't be watched"
        if self._budget.tokens is not None and (read is None or written is None):
            return "budget: a trial reported no tokens, so `budget_tokens` can't be watched"
        self.usd += usage.cost_usd or 0.0
        self.tokens += (read or 0) + (written or 0)
        return self._budget.spent(self.usd, self.tokens)


@contextlib.contextmanager
def ends_on_signals(control: Control, ended: Ended) -> Iterator[None]:
    """SIGINT and SIGTERM end the run cleanly, once; a second one ends the process as it always would.

    `ended` has the reason at once, the tasks are cancelled when the loop gets to it: whoever comes last asks `ended`.
    """
    loop = asyncio.get_running_loop()

    def end(number: signal.Signals) -> None:
        ended.reason = f"interrupted by {number.name}"
        loop.call_soon_threadsafe(control.abort, ended.reason, "signal")

    if ended.reason is not None:
        control.stop(ended.reason, "signal")
    with on_signals(end):
        yield
    if ended.reason is not None:  # the loop may not have come to it any more
        control.stop(ended.reason, "signal")


@contextlib.contextmanager
def on_signals(end: Callable[[signal.Signals], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM calls `end`, between any two instructions; a second one ends the process as it
    always would.
    """
    before: dict[signal.Signals, Any] = {}

    def first(number: int, _: FrameType | None) -> None:
        _restore(before)
        interrupts.notice()
        end(signal.Signals(number))

    for number in (signal.SIGINT, signal.SIGTERM):
        # Only the main thread can have handlers: in a test or a notebook there are none, and nothing is lost by that.
        with contextlib.suppress(ValueError):
            before[number] = signal.signal(number, first)
    try:
        yield
    finally:
        _restore(before)


def _restore(before: dict[signal.Signals, Any]) -> None:
    while before:
        number, handler = before.popitem()
        signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: one that Python doesn't know
