"""Prompt caching through the real SDK, against a server that counts as Anthropic does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalward.records.trace import Message, Text, Trace
from evalward.sandbox.base import Execution
from evalward.targets.base import Request
from evalward.targets.models.common import LiveTarget
from support.cases import FakeShell, case
from support.live import live_target, talk
from support.model_server import DONE, CacheRules, ModelServer, Script, bash

SCRIPT = Script(default=(bash("a"), bash("b"), bash("c"), DONE))
RULES = CacheRules({}, least=600)
PRICE = {"input": 1.0, "cache_read": 0.1, "cache_write": 1.25, "output": 5.0}
LONG = "word " * 1000


async def conversation(server: ModelServer, **settings: Any) -> Trace:
    shell = FakeShell(answers={name: Execution(LONG + name, "", 0, 1) for name in "abc"})
    return await talk(live_target(server, "anthropic", "claude-opus-5", **settings), shell, prompt=LONG)


def served(script: Script = SCRIPT) -> ModelServer:
    return ModelServer(script, caching=RULES, models=("claude-opus-5",))


@pytest.mark.parametrize("stream", [False, True])
async def test_each_turn_reads_what_the_one_before_it_wrote(stream: bool) -> None:
    with served() as server:
        trace = await conversation(server, prompt_cache=True, stream=stream)
        assert [logged.error for logged in server.requests if logged.error] == []
    usages = [turn.usage for turn in trace.turns]
    kept = [(usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0) for usage in usages]
    assert [usage.cache_read_tokens for usage in usages] == [0, *kept[:-1]]
    assert all(usage.cache_write_tokens for usage in usages)
    assert [usage.input_tokens for usage in usages] == [0, 0, 0, 0]


async def test_the_conversation_is_the_same_and_costs_less() -> None:
    traces = []
    for asked in (True, False):
        with served() as server:
            traces.append(await conversation(server, prompt_cache=asked, prices={"claude-opus-5": PRICE}))
    cached, plain = traces
    assert cached.messages == plain.messages
    assert [turn.usage.cache_read_tokens for turn in plain.turns] == [0, 0, 0, 0]
    assert cached.usage.total_input_tokens == plain.usage.total_input_tokens
    assert cached.usage.cost_usd is not None
    assert plain.usage.cost_usd is not None
    assert cached.usage.cost_usd < 0.6 * plain.usage.cost_usd


async def test_the_last_turn_that_may_be_writes_nothing() -> None:
    with served() as server:
        shell = FakeShell(answers={name: Execution(LONG + name, "", 0, 1) for name in "abc"})
        target = live_target(server, "anthropic", "claude-opus-5", prompt_cache=True)
        trace = await talk(target, shell, prompt=LONG, max_turns=3)
    assert [bool(turn.usage.cache_write_tokens) for turn in trace.turns] == [True, True, False]
    assert trace.turns[-1].usage.cache_read_tokens


async def asked(target: LiveTarget, question: str) -> int | None:
    request = Request(LONG, (Message(role="user", content=[Text(text=question)]),))
    return (await target.open(case(), 1).send(request)).turn.usage.cache_read_tokens


async def test_questions_that_stand_alone_share_the_system_prompt_once_there_are_more_than_at_once() -> None:
    with served(Script(default=(DONE,))) as server:
        target = live_target(server, "anthropic", "claude-opus-5", prompt_cache=True)
        await asyncio.gather(*(asked(target, f"first {number}") for number in range(8)))
        assert sum(logged.counted.written for logged in server.requests if logged.counted) == 0
        await asked(target, "the writer")
        read = [await asked(target, f"then {number}") for number in range(3)]
        written = [logged.counted.written for logged in server.requests if logged.counted and logged.counted.written]
        await target.close()
    assert len(written) == 1
    assert read == written * 3
