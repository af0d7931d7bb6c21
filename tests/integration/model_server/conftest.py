from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from support.model_server import KEY, ModelServer, oracle_like
from support.model_server.api import Protocol
from support.model_server.sdk import Speaker, speaker

PROTOCOLS: tuple[Protocol, ...] = ("messages", "chat", "responses")
Post = Callable[..., tuple[int, Any]]
Speak = Callable[..., Speaker]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Knows the task "task": two scripts, with a thought before each."""
    with ModelServer(oracle_like({"task": ["echo one", "echo two"]}, thinking="Let me think.")) as running:
        yield running


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Each of the three."""
    found: Protocol = request.param
    return found


@pytest.fixture
async def speak() -> AsyncIterator[Speak]:
    """Makes SDK clients that are closed at the end."""
    made: list[Speaker] = []

    def make(server: ModelServer, protocol: Protocol, **more: Any) -> Speaker:
        made.append(speaker(server, protocol, **more))
        return made[-1]

    yield make
    for each in made:
        await each.close()


@pytest.fixture
def post(server: ModelServer) -> Post:
    """Sends a body as it is, with the right headers unless told otherwise: status and JSON."""

    def send(path: str, body: object, headers: dict[str, str | None] | None = None) -> tuple[int, Any]:
        usual: dict[str, str | None] = {
            "content-type": "application/json",
            "authorization": f"Bearer {KEY}",
            "anthropic-version": "2026-10-21",
        }
        sent = {name: value for name, value in (usual | (headers or {})).items() if value is not None}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"{server.url}{path}", data, sent, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    return send
