"""The built-in agent with chats of our own: what ends it beside the model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text, ToolUse, Trace, Turn, Usage
from evalward.suites.scenario.builtin import SYSTEM, BuiltInAgent
from evalward.suites.tool import load_prompting
from evalward.targets.agents.base import AgentJob, AgentRun
from evalward.targets.base import Free, Reply, Request, TrialSkippedError
from support.patience import patiently
from support.places import FolderPlace

CASE = Case(id="a", category="c", definition="sha256:1", place=Place(file="a.yaml", line=1))


class Model(Free):
    """Sends these replies, then never answers again."""

    id, random = "openai/m", True
    subject: Mapping[str, str] = {}
    recording: Trace | None = None

    def __init__(self, *replies: Reply, priced: bool = True) -> None:
        self.replies, self.priced = list(replies), priced
        self.asked: list[Request] = []

    def open(self, case: Case, trial: int) -> Model:
        return self

    async def send(self, request: Request) -> Reply:
        self.asked.append(request)
        if not self.replies:
            await asyncio.Event().wait()
        return self.replies.pop(0)


def runs(command: str, name: str = "bash", key: str = "commands", usage: Usage | None = None) -> Reply:
    use = ToolUse(id="1", name=name, input={key: command})
    return Reply(Message(role="assistant", content=[use]), Turn(usage=usage or Usage(), stop="tool_use"))


def done() -> Reply:
    return Reply(Message(role="assistant", content=[Text(text="Done.")]), Turn(stop="end"))


async def worked(below: Path, model: Model, **more: Any) -> AgentRun:
    agent = BuiltInAgent(model, load_prompting(below, None, None, SYSTEM))
    job = AgentJob(**{"prompt": "Do it.", "workspace": FolderPlace.made(below), "timeout_s": 20, **more})
    return await agent.work(CASE, 1, job)


async def test_it_ends_by_itself(tmp_path: Path) -> None:
    model = Model(runs("echo $X > a; cat a"), done())
    run = await worked(tmp_path, model, env={"X": "hello"})
    assert (run.exit_code, run.timed_out, run.limit, run.completed) == (0, False, None, True)
    assert run.transcript == "$ echo $X > a; cat a\nhello\nDone.\n"
    assert (model.asked[0].system, [tool.name for tool in model.asked[0].tools]) == (SYSTEM, ["bash"])


async def test_a_model_that_doesnt_answer_in_time_costs_nobody_knows_what(tmp_path: Path) -> None:
    known = Usage(input_tokens=5, output_tokens=5, cost_usd=0.1)
    run = await patiently(
        lambda factor: worked(tmp_path / str(factor), Model(runs("true", usage=known)), timeout_s=0.3 * factor),
        lambda run: len(run.trace.turns) == 2,  # it was asked again
    )
    assert (run.exit_code, run.timed_out, run.completed) == (None, True, False)
    assert (len(run.trace.turns), run.trace.usage.cost_usd, run.trace.usage.input_tokens) == (2, None, None)


async def test_spent_tokens_end_it(tmp_path: Path) -> None:
    usage = Usage(input_tokens=60, output_tokens=50)
    run = await worked(tmp_path, Model(runs("true", usage=usage), done()), budget_tokens=100)
    assert (run.limit, run.completed, len(run.trace.turns)) == ("tokens", False, 1)


async def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(TrialSkippedError, match="the price of openai/m is unknown"):
        await worked(tmp_path, Model(done(), priced=False), budget_usd=1.0)


@pytest.mark.parametrize("key", ["command", "script", "cmd"])
async def test_a_model_may_name_the_script_as_other_agents_do(tmp_path: Path, key: str) -> None:
    run = await worked(tmp_path, Model(runs("echo x", key=key), done()))
    assert [call.stdout for call in run.trace.tool_calls] == ["x\n"]


async def test_a_live_model_has_only_the_tool_that_it_was_given(tmp_path: Path) -> None:
    run = await worked(tmp_path, Model(runs("echo x", name="Bash"), runs("x", name="Read"), done()))
    assert [(call.ran, call.exit_code) for call in run.trace.tool_calls] == [(False, 2), (False, 2)]
