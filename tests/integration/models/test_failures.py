"""Every row of the failure table, shown for real: the server misbehaves, the SDK speaks, we say what it is."""

from __future__ import annotations

import asyncio

import pytest

from evalward.suites.base import TrialBrokenError
from evalward.targets.failures import FAILURES, Cause
from evalward.targets.limiter import Limiters
from evalward.targets.retry import RetryPolicy
from support.live import MODELS, PROTOCOLS, FakeTime, live_target, talk
from support.model_server import DONE, FAULTS, Fault, ModelServer, Script, bash

SCRIPT = Script(default=(bash("ls"), DONE))
SLOW = {"stall", "stall_body", "stream_stall"}
CAUSES = {
    "rate_limit": Cause.RATE_LIMIT,
    "rate_limit_date": Cause.RATE_LIMIT,
    "rate_limit_ms": Cause.RATE_LIMIT,
    "rate_limit_bare": Cause.RATE_LIMIT,
    "overload": Cause.OVERLOAD,
    "unavailable": Cause.OVERLOAD,
    "server_error": Cause.OVERLOAD,
    "bad_gateway": Cause.OVERLOAD,
    "stream_error": Cause.OVERLOAD,
    "stream_error_nested": Cause.OVERLOAD,
    "stream_failed": Cause.OVERLOAD,
    "failed": Cause.OVERLOAD,
    "gateway_timeout": Cause.TIMEOUT,
    "stall": Cause.TIMEOUT,
    "stall_body": Cause.TIMEOUT,
    "stream_stall": Cause.TIMEOUT,
    "reset": Cause.NETWORK,
    "reset_after_headers": Cause.NETWORK,
    "closed": Cause.NETWORK,
    "stream_cut": Cause.NETWORK,
    "key": Cause.KEY,
    "key_echoed": Cause.KEY,
    "forbidden": Cause.KEY,
    "quota": Cause.QUOTA,
    "payment": Cause.QUOTA,
    "spend_limit": Cause.QUOTA,
    "model_not_found": Cause.MODEL_NOT_FOUND,
    "unprocessable": Cause.REJECTED,
    "broken_json": Cause.MALFORMED,
    "html": Cause.MALFORMED,
    "empty_body": Cause.MALFORMED,
    "wrong_shape": Cause.MALFORMED,
    "stream_early_end": Cause.MALFORMED,
    "stream_broken_event": Cause.MALFORMED,
}
ROWS = [
    pytest.param(name, provider, stream, id=f"{name}-{provider}-{'stream' if stream else 'whole'}")
    for name in CAUSES
    for provider in MODELS
    for stream in (False, True)
    if FAULTS[name].stream in (None, stream) and PROTOCOLS[provider] in FAULTS[name].protocols
]


@pytest.mark.parametrize(("name", "provider", "stream"), ROWS)
async def test_a_fault_is_told_as_its_cause_after_bounded_retries(name: str, provider: str, stream: bool) -> None:
    time = FakeTime()
    limit = 0.1 if name in SLOW else 20
    with ModelServer(SCRIPT, faults=[Fault(name)]) as server:
        target = live_target(server, provider, stream=stream, time=time, timeout_s=limit, policy=RetryPolicy(retries=2))
        with pytest.raises(TrialBrokenError) as caught:
            await talk(target)
        asked = len(server.requests)
    error, rule = caught.value, FAILURES[CAUSES[name]]
    assert (error.reason, error.stops_run) == (rule.cause, rule.stops_run)
    attempts = 3 if rule.retried else 1
    assert len(time.slept) == attempts - 1
    assert asked <= attempts  # never stacked on the SDK's own
    assert asked == attempts or name in SLOW  # where the limit is short, it may end before a request has arrived
    assert error.message.isprintable()
    assert ("(3 attempts)" in error.message) is rule.retried
    assert error.trace.messages[0].text == "Do it."


def test_every_fault_of_a_provider_has_its_row() -> None:
    answers = {"context_length", "too_large", "slow", "empty_answer", "refusal", "content_filter", "length", "pause"}
    answers |= {"length_in_call", "context_window", "other_stop", "huge", "broken_arguments", "list_arguments"}
    answers |= {"unknown_tool", "extra_block", "no_usage"}
    assert set(FAULTS) - answers == set(CAUSES)


@pytest.mark.parametrize("provider", list(MODELS))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["rate_limit", "overload", "reset", "html", "server_error"])
async def test_a_fault_that_passes_leaves_no_trace(provider: str, stream: bool, name: str) -> None:
    time = FakeTime()
    fault = Fault(name, tries=2, every_turn=True)
    with ModelServer(SCRIPT, faults=[fault]) as server:
        trace = await talk(live_target(server, provider, stream=stream, time=time))
        assert len(server.requests) == 6
    assert trace.natural_stop
    assert len(time.slept) == 4


@pytest.mark.parametrize("provider", list(MODELS))
@pytest.mark.parametrize(
    ("name", "least"),
    [("rate_limit", 55), ("rate_limit_ms", 55), ("rate_limit_date", 15)],  # a date comes nearer on a busy machine
)
async def test_retry_after_is_honoured(provider: str, name: str, least: float) -> None:
    time = FakeTime()
    with ModelServer(SCRIPT, faults=[Fault(name, nth=(1,), retry_after=55)]) as server:
        await talk(live_target(server, provider, time=time))
    (slept,) = time.slept
    assert least <= slept - RetryPolicy().extra_s <= 55


@pytest.mark.parametrize("provider", list(MODELS))
async def test_a_provider_that_asks_for_too_long_a_wait_gets_none(provider: str) -> None:
    time = FakeTime()
    with ModelServer(SCRIPT, faults=[Fault("rate_limit", retry_after=3600)]) as server:
        with pytest.raises(TrialBrokenError, match="limits the rate"):
            await talk(live_target(server, provider, time=time))
        assert len(server.requests) == 1
    assert time.slept == []


@pytest.mark.parametrize("provider", list(MODELS))
async def test_waiting_is_not_working(provider: str) -> None:
    with ModelServer(SCRIPT, faults=[Fault("rate_limit", nth=(1,), retry_after=30)]) as server:
        trace = await talk(live_target(server, provider, time=FakeTime()))
    first, second = trace.turns
    assert (first.wall_ms, first.working_ms) == (31_000, 0)  # the clock moves in waits only
    assert (second.wall_ms, second.working_ms) == (0, 0)


async def test_a_burst_of_rate_limits_makes_the_provider_s_limiter_narrow_and_it_recovers() -> None:
    limiters = Limiters()
    with ModelServer(
        SCRIPT, faults=[Fault("rate_limit", nth=tuple(range(1, 9)), retry_after=0)], latency=0.01
    ) as server:
        target = live_target(server, "openai", limiters=limiters)
        limiter = limiters.of("openai")
        chats = [talk(target, prompt=f"Task {n}.", close=False) for n in range(40)]
        traces = await asyncio.gather(*chats)
        await target.close()
        log = server.requests
    assert all(trace.natural_stop for trace in traces)
    assert sum(logged.status == 429 for logged in log) == 8
    assert limiter.limit > 4  # fell to 4 once, for eight voices of one burst, and grew again
    assert limiter.limit <= limiter.most == 8


async def test_two_models_of_a_provider_share_its_limiter() -> None:
    limiters = Limiters()
    with ModelServer(Script(default=(DONE,)), latency=0.02) as server:
        targets = [live_target(server, "openai", m, limiters=limiters, concurrency=2) for m in ("gpt-5", "gpt-4.1")]
        await asyncio.gather(*(talk(target, prompt=f"{n}", close=False) for n in range(4) for target in targets))
        for target in targets:
            await target.close()
        assert server.max_concurrent == 2


async def test_nobody_listens_there() -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await talk(live_target("http://127.0.0.1:9/v1", "openai"))
    assert caught.value.reason == Cause.NETWORK
    assert "refused" in caught.value.message or "attempts failed" in caught.value.message
