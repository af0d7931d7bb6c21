"""An agent that wears out the process that holds the keys: long bodies, slow heads, many connections; and a provider
that answers without end."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from evalward.keeper.proxy import Proxy, TrialAccount
from evalward.keeper.proxy.exchange import ByteRoom, ConnectionBounds
from evalward.targets.failures import Cause, TargetError
from evalward.targets.limiter import Limiter
from evalward.targets.models import limits
from evalward.targets.models.settings import LiveSettings, Secret
from evalward.targets.prices import Price
from evalward.targets.purse import Purse
from evalward.targets.retry import RetryPolicy
from support.live import live_target, talk
from support.patience import PATIENCE_S
from support.provider import Provider, message

MODEL, PATH = "claude-sonnet-5", "/v1/messages"
MANY = 64_000_000
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def running(provider: Provider, **bounds: Any) -> AsyncIterator[tuple[Proxy, TrialAccount]]:
    proxy = Proxy(Limiter(), bounds=ConnectionBounds(**bounds))
    settings = LiveSettings("anthropic", MODEL, provider.url, "TEST_KEY", timeout_s=20.0)
    known = TrialAccount(settings, Secret("sk-test"), lambda _: Price(1.0, 2.0), shared=Purse(usd=1.0))
    await proxy.start()
    proxy.open(known)
    try:
        yield proxy, known
    finally:
        await proxy.close()


async def connected(proxy: Proxy) -> Streams:
    host, port = proxy.url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


def head(proxy: Proxy, token: str, *lines: str, method: str = "POST", path: str = PATH) -> bytes:
    given = [f"host: {proxy.url.removeprefix('http://')}", f"x-api-key: {token}", *lines]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *given, "", ""]).encode()


async def status_of(streams: Streams) -> int:
    line = await streams[0].readline()
    return int(line.split()[1]) if line else 0


async def left(*several: Streams) -> None:
    for _, writer in several:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in several), return_exceptions=True)


def question(proxy: Proxy, known: TrialAccount) -> bytes:
    body = json.dumps({"model": MODEL, "max_tokens": 100, "messages": []}).encode()
    return head(proxy, known.token, f"content-length: {len(body)}") + body


# --- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("token", "status"), [("evalward-guess", 401), ("", 413)])
async def test_nothing_of_a_body_is_read_that_the_head_forbids(token: str, status: int) -> None:
    async with Provider() as provider, running(provider) as (proxy, known):
        opened = [await connected(proxy) for _ in range(15)]
        for _, writer in opened:  # the bodies never come, and nobody waits for them
            writer.write(head(proxy, token or known.token, f"content-length: {MANY}"))
        got = [await status_of(streams) for streams in opened]
        await left(*opened)
        assert proxy._bodies.left == ConnectionBounds().bodies
    assert got == [status] * 15
    assert provider.got == []


async def test_a_wrong_path_and_a_wrong_host_are_told_before_the_body() -> None:
    async with Provider() as provider, running(provider) as (proxy, known):
        wrong_path, wrong_host = await connected(proxy), await connected(proxy)
        wrong_path[1].write(head(proxy, known.token, f"content-length: {MANY}", path="/v1/files"))
        other = head(proxy, known.token, f"content-length: {MANY}").replace(b"host: 127", b"host: 128")
        wrong_host[1].write(other)
        got = [await status_of(wrong_path), await status_of(wrong_host)]
        await left(wrong_path, wrong_host)
    assert got == [404, 421]


async def test_a_body_in_pieces_is_bounded_as_it_comes() -> None:
    async with Provider() as provider, running(provider, body=100_000) as (proxy, known):
        streams = await connected(proxy)
        streams[1].write(head(proxy, known.token, "transfer-encoding: chunked"))
        for _ in range(11):
            streams[1].write(b"2710\r\n" + b" " * 10_000 + b"\r\n")
        got = await status_of(streams)
        await left(streams)
    assert got == 413
    assert provider.got == []


async def test_all_bodies_together_have_so_much_room() -> None:
    async with Provider() as provider, running(provider, bodies=150_000) as (proxy, known):
        first, second = await connected(proxy), await connected(proxy)
        first[1].write(head(proxy, known.token, "content-length: 100001") + b" " * 100_000)
        while proxy._bodies.left > 50_000:
            await asyncio.sleep(0)
        second[1].write(head(proxy, known.token, "content-length: 100000") + b" " * 100_000)
        got = await status_of(second)
        await left(first, second)
        while proxy._bodies.left < 150_000:  # whoever leaves gives it back
            await asyncio.sleep(0)
    assert got == 503


async def test_one_trials_bodies_leave_room_for_the_others() -> None:
    async with Provider() as provider, running(provider) as (proxy, known):
        known.room = ByteRoom(50_000)
        streams = await connected(proxy)
        streams[1].write(head(proxy, known.token, "content-length: 60000") + b" " * 60_000)
        got = await status_of(streams)
        await left(streams)
        assert proxy._bodies.left == ConnectionBounds().bodies
    assert got == 503


async def test_a_body_of_countless_values_is_not_parsed() -> None:
    body = b'{"model": "%s", "x": [%s0]}' % (MODEL.encode(), b"{}," * 600_000)
    async with (
        Provider() as provider,
        running(provider) as (proxy, known),
        httpx2.AsyncClient(base_url=proxy.url, timeout=PATIENCE_S) as asking,
    ):
        answer = await asking.post(PATH, content=body, headers={"x-api-key": known.token})
    assert answer.status_code == 400
    assert provider.got == []


# --- time and connections -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", b"POST /v1/messages HTTP/1.1\r\nhost: 127."])
async def test_a_head_that_never_ends_ends_its_connection(sent: bytes) -> None:
    async with Provider() as provider, running(provider, head_s=0.05, idle_s=0.05) as (proxy, _):
        streams = await connected(proxy)
        streams[1].write(sent)
        assert await streams[0].read() == b""
        await left(streams)


async def test_a_body_that_never_ends_ends_its_connection() -> None:
    async with Provider() as provider, running(provider, body_s=0.05) as (proxy, known):
        streams = await connected(proxy)
        streams[1].write(head(proxy, known.token, "content-length: 100") + b"{")
        assert await streams[0].read() == b""
        await left(streams)
    assert provider.got == []


async def test_silent_connections_make_room_for_those_that_ask() -> None:
    async with Provider() as provider, running(provider, connections=3) as (proxy, known):
        silent = [await connected(proxy) for _ in range(10)]
        asking = await connected(proxy)
        asking[1].write(question(proxy, known))
        got = await status_of(asking)
        ended = [await streams[0].read() for streams in silent[:8]]
        await left(*silent, asking)
    assert got == 200
    assert ended == [b""] * 8


async def test_beyond_its_connections_a_listener_takes_none() -> None:
    async with Provider() as provider, running(provider, connections=2) as (proxy, known):
        provider.answers.clear()
        busy = [await connected(proxy) for _ in range(2)]
        for streams in busy:
            streams[1].write(question(proxy, known))
            await provider.arrived.acquire()
        one_more = await connected(proxy)
        assert await one_more[0].read() == b""
        provider.answers.set()
        got = [await status_of(streams) for streams in busy]
        await left(*busy, one_more)
    assert got == [200, 200]


# --- answers --------------------------------------------------------------------------------------------------------


ANSWERS = ["gzip", "deflate", "zstd", "plain"]


def endless(packing: str) -> bytes:
    """An answer of 50 MB, in 50 KB; or, as it is, of 3 MB; or packed in a way that nobody asked for."""
    if packing == "plain":
        return b"content-type: application/json\r\n\r\n" + b" " * 3_000_000
    packed = b"(\xb5/\xfd"
    if packing != "zstd":
        packed = gzip.compress(bytes(50_000_000), 1) if packing == "gzip" else zlib.compress(bytes(50_000_000), 1)
    return f"content-type: application/json\r\ncontent-encoding: {packing}\r\n\r\n".encode() + packed


@pytest.mark.parametrize("packing", ANSWERS)
async def test_an_answer_without_end_breaks_off_for_agents(packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_LIMIT", 1_000_000)
    async with Provider(raw=endless(packing)) as provider, running(provider) as (proxy, known):
        streams = await connected(proxy)
        streams[1].write(question(proxy, known))
        got = await streams[0].read()
        await left(streams)
        await known.quiet.wait()
    assert len(got) < 1_100_000
    assert [fault.cause for fault in known.faults] == [Cause.MALFORMED]
    assert known.shared is not None
    assert known.shared.used_usd > 0


@pytest.mark.parametrize("provider_name", ["anthropic", "openai", "openai-responses"])
@pytest.mark.parametrize("packing", ANSWERS)
async def test_an_answer_without_end_is_malformed(
    packing: str, provider_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ANSWER_LIMIT", 1_000_000)
    async with Provider(raw=endless(packing)) as provider:
        target = live_target(provider.url, provider_name, policy=RetryPolicy(retries=0))
        with pytest.raises(Exception) as caught:  # noqa: PT011 - its cause is looked at below
            await talk(target)
    error = caught.value.__cause__
    assert isinstance(error, TargetError)
    assert error.cause is Cause.MALFORMED


async def test_a_packed_answer_within_the_limit_is_read() -> None:
    packed = gzip.compress(message("claude-haiku-4-5"))
    async with Provider(raw=b"content-type: application/json\r\ncontent-encoding: gzip\r\n\r\n" + packed) as provider:
        trace = await talk(live_target(provider.url, "anthropic"))
    assert trace.messages[-1].text == "Hello."
    assert provider.got[0].headers["accept-encoding"] == "identity"
