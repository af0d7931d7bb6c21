"""Servers at an address: the suite's headers and no others, and every bound that holds for programs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from evalward.suites.mcp.server.failures import ServerAnswerError, ServerDiedError, ServerHungError
from evalward.suites.mcp.server.place import HttpServer
from evalward.suites.mcp.server.session import open_server
from evalward.suites.mcp.server.traffic import ServerBounds
from support.mcp_http import http_server


@pytest.mark.parametrize("events", [False, True])
async def test_it_lists_and_calls(events: bool) -> None:
    with http_server(events=events) as server:
        async with open_server(HttpServer(server.url)) as session:
            said = await session.call("echo", {"text": "hello"})
            assert session.catalogue.server == "distant"
            assert len(session.catalogue.tools) == 3
            assert (said.text, said.is_error) == ("hello", False)
            assert session.traffic.list_changed == int(events)


async def test_headers_are_the_suites_and_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with http_server() as server:
        async with open_server(HttpServer(server.url, {"X-Tenant": "blue"})) as session:
            await session.call("echo", {"text": "x"})
    assert {each["x-tenant"] for each in server.headers} == {"blue"}
    assert not any("authorization" in each for each in server.headers)
    assert "sk-secret" not in str(server.headers)


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
async def test_a_refusal_is_told_with_its_status(status: int) -> None:
    with (
        http_server(status=status) as server,
        pytest.raises(ServerAnswerError, match=f"^it refused to list its tools: HTTP status {status}$"),
    ):
        async with open_server(HttpServer(server.url)):
            pass


async def test_one_that_nobody_listens_at_is_dead() -> None:
    with http_server() as server:
        gone = server.url
    with pytest.raises(ServerDiedError, match=r"^it can't be reached, or the connection broke: ConnectError: "):
        async with open_server(HttpServer(gone)):
            pass


async def test_a_connection_that_breaks_in_a_call_is_the_servers_death_and_not_ours() -> None:
    with http_server(drop="tools/call") as server:
        async with open_server(HttpServer(server.url)) as session:
            for _ in range(2):
                with pytest.raises(ServerDiedError, match=r"^it can't be reached, or the connection broke"):
                    await session.call("echo", {"text": "x"})


async def test_one_that_never_answers_hangs() -> None:
    with http_server(hang="tools/call") as server:
        async with open_server(HttpServer(server.url), ServerBounds(call_s=0.01)) as session:
            with pytest.raises(ServerHungError, match=r"^it gave no answer to 'echo' within 0\.01 s$"):
                await session.call("echo", {"text": "x"})


async def test_an_answer_beyond_the_limit_ends_the_session() -> None:
    with http_server(size=50_000) as server:
        async with open_server(HttpServer(server.url), ServerBounds(line_bytes=20_000)) as session:
            with pytest.raises(ServerDiedError, match=r"^it sent a message of more than 20,000 bytes$"):
                await session.call("echo", {"text": "x"})


async def test_an_event_beyond_the_limit_is_an_error_of_the_call() -> None:
    with http_server(size=50_000, events=True) as server:
        async with open_server(HttpServer(server.url), ServerBounds(line_bytes=20_000)) as session:
            outcome = await session.call("echo", {"text": "x"})
    assert (outcome.is_error, outcome.why) == (True, "json_rpc_error")


async def test_all_answers_together_are_bounded() -> None:
    with http_server(size=50_000) as server:
        async with open_server(HttpServer(server.url), ServerBounds(total_bytes=80_000)) as session:
            await session.call("echo", {"text": "x"})
            with pytest.raises(ServerDiedError, match=r"^it sent more than 80,000 bytes of messages$"):
                await session.call("echo", {"text": "x"})


async def test_a_packed_answer_is_not_unpacked() -> None:
    with http_server(packed="tools/call", size=50_000) as server:
        async with open_server(HttpServer(server.url)) as session:
            with pytest.raises(ServerAnswerError, match=r"^it sent an answer that is packed as 'gzip', unasked$"):
                await session.call("echo", {"text": "x"})


async def test_one_that_speaks_without_end_and_says_nothing_hangs() -> None:
    """There is always more to read, so that nothing else would ever get its turn."""

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b":\n" * 32_768)
                await writer.drain()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    place = HttpServer(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    async with server:
        with pytest.raises(ServerHungError, match=r"^it didn't list its tools within 0\.5 s$"):
            async with open_server(place, ServerBounds(start_s=0.5)):
                pass
