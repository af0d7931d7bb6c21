"""The server as a server: HTTP, probes, log, speed, second process."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from collections.abc import Coroutine
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.model_server import (
    KEY,
    Fault,
    ModelServer,
    Settings,
    Tokens,
    dump_settings,
    load_settings,
    oracle_like,
    spawned,
)
from support.model_server.sdk import ChatSpeaker, MessagesSpeaker
from support.patience import until, wait_until

BODY = {"model": "gpt-5", "messages": [{"role": "user", "content": "task"}]}
HEADERS = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
CHAT = "/v1/chat/completions"
REQUEST = (
    f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer {KEY}\r\n".encode()
)


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)


def raw(server: ModelServer) -> socket.socket:
    address = urlsplit(server.url)
    assert address.hostname
    assert address.port
    return socket.create_connection((address.hostname, address.port), timeout=60)


def answers(connection: socket.socket, count: int) -> bytes:
    data = b""
    while data.count(b"chat.completion") < count:
        part = connection.recv(65_536)
        assert part, data
        data += part
    return data


def test_keeps_connections(server: ModelServer) -> None:
    with closing(connect(server)) as connection:
        for _ in range(3):
            connection.request("POST", CHAT, json.dumps(BODY), HEADERS)
            used = connection.sock
            assert json.load(connection.getresponse())["object"] == "chat.completion"
        assert connection.sock is used


def test_chunked_body(server: ModelServer) -> None:
    data = json.dumps(BODY).encode()
    with closing(connect(server)) as connection:
        connection.request("POST", CHAT, iter([data[:10], data[10:]]), HEADERS, encode_chunked=True)
        assert connection.getresponse().status == 200


def test_body_byte_by_byte_and_two_requests_at_once(server: ModelServer) -> None:
    body = json.dumps(BODY).encode()
    request = REQUEST + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    with raw(server) as connection:
        for place in range(0, len(request), 40):
            connection.sendall(request[place : place + 40])
        answers(connection, 1)
        connection.sendall(request * 2)
        assert answers(connection, 2).count(b"HTTP/1.1 200 OK") == 2


def test_waits_for_the_body(server: ModelServer) -> None:
    body = json.dumps(BODY).encode()
    with raw(server) as connection:
        connection.sendall(REQUEST + b"expect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(body))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(body)
        answers(connection, 1)


def test_no_http(server: ModelServer) -> None:
    with raw(server) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
        assert connection.recv(100) == b""


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("HEAD", "/", {}, 200),
        ("GET", "/", {}, 200),
        ("GET", "/v1/models", HEADERS, 200),
        ("GET", "/v1/models", {}, 401),
        ("GET", "/v1/models", {**HEADERS, "anthropic-version": "2023-06-01"}, 200),
        ("HEAD", "/v1/models", HEADERS, 200),
        ("GET", CHAT, HEADERS, 405),
        ("GET", "/nowhere", {}, 404),
        ("POST", "/v1/nowhere", HEADERS, 404),
        ("POST", "/v1/chat/completions/", HEADERS, 404),
    ],
)
def test_probes(method: str, path: str, headers: dict[str, str], status: int, server: ModelServer) -> None:
    with closing(connect(server)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status == status
        assert (data == b"") == (method == "HEAD")
        if status == 200 and path == "/v1/models" and data:
            names = {item["id"].partition("-")[0] for item in json.loads(data)["data"]}
            assert ("claude" in names) == ("anthropic-version" in headers)
    assert server.requests == []


async def test_log(server: ModelServer, speak: Any) -> None:
    each = speak(server, "messages")
    await each.ask(each.start("task 1"))
    server.misbehave(Fault("html"))
    await each.ask(each.start("task 2"))
    first, second = server.requests
    assert (first.number, first.protocol, first.status, first.fault, first.error) == (1, "messages", 200, None, None)
    assert (second.number, second.fault, second.body["messages"][0]["content"]) == (2, "html", "task 2")
    assert first.started <= first.ended <= second.started
    assert first.headers["anthropic-version"] == "2026-10-21"
    assert KEY not in json.dumps(server.summary())
    assert server.max_concurrent == 1


async def test_latency_and_who_leaves(speak: Any) -> None:
    with ModelServer(oracle_like({"task": []}), latency=0.2) as server:
        each = speak(server, "chat")
        started = time.monotonic()
        await each.ask(each.start("task"))
        assert time.monotonic() - started >= 0.2
        server.settings = replace(server.settings, latency=3600)
        await leave(each.ask(each.start("task")), server)
        assert [item.status for item in server.requests] == [200, 0]


async def test_stalled_request_is_open_until_the_client_leaves(server: ModelServer, speak: Any) -> None:
    server.misbehave(Fault("stall"))
    each = speak(server, "responses")
    await leave(each.ask(each.start("task")), server)


async def leave(asking: Coroutine[Any, Any, object], server: ModelServer) -> None:
    """Ask, and go before there is an answer."""
    task = asyncio.create_task(asking)
    await until(lambda: server.log.open.total() == 1)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: server.log.open.total() == 0)


async def test_other_models_and_fields(speak: Any) -> None:
    with ModelServer(oracle_like({"task": []}), models=("my/llama",), tolerated=("client_metadata",)) as server:
        for protocol in ("messages", "chat", "responses"):
            each = speak(server, protocol)
            more = {"model": "my/llama", "extra_body": {"client_metadata": {}}}
            assert each.read(await each.ask(each.start("task"), **more)).text == "Done."


def test_starts_and_stops_quickly(server: ModelServer) -> None:
    times = []
    for _ in range(3):
        started = time.process_time()
        with ModelServer():
            pass
        times.append(time.process_time() - started)
    assert min(times) < 0.05


def test_stops_with_open_requests(server: ModelServer) -> None:
    with ModelServer(faults=[Fault("stall")]) as other, closing(connect(other)) as connection:
        connection.request("POST", CHAT, json.dumps(BODY), HEADERS)
        wait_until(lambda: bool(other.requests))
        other.stop()
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            connection.getresponse()


def test_is_fast(server: ModelServer) -> None:
    body = json.dumps(BODY).encode()
    request = REQUEST + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    times = []
    with raw(server) as connection:
        for _ in range(200):
            started = time.process_time()  # of both sides, and not while others are at work
            connection.sendall(request)
            answers(connection, 1)
            times.append(time.process_time() - started)
    assert min(times) < 0.05  # a tenth of that is usual


def test_settings_survive_their_file() -> None:
    script = oracle_like({"täsk": ["echo 'x'"]}, thinking="Hm.", tokens=Tokens(cache_read=3))
    settings = Settings(script=script, faults=(Fault("rate_limit", nth=(1, 3), retry_after=0.5),), latency=0.01)
    assert load_settings(dump_settings(settings)) == settings
    assert load_settings(b"{}") == Settings()
    assert load_settings(dump_settings(replace(settings, script=Settings().script))) != settings


async def test_second_process() -> None:
    settings = Settings(oracle_like({"task": ["echo one"]}), faults=(Fault("overload", tries=1, protocol="messages"),))
    with spawned(settings) as remote:
        chat, messages = ChatSpeaker(remote.openai_url), MessagesSpeaker(remote.messages_url)
        said = chat.read(await chat.ask(chat.start("task")))
        with pytest.raises(Exception, match="Overloaded"):
            await messages.ask(messages.start("task"))
        await chat.close()
        await messages.close()
        log = remote.log()
    assert said.calls[0][2] == {"commands": "echo one"}
    assert [item["status"] for item in log["requests"]] == [200, 529]
    assert log["max_concurrent_of"] == {"chat": 1, "messages": 1}
