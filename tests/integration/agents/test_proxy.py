"""The loopback proxy: what it lets through, what it counts, what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evalward.keeper.proxy import Allowance, Proxy, TrialAccount
from evalward.targets.failures import Cause
from evalward.targets.limiter import Limiter
from evalward.targets.models.settings import LiveSettings, Secret
from evalward.targets.prices import Price
from support.model_server import KEY, Answer, Call, Fault, ModelServer, Script, Tokens

MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-4.1", "openai-responses": "gpt-5"}
PATHS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions", "openai-responses": "/v1/responses"}
PRICE = Price(1.0, 2.0, cache_read=0.1, cache_write=1.0)
CHEAPER = Price(0.5, 1.0, cache_read=0.05, cache_write=0.5)
TOKENS = Tokens(input=90, cache_read=10, output=20)
SCRIPT = Script(default=(Answer(text="Hello.", calls=(Call({"x": 1}, "tool"),), tokens=TOKENS),))


def account(server: ModelServer, provider: str, **more: Any) -> TrialAccount:
    url = server.messages_url if provider == "anthropic" else server.openai_url
    settings = LiveSettings(provider, MODELS[provider], url, "TEST_KEY", timeout_s=60.0)
    prices = {MODELS[provider]: PRICE, "claude-haiku-4-5": CHEAPER}
    return TrialAccount(settings, Secret(KEY), prices.get, **more)


@asynccontextmanager
async def at(proxy: Proxy, known: TrialAccount, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with the account's token, of a proxy that runs."""
    await proxy.start()
    proxy.open(known)
    given = {"x-api-key": known.token, "anthropic-version": "2023-06-01"}
    if known.settings.provider != "anthropic":
        given = {"authorization": f"Bearer {known.token}"}
    async with httpx2.AsyncClient(base_url=proxy.url, headers=given | headers, timeout=60) as client:
        try:
            yield client
        finally:
            await proxy.close()


def question(provider: str, *, stream: bool = False, model: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model or MODELS[provider], "stream": stream}
    if provider == "openai-responses":
        return body | {"input": "Hi"}
    said = body | {"messages": [{"role": "user", "content": "Hi"}]}
    return said | ({"max_tokens": 100} if provider == "anthropic" else {})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", list(MODELS))
async def test_an_answer_passes_and_is_counted(provider: str, stream: bool) -> None:
    with ModelServer(SCRIPT) as server:
        known, proxy = account(server, provider), Proxy(Limiter())
        async with at(proxy, known) as client:
            answer = await client.post(PATHS[provider], json=question(provider, stream=stream))
            await proxy.settled(known)
        base = known.settings.base_url.removesuffix("/v1")
        more = {"stream_options": {"include_usage": True}} if provider == "openai" and stream else {}
        headers = {"authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
        direct = httpx2.post(
            base + PATHS[provider], json=question(provider, stream=stream) | more, headers=headers, timeout=60
        )
    assert answer.status_code == 200
    assert answer.content == direct.content
    [answered] = known.answers
    usage = answered.turn.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (90, 10, 20)
    assert usage.cost_usd == pytest.approx((90 + 10 * 0.1 + 20 * 2) / 1e6)
    assert answered.message.text == "Hello."
    assert answered.message.tool_uses[0].input == {"x": 1}
    assert answered.turn.model == MODELS[provider]
    assert KEY not in answer.text


async def test_events_pass_as_they_come_and_not_when_the_stream_is_over() -> None:
    release = asyncio.Event()

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: first\n\n")
        await writer.drain()
        await release.wait()
        writer.write(b"data: second\n\n")
        writer.close()

    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    known = TrialAccount(LiveSettings("anthropic", "m", url, None), Secret(""), lambda _: None)
    async with (
        at(Proxy(Limiter()), known) as client,
        client.stream("POST", "/v1/messages", json={"model": "m", "stream": True}) as answer,
    ):
        pieces = answer.aiter_bytes()
        assert await anext(pieces) == b"data: first\n\n"
        release.set()
        assert await anext(pieces) == b"data: second\n\n"
        assert [piece async for piece in pieces] == []
    server.close()
    await server.wait_closed()


REFUSED: list[tuple[str, str, Mapping[str, str], int]] = [
    ("POST", "/v1/messages", {"x-api-key": "evalward-guess"}, 401),
    ("POST", "/v1/messages", {"x-api-key": KEY}, 401),
    ("POST", "/v1/messages", {"x-api-key": ""}, 401),
    ("POST", "/v1/messages", {"host": "attacker.example"}, 421),
    ("POST", "/v1/messages", {"host": "localhost"}, 421),
    ("POST", "/v1/chat/completions", {}, 404),
    ("POST", "/v1/files", {}, 404),
    ("POST", "/v1/messages/../files", {}, 404),
    ("POST", "/v1/messages/batches", {}, 404),
    ("GET", "/v1/messages", {}, 404),
    ("POST", "http://attacker.example/v1/messages", {}, 404),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), REFUSED)
async def test_what_is_not_allowed_never_leaves(
    method: str, path: str, headers: Mapping[str, str], status: int
) -> None:
    with ModelServer(SCRIPT) as server:
        known, proxy = account(server, "anthropic"), Proxy(Limiter())
        async with at(proxy, known) as client:
            given = {"host": proxy.url.removeprefix("http://"), "x-api-key": known.token, **headers}
            got = await _raw(proxy.url, method, path, given, json.dumps(question("anthropic")).encode())
            assert client.headers["x-api-key"] == known.token
        assert server.requests == []
    assert got == status
    assert known.answers == []


async def _raw(url: str, method: str, target: str, headers: Mapping[str, str], body: bytes) -> int:
    """The status of a request whose every byte is ours."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"{method} {target} HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return int(line.split()[1])


async def test_the_token_of_an_ended_trial_is_worth_nothing() -> None:
    with ModelServer(SCRIPT) as server:
        known, proxy = account(server, "anthropic"), Proxy(Limiter())
        async with at(proxy, known) as client:
            proxy.end(known)
            answer = await client.post("/v1/messages", json=question("anthropic"))
        assert server.requests == []
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"


LIMITS = [("turns", Allowance(turns=1)), ("tokens", Allowance(tokens=100)), ("usd", Allowance(usd=0.0001))]


@pytest.mark.parametrize(("limit", "allowance"), LIMITS)
async def test_a_limit_ends_the_trial(limit: str, allowance: Allowance) -> None:
    with ModelServer(SCRIPT) as server:
        known, proxy = account(server, "anthropic", allowance=allowance), Proxy(Limiter())
        async with at(proxy, known) as client:
            first = await client.post("/v1/messages", json=question("anthropic"))
            second = await client.post("/v1/messages", json=question("anthropic"))
        assert len(server.requests) == 1
    assert (first.status_code, second.status_code) == (200, 402)
    assert second.json()["type"] == "error"
    assert known.limit == limit
    assert len(known.answers) == 1


async def test_requests_at_once_do_not_pass_the_turn_limit() -> None:
    with ModelServer(SCRIPT, latency=0.05) as server:
        known, proxy = account(server, "anthropic", allowance=Allowance(turns=2)), Proxy(Limiter())
        async with at(proxy, known) as client:
            asked = [client.post("/v1/messages", json=question("anthropic")) for _ in range(5)]
            statuses = sorted(answer.status_code for answer in await asyncio.gather(*asked))
        assert len(server.requests) == 2
    assert statuses == [200, 200, 402, 402, 402]


async def test_a_background_model_is_counted_by_its_own_name_and_is_no_turn() -> None:
    with ModelServer(SCRIPT) as server:
        known, proxy = account(server, "anthropic", allowance=Allowance(turns=1), pinned=False), Proxy(Limiter())
        async with at(proxy, known) as client:
            for model in ("claude-haiku-4-5", "claude-sonnet-5"):
                answer = await client.post("/v1/messages", json=question("anthropic", model=model))
                assert answer.status_code == 200
    assert [(answer.turn.model, answer.main) for answer in known.answers] == [
        ("claude-haiku-4-5", False),
        ("claude-sonnet-5", True),
    ]
    assert known.turns[0].usage.cost_usd == pytest.approx((90 + 10 * 0.1 + 20 * 2) / 2e6)


async def test_a_pinned_account_has_one_model() -> None:
    with ModelServer(SCRIPT) as server:
        known = account(server, "anthropic", pinned=True)
        async with at(Proxy(Limiter()), known) as client:
            answer = await client.post("/v1/messages", json=question("anthropic", model="claude-haiku-4-5"))
            models = await client.get("/v1/models")
        assert server.requests == []
    assert answer.status_code == 404
    assert [model["id"] for model in models.json()["data"]] == ["claude-sonnet-5"]


async def test_counting_tokens_is_no_turn() -> None:
    with ModelServer(SCRIPT) as server:
        known = account(server, "anthropic", allowance=Allowance(turns=0))
        async with at(Proxy(Limiter()), known) as client:
            body = {key: value for key, value in question("anthropic").items() if key in {"model", "messages"}}
            answer = await client.post("/v1/messages/count_tokens?beta=true", json=body)
            probe = await client.head("/")
    assert answer.json()["input_tokens"] > 0
    assert probe.status_code == 200
    assert known.answers == []


CAUSES = [
    ("rate_limit", Cause.RATE_LIMIT, 429),
    ("unavailable", Cause.OVERLOAD, 503),
    ("bad_gateway", Cause.OVERLOAD, 502),
    ("key_echoed", Cause.KEY, 402),
    ("model_not_found", Cause.MODEL_NOT_FOUND, 402),
    ("closed", Cause.NETWORK, 502),
    ("html", Cause.MALFORMED, 200),
]


@pytest.mark.parametrize(("fault", "cause", "status"), CAUSES)
async def test_a_fault_passes_and_is_remembered_until_an_answer_comes(fault: str, cause: Cause, status: int) -> None:
    with ModelServer(SCRIPT, faults=[Fault(fault, nth=(1,))]) as server:
        known = account(server, "anthropic")
        async with at(Proxy(Limiter()), known) as client:
            broken = await client.post("/v1/messages", json=question("anthropic"))
            met = known.ended_by
            good = await client.post("/v1/messages", json=question("anthropic"))
    assert broken.status_code == status
    assert met is not None
    assert met.cause == cause
    assert KEY not in broken.text
    assert good.status_code == 200
    assert known.ended_by is None


async def test_a_stream_that_breaks_off_breaks_off_for_the_agent_too() -> None:
    with ModelServer(SCRIPT, faults=[Fault("stream_cut")]) as server:
        known = account(server, "anthropic")
        async with at(Proxy(Limiter()), known) as client:
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.post("/v1/messages", json=question("anthropic", stream=True))
    assert known.answers == []
    assert known.ended_by is not None
    assert known.ended_by.cause == Cause.NETWORK


async def test_an_agent_that_leaves_in_the_middle_leaves_an_unknown_cost() -> None:
    with ModelServer(SCRIPT, faults=[Fault("stream_stall")]) as server:
        known, proxy = account(server, "anthropic"), Proxy(Limiter())
        async with at(proxy, known) as client:
            async with client.stream("POST", "/v1/messages", json=question("anthropic", stream=True)) as answer:
                await anext(answer.aiter_bytes())
            await proxy.settled(known, patience_s=0.05)
    assert known.faults == []
    assert known.turns[0].usage.output_tokens is None


async def test_the_agents_own_bad_request_is_no_fault_of_the_provider() -> None:
    with ModelServer(SCRIPT) as server:
        known = account(server, "anthropic")
        async with at(Proxy(Limiter()), known) as client:
            bad = question("anthropic") | {"nonsense": 1}
            first = await client.post("/v1/messages", json=bad)
            before = known.ended_by, known.refused
            await client.post("/v1/messages", json=question("anthropic"))
            between = known.refused
            await client.post("/v1/messages", json=bad)
    assert first.status_code == 400
    assert before[0] is None
    assert before[1] is not None
    assert before[1].cause == Cause.REJECTED
    assert between is None
    assert known.ended_by is None
    assert known.refused is not None


async def test_a_redirect_is_not_followed_and_not_passed_on(tmp_path: Path) -> None:
    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 307 Moved\r\nlocation: http://attacker.example/\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    known = TrialAccount(LiveSettings("anthropic", "m", url, None), Secret(""), lambda _: None)
    async with at(Proxy(Limiter()), known) as client:
        answer = await client.post("/v1/messages", json={"model": "m"})
    assert answer.status_code == 502
    assert "location" not in answer.headers
    server.close()
    await server.wait_closed()
