"""A wait for a batch is no time of the trial: it ends none, and none of its clocks counts it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from evalward.records.case import Case
from evalward.records.trace import Message, Text, ToolUse, Turn
from evalward.sandbox.base import Execution
from evalward.suites.loop import ConversationSetup, Conversed, Deadline, LoopBounds, converse_within
from evalward.suites.scenario.builtin import BuiltInAgent
from evalward.targets.base import Chat, Free, Reply, Request
from support.cases import FakeShell
from support.live import PROMPTING

WAIT_S, WORK_S = 7200.0, 2.0


class Clock:
    """What `time.monotonic` says; it moves when the chat is asked."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class SlowChat:
    """Uses the tool once, then ends; each answer takes `WAIT_S`, of which the model works `worked_s`."""

    recording = None

    def __init__(self, clock: Clock, *, in_batches: bool, worked_s: float = 0.0) -> None:
        self.in_batches, self._clock, self._worked_s = in_batches, clock, worked_s

    async def send(self, request: Request) -> Reply:
        self._clock.now += WAIT_S
        times = {"wall_ms": round(self._worked_s * 1000), "working_ms": round(self._worked_s * 1000)}
        if len(request.messages) > 1:
            return Reply(Message(role="assistant", content=[Text(text="Done.")]), Turn(**times))
        use = ToolUse(id="1", name=PROMPTING.tool.name, input={"commands": "ls"})
        return Reply(Message(role="assistant", content=[use]), Turn(stop="tool_use", **times))


async def conversed(clock: Clock, chat: SlowChat, deadline: Deadline) -> Conversed:
    shell = FakeShell(answers={"ls": Execution("", "", 0, 1)})
    asked = ConversationSetup("Be good.", PROMPTING.tool)
    return await converse_within(chat, shell, asked, "Do it.", LoopBounds(10, deadline))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


async def test_the_trial_s_time_is_put_off_by_the_wait(clock: Clock) -> None:
    deadline = Deadline(clock.now + 60)
    done = await conversed(clock, SlowChat(clock, in_batches=True), deadline)
    assert (done.timed_out, len(done.trace.turns)) == (False, 2)
    assert (done.trace.duration_ms, done.trace.working_ms) == (0, 0)
    assert deadline.left_s == pytest.approx(60)


async def test_what_the_model_itself_took_counts(clock: Clock) -> None:
    """Where a request was asked live after all."""
    deadline = Deadline(clock.now + 60)
    done = await conversed(clock, SlowChat(clock, in_batches=True, worked_s=WORK_S), deadline)
    assert done.trace.duration_ms == 2 * WORK_S * 1000
    assert deadline.left_s == pytest.approx(60 - 2 * WORK_S)


async def test_a_live_model_s_wait_ends_the_trial(clock: Clock) -> None:
    done = await conversed(clock, SlowChat(clock, in_batches=False), Deadline(clock.now + 60))
    assert (done.timed_out, len(done.trace.turns)) == (True, 1)


@dataclass(frozen=True)
class Asked(Free):
    """A target of which so many trials may be under way."""

    in_batches: bool
    at_once: int | None = 256
    id: str = "anthropic/x"
    random: bool = True
    subject: Mapping[str, str] = field(default_factory=dict)

    def open(self, case: Case, trial: int) -> Chat:
        raise AssertionError


@pytest.mark.parametrize(("batched", "at_once", "together"), [(True, 256, 32), (True, 8, 8), (False, 256, 256)])
def test_programs_of_few_trials_run_together(*, batched: bool, at_once: int, together: int) -> None:
    assert BuiltInAgent(Asked(batched, at_once), PROMPTING).at_once == together
