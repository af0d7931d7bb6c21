"""An agent that spends what it was not given: at once, cut off, without a price, by other models, by other fields."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from evalward.keeper.proxy import Allowance, Proxy, TrialAccount
from evalward.keeper.proxy.account import COUNTS
from evalward.targets.limiter import Limiter
from evalward.targets.models.settings import LiveSettings, Secret
from evalward.targets.prices import Price
from evalward.targets.purse import Purse
from support.patience import PATIENCE_S
from support.provider import READ, WRITTEN, Provider

KEY = "sk-test-0123456789"
MODEL, SMALL, DEAR, UNKNOWN = "claude-sonnet-5", "claude-haiku-4-5", "claude-opus-5", "claude-mystery"
PRICES = {MODEL: Price(1.0, 2.0), SMALL: Price(0.5, 1.0), DEAR: Price(5.0, 25.0)}
COST = (READ * 1.0 + WRITTEN * 2.0) / 1e6
FOR_NINE = 9 * COST
PATH = "/v1/messages"


def account(provider: Provider, **more: Any) -> TrialAccount:
    settings = LiveSettings("anthropic", MODEL, provider.url, "TEST_KEY", timeout_s=20.0)
    return TrialAccount(settings, Secret(KEY), PRICES.get, **more)


def question(**more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}], **more}


@asynccontextmanager
async def running() -> AsyncIterator[Proxy]:
    proxy = Proxy(Limiter())
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()


def client(proxy: Proxy, known: TrialAccount) -> httpx2.AsyncClient:
    proxy.open(known)
    return httpx2.AsyncClient(base_url=proxy.url, headers={"x-api-key": known.token}, timeout=PATIENCE_S)


async def statuses(asking: httpx2.AsyncClient, number: int, **more: Any) -> list[int]:
    """Of so many requests at once."""
    asked = (asking.post(PATH, json=question(**more)) for _ in range(number))
    return [answer.status_code for answer in await asyncio.gather(*asked)]


# --- at once --------------------------------------------------------------------------------------------------------

ALLOWANCES = [("usd", Allowance(usd=FOR_NINE)), ("tokens", Allowance(tokens=9 * (READ + WRITTEN)))]


@pytest.mark.parametrize(("limit", "allowance"), ALLOWANCES)
async def test_sixty_requests_at_once_get_no_more_than_one_after_the_other(limit: str, allowance: Allowance) -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider, allowance=allowance)
        async with client(proxy, known) as asking:
            got = await statuses(asking, 60)
    assert got.count(200) == len(provider.got) == 9
    assert got.count(402) == 51
    assert known.limit == limit


async def test_the_invocations_budget_binds_while_trials_run() -> None:
    purse = Purse(usd=FOR_NINE)
    async with Provider() as provider, running() as proxy:
        trials = [account(provider, shared=purse) for _ in range(3)]
        asking = [client(proxy, known) for known in trials]
        got = await asyncio.gather(*(statuses(each, 20) for each in asking))
        for each in asking:
            await each.aclose()
    assert sum(each.count(200) for each in got) == len(provider.got) == 9
    assert purse.spent is not None
    assert any(known.starved for known in trials)
    assert all(known.limit is None for known in trials)  # no limit of theirs: they are not to blame


async def test_what_is_under_way_is_put_aside_before_it_is_answered() -> None:
    purse = Purse(usd=FOR_NINE)
    async with Provider() as provider, running() as proxy:
        provider.answers.clear()
        known = account(provider, shared=purse)
        async with client(proxy, known) as asking:
            waiting = [asyncio.create_task(asking.post(PATH, json=question())) for _ in range(8)]
            for _ in range(4):
                await provider.arrived.acquire()
            while len(known.tasks) < 8:  # all are in, four of them in line
                await asyncio.sleep(0)
            provider.answers.set()
            got = [answer.status_code for answer in await asyncio.gather(*waiting)]
    assert provider.most_at_once == 4  # as many as the estimates allow, not as many as ask
    assert got == [200] * 8


async def test_a_request_that_asks_for_more_than_is_left_gets_an_answer_of_what_is_left() -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider, allowance=Allowance(usd=FOR_NINE))
        async with client(proxy, known) as asking:
            got = await statuses(asking, 1, max_tokens=128_000)
    assert got == [200]
    assert provider.got[0].body["max_tokens"] < 600


async def test_thinking_is_bounded_with_the_answer() -> None:
    thinking = {"type": "enabled", "budget_tokens": 64_000}
    async with Provider() as provider, running() as proxy:
        known = account(provider, allowance=Allowance(usd=0.01))
        async with client(proxy, known) as asking:
            got = await statuses(asking, 1, max_tokens=128_000, thinking=thinking)
    assert got == [200]
    most = provider.got[0].body["max_tokens"]
    assert most < 5_000
    assert provider.got[0].body["thinking"] == {"type": "enabled", "budget_tokens": most - 1024}


async def test_thinking_that_would_cost_more_than_is_left_is_refused() -> None:
    thinking = {"type": "enabled", "budget_tokens": 64_000}
    async with Provider() as provider, running() as proxy:
        known = account(provider, allowance=Allowance(usd=FOR_NINE))
        async with client(proxy, known) as asking:
            got = await statuses(asking, 1, max_tokens=128_000, thinking=thinking)
    assert got == [402]
    assert provider.got == []


# --- cut off --------------------------------------------------------------------------------------------------------


async def test_streams_that_are_cut_are_paid() -> None:
    async with Provider(endless=True) as provider, running() as proxy:
        known = account(provider, allowance=Allowance(usd=FOR_NINE))
        refused = 0
        async with client(proxy, known) as asking:
            for _ in range(20):
                async with asking.stream("POST", PATH, json=question(stream=True)) as answer:
                    refused += answer.status_code == 402
                    await anext(answer.aiter_bytes())
                await known.quiet.wait()
    assert len(provider.got) <= 9
    assert refused == 20 - len(provider.got)
    assert known.own.used_usd >= FOR_NINE * 0.8  # what is left can't pay the shortest answer
    assert all(turn.usage.cost_usd is None for turn in known.turns)


async def test_an_answer_that_nobody_waited_for_is_paid_when_its_trial_ends() -> None:
    purse = Purse(usd=1.0)
    async with Provider() as provider, running() as proxy:
        provider.answers.clear()
        known = account(provider, shared=purse)
        async with client(proxy, known) as asking:
            waiting = asyncio.create_task(asking.post(PATH, json=question()))
            await provider.arrived.acquire()
            await proxy.settled(known, patience_s=0.0)
            with pytest.raises(httpx2.TransportError):
                await waiting
    assert purse.used_usd > COST
    assert [turn.usage.cost_usd for turn in known.turns] == [None]


async def test_after_its_end_a_trial_asks_nothing_more() -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider)
        async with client(proxy, known) as asking:
            first = await statuses(asking, 1)
            await proxy.settled(known)
            later = await statuses(asking, 3)
    assert (first, later) == ([200], [401, 401, 401])
    assert len(provider.got) == 1


# --- without a price, by another model ------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "pinned"), [(SMALL, True), (DEAR, False), (UNKNOWN, False), (UNKNOWN, True)])
async def test_models_that_are_dearer_or_unpriced_are_not_there(model: str, pinned: bool) -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider, pinned=pinned)
        async with client(proxy, known) as asking:
            got = await statuses(asking, 1, model=model)
    assert got == [404]
    assert provider.got == []


async def test_a_dollar_budget_pays_no_model_without_a_price() -> None:
    async with Provider() as provider, running() as proxy:
        settings = LiveSettings("anthropic", UNKNOWN, provider.url, "TEST_KEY")
        known = TrialAccount(settings, Secret(KEY), PRICES.get, shared=Purse(usd=5.0))
        async with client(proxy, known) as asking:
            answer = await asking.post(PATH, json=question(model=UNKNOWN))
    assert answer.status_code == 402
    assert "the price of this model is unknown" in answer.text
    assert provider.got == []


async def test_a_budget_of_tokens_pays_a_model_without_a_price() -> None:
    async with Provider() as provider, running() as proxy:
        settings = LiveSettings("anthropic", UNKNOWN, provider.url, "TEST_KEY")
        known = TrialAccount(settings, Secret(KEY), PRICES.get, shared=Purse(tokens=3 * (READ + WRITTEN)))
        async with client(proxy, known) as asking:
            got = await statuses(asking, 10, model=UNKNOWN)
    assert got.count(200) == len(provider.got) == 3


async def test_other_models_have_turns_too() -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider, allowance=Allowance(turns=3), pinned=False)
        async with client(proxy, known) as asking:
            got = await statuses(asking, 10, model=SMALL)
            own = await statuses(asking, 4)
    assert (got.count(200), own.count(200)) == (3, 3)
    assert len(provider.got) == 6


async def test_the_model_that_is_asked_is_the_one_that_was_judged() -> None:
    doubled = json.dumps(question()).replace("{", f'{{"model": "{DEAR}", ', 1)
    async with Provider() as provider, running() as proxy:
        known = account(provider)
        async with client(proxy, known) as asking:
            answer = await asking.post(PATH, content=doubled)
    assert answer.status_code == 200
    assert [got.body["model"] for got in provider.got] == [MODEL]


# --- by other fields and paths --------------------------------------------------------------------------------------

UNTOLD: list[dict[str, Any]] = [
    {"n": 100},
    {"n": True},
    {"max_tokens": 1e9},
    {"max_output_tokens": "1000000"},
    {"service_tier": ["priority"]},
    {"speed": {}},
    {"service_tier": "priority"},
    {"speed": "fast"},
    {"background": True},
    {"previous_response_id": "resp_1"},
    {"conversation": "conv_1"},
    {"prompt": {"id": "pmpt_1"}},
]


@pytest.mark.parametrize("field", UNTOLD)
async def test_what_costs_more_than_a_request_tells_is_refused(field: dict[str, Any]) -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider)
        async with client(proxy, known) as asking:
            got = await statuses(asking, 1, **field)
    assert got == [400]
    assert provider.got == []


async def test_counting_tokens_is_free_but_not_endless() -> None:
    async with Provider() as provider, running() as proxy:
        known = account(provider)
        body = question()
        async with client(proxy, known) as asking:
            got = [await asking.post(f"{PATH}/count_tokens", json=body) for _ in range(COUNTS + 5)]
    assert len(provider.got) == COUNTS
    assert [answer.status_code for answer in got[-6:]] == [200, 402, 402, 402, 402, 402]


async def test_only_known_headers_reach_the_provider_and_come_back() -> None:
    smuggled = {
        "openai-organization": "org-of-somebody",
        "openai-project": "proj",
        "cookie": "session=1",
        "x-forwarded-for": "10.0.0.1",
        "forwarded": "for=10.0.0.1",
        "x-goog-user-project": "other",
        "authorization": "Bearer sk-other",
        "host-override": "elsewhere",
        "anthropic-beta": "some-feature",
    }
    async with Provider() as provider, running() as proxy:
        known = account(provider)
        async with client(proxy, known) as asking:
            answer = await asking.post(f"{PATH}?beta=true&key=x&api-version=1", json=question(), headers=smuggled)
            await asking.post(PATH, json=question())
    allowed = {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
    assert set(provider.got[0].headers) <= {*allowed, "x-api-key", "anthropic-beta"}
    assert provider.got[0].headers["x-api-key"] == KEY
    assert provider.got[0].path == "/v1/messages?beta=true"
    assert "cookie" not in provider.got[1].headers  # nor what the provider itself has set for an earlier request
    assert not {"set-cookie", "x-debug"} & set(answer.headers)
    assert answer.headers["request-id"] == "req_1"
