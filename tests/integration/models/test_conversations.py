"""Whole conversations through the real SDKs: what goes out is valid, what comes back is the same on every protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalward.records.trace import Opaque, Text, ToolUse, Trace
from evalward.sandbox.base import Execution
from support.cases import FakeShell
from support.live import MODELS, live_target, talk
from support.model_server import DONE, Answer, Call, Conversation, Fault, ModelServer, Script, Tokens, bash

TOKENS = Tokens(input=100, cache_read=20, cache_write=10, output=50, reasoning=30)
SCRIPT = Script(
    default=(
        bash("echo one", thinking="Hm.", tokens=TOKENS),
        Answer(text="Both at once.", calls=(Call({"commands": "ls"}), Call({"commands": "bad"}))),
        Answer(calls=(Call('{"commands": echo}'), Call({"path": "x"}, "read_file")), thinking="So."),
        DONE,
    )
)
EVERYWHERE = pytest.mark.parametrize("provider", list(MODELS))
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True])


def told(trace: Trace) -> dict[str, Any]:
    """What has to be equal on every protocol: all but ids, times, model names and the provider's own blocks."""
    numbers: dict[str, int] = {}
    messages = []
    for message in trace.messages:
        blocks = [block for block in message.content if not isinstance(block, Opaque)]
        shown = [block.model_dump() for block in blocks]
        for block in shown:
            for key in ("id", "tool_use_id"):
                if key in block:
                    block[key] = numbers.setdefault(block[key], len(numbers))
        messages.append((message.role, shown))
    turns = [(turn.stop, turn.usage.model_dump(exclude={"reasoning_tokens"})) for turn in trace.turns]
    return {"messages": messages, "turns": turns, "calls": trace.tool_calls, "natural_stop": trace.natural_stop}


async def one(provider: str, script: Script = SCRIPT, *faults: Fault, max_turns: int = 10, **settings: Any) -> Trace:
    shell = FakeShell(answers={"bad": Execution("", "oops", 1, 1)})
    with ModelServer(script, faults=faults) as server:
        trace = await talk(live_target(server, provider, **settings), shell, max_turns=max_turns)
        assert [logged.error for logged in server.requests if logged.error] == []
    return trace


async def test_the_same_conversation_gives_the_same_trace_on_every_protocol_streaming_or_not() -> None:
    first, *others = [told(await one(provider, stream=stream)) for provider in MODELS for stream in (False, True)]
    assert first["natural_stop"]
    assert [call.commands for call in first["calls"]] == ["echo one", "ls", "bad", '{"commands": echo}', "read_file"]
    assert [stop for stop, _ in first["turns"]] == ["tool_use", "tool_use", "tool_use", "end"]
    for other in others:
        assert other == first


@EVERYWHERE
@BOTH_WAYS
async def test_usage_follows_the_one_convention_and_is_priced(provider: str, stream: bool) -> None:
    trace = await one(provider, stream=stream)
    usage = trace.turns[0].usage
    counted = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    assert counted == (100, 20, 10)
    assert (usage.output_tokens, usage.reasoning_tokens, usage.total_input_tokens) == (50, 30, 130)
    assert usage.cost_usd == pytest.approx((100 * 1 + 20 * 0.1 + 10 * 2 + 50 * 10) / 1e6)
    assert trace.usage.cost_usd == pytest.approx(sum(turn.usage.cost_usd or 0 for turn in trace.turns))


@EVERYWHERE
async def test_an_unknown_price_is_unknown(provider: str) -> None:
    trace = await one(provider, prices={})
    assert trace.usage.input_tokens == 100 + 100 + 100 + 120
    assert trace.usage.cost_usd is None


@EVERYWHERE
@BOTH_WAYS
async def test_usage_that_nobody_told_is_unknown(provider: str, stream: bool) -> None:
    trace = await one(provider, SCRIPT, Fault("no_usage"), stream=stream)
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.usage.cost_usd) == (None, None, None)


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses"])
@BOTH_WAYS
@pytest.mark.parametrize("redacted", [False, True])
async def test_thinking_goes_back_unaltered(provider: str, stream: bool, redacted: bool) -> None:
    answers = [
        Answer(calls=(Call({"commands": str(n)}),), thinking=f"Thought {n}.", redacted=redacted) for n in range(3)
    ]
    trace = await one(provider, Script(default=(*answers, DONE)), stream=stream)
    thoughts = [block for message in trace.messages for block in message.content if isinstance(block, Opaque)]
    assert [thought.provider for thought in thoughts] == [provider] * 3
    assert len(trace.turns) == 4  # the server has checked every seal


@EVERYWHERE
@BOTH_WAYS
async def test_blocks_that_nobody_knows_go_back_unaltered(provider: str, stream: bool) -> None:
    trace = await one(provider, SCRIPT, Fault("extra_block"), stream=stream)
    assert trace.natural_stop


@BOTH_WAYS
async def test_a_paused_turn_goes_on(stream: bool) -> None:
    script = Script(default=(Answer(text="Searching.", stop="pause"), bash("ls"), DONE))
    trace = await one("anthropic", script, stream=stream)
    assert [turn.stop for turn in trace.turns] == ["pause", "tool_use", "end"]


@EVERYWHERE
@BOTH_WAYS
@pytest.mark.parametrize(
    ("fault", "stop", "natural"),
    [
        ("empty_answer", "end", True),
        ("refusal", "refusal", False),
        ("content_filter", "content_filter", False),
        ("length", "length", False),
        ("context_length", "context_length", False),
        ("too_large", "context_length", False),
    ],
)
async def test_every_stop_is_an_answer(provider: str, stream: bool, fault: str, stop: str, natural: bool) -> None:
    trace = await one(provider, SCRIPT, Fault(fault, turn=1), stream=stream)
    wanted = "refusal" if (fault, provider) == ("content_filter", "anthropic") else stop
    assert [turn.stop for turn in trace.turns] == ["tool_use", wanted]
    assert trace.natural_stop is natural
    assert trace.usage.cost_usd is not None


@BOTH_WAYS
async def test_a_full_context_window_ends_it_with_what_was_said(stream: bool) -> None:
    trace = await one("anthropic", SCRIPT, Fault("context_window", turn=1), stream=stream)
    assert [turn.stop for turn in trace.turns] == ["tool_use", "context_length"]
    assert trace.messages[-1].text == "And so it goes"


@EVERYWHERE
@BOTH_WAYS
async def test_other_stops_go_on_as_long_as_there_are_tool_uses(provider: str, stream: bool) -> None:
    trace = await one(provider, SCRIPT, Fault("other_stop"), stream=stream)
    assert {turn.stop for turn in trace.turns} == {"other"}
    assert (len(trace.turns), trace.natural_stop) == (4, False)


@EVERYWHERE
@BOTH_WAYS
@pytest.mark.parametrize("fault", ["broken_arguments", "list_arguments", "unknown_tool", "length_in_call"])
async def test_unusable_tool_uses_are_answered_and_go_back(provider: str, stream: bool, fault: str) -> None:
    trace = await one(provider, SCRIPT, Fault(fault, turn=0), stream=stream)
    assert not trace.tool_calls[0].ran
    assert trace.natural_stop
    uses = [block for block in trace.messages[1].content if isinstance(block, ToolUse)]
    if fault == "broken_arguments":
        assert [use.input for use in uses] == ['{"commands": echo one}']


@EVERYWHERE
@BOTH_WAYS
async def test_long_answers_come_whole(provider: str, stream: bool) -> None:
    trace = await one(provider, SCRIPT, Fault("huge", turn=0), stream=stream)
    assert len(trace.messages[1].text) > 2_000_000


@EVERYWHERE
async def test_settings_reach_the_provider(provider: str) -> None:
    model = "claude-opus-4-6" if provider == "anthropic" else "gpt-5"
    settings: dict[str, Any] = {"max_tokens": 2000, "reasoning_effort": "low", "headers": {"X-Team": "evals"}}
    with ModelServer(Script(default=(DONE,))) as server:
        await talk(live_target(server, provider, model, **settings))
        (request,) = server.requests
    body = request.body
    assert request.headers["x-team"] == "evals"
    assert body["model"] == model
    names = {"anthropic": "max_tokens", "openai": "max_completion_tokens", "openai-responses": "max_output_tokens"}
    assert body[names[provider]] == 2000
    assert "low" in (body.get("reasoning_effort"), *(body.get(key, {}).get("effort") for key in _NESTED))


_NESTED = ("output_config", "reasoning")


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
async def test_older_models_take_temperature_and_their_own_name_of_max_tokens(provider: str) -> None:
    with ModelServer(Script(default=(DONE,))) as server:
        await talk(live_target(server, provider, "gpt-4.1", temperature=0, max_tokens=50))
        body = server.requests[0].body
    assert body["temperature"] == 0
    assert body["max_tokens" if provider == "openai" else "max_output_tokens"] == 50
    assert "include" not in body


async def test_conversations_side_by_side_don_t_mix() -> None:
    prompts = [f"Task {n}." for n in range(20)]
    script = Script(tuple(Conversation(p, (bash(f"echo {p}"), Answer(text=f"Did {p}"))) for p in prompts))
    with ModelServer(script, latency=0.01) as server:
        target = live_target(server, "anthropic", concurrency=4)
        traces = await asyncio.gather(*(talk(target, prompt=prompt, close=False) for prompt in prompts))
        await target.close()
        assert server.max_concurrent <= 4
    assert [[call.commands for call in trace.tool_calls] for trace in traces] == [[f"echo {p}"] for p in prompts]
    assert [trace.messages[-1].content for trace in traces] == [[Text(text=f"Did {p}")] for p in prompts]
