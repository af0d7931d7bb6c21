"""What is sent is what the SDK's own method would send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from evalward.records.trace import Message, Text, ToolResult, ToolUse
from evalward.targets.base import Request, ToolSpec
from evalward.targets.models import anthropic as messages
from evalward.targets.models import openai_chat, openai_responses
from evalward.targets.models.sending import answered
from evalward.targets.models.settings import LiveSettings

SCHEMA = {"type": "object", "properties": {"commands": {"type": "string", "default": None}, "input": {"type": "array"}}}
REQUEST = Request(
    "Be brief. \U0001f389",
    (
        Message(role="user", content=[Text(text="Do <it>.")]),
        Message(role="assistant", content=[Text(text="Yes."), ToolUse(id="1", name="bash", input={"commands": "ls"})]),
        Message(role="tool_result", content=[ToolResult(tool_use_id="1", content="a\nb", is_error=True)]),
    ),
    (ToolSpec("bash", "Runs it.", SCHEMA),),
)


@dataclass(frozen=True)
class Spoken:
    """A protocol: its client, its method of the SDK, and its path, of which ours needs nothing more."""

    client: Callable[[httpx2.AsyncClient], Any]
    method: Callable[[Any], Any]
    request_of: Callable[..., Any]
    folded: Callable[..., Any]
    path: str


def _openai(http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url="https://h/v1", max_retries=0, timeout=90, http_client=http)


def _anthropic(http: httpx2.AsyncClient) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key="k", base_url="https://h", max_retries=0, timeout=90, http_client=http)


PROTOCOLS = {
    "chat": Spoken(
        _openai, lambda client: client.chat.completions, openai_chat.request_of, openai_chat.folded, openai_chat.PATH
    ),
    "responses": Spoken(
        _openai,
        lambda client: client.responses,
        openai_responses.request_of,
        openai_responses.folded,
        openai_responses.PATH,
    ),
    "messages": Spoken(_anthropic, lambda client: client.messages, messages.request_of, messages.folded, messages.PATH),
}


def sent(spoken: Spoken, ask: Callable[[Any], Awaitable[object]]) -> httpx2.Request:
    """What goes out."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(400, json={"error": {"message": "enough"}})

    async def asked() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
            with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
                await ask(spoken.client(http))

    asyncio.run(asked())
    (only,) = requests
    return only


def parts(request: httpx2.Request) -> dict[str, str]:
    """What a body says, with the order in each of its parts: what a provider's cache goes by."""
    return {name: json.dumps(value) for name, value in json.loads(request.content).items()}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_same_is_sent_as_by_the_method_of_the_sdk(name: str, stream: bool) -> None:
    spoken = PROTOCOLS[name]
    body = spoken.request_of(REQUEST, LiveSettings("openai", "gpt-4.1", "https://h/v1", None))
    streamed: dict[str, type] = {"messages": anthropic.AsyncStream[object]}
    kind = streamed.get(name, openai.AsyncStream[object]) if stream else None

    typed = sent(spoken, lambda client: spoken.method(client).create(**body, stream=stream))
    ours = sent(
        spoken,
        lambda client: answered(client, spoken.path, body, spoken.folded, streamed=kind, headers={"X-Own": "yes"}),
    )

    assert parts(ours) == parts(typed)
    assert "tools" in parts(ours)
    assert (ours.method, ours.url) == (typed.method, typed.url)
    assert dict(ours.headers) == {**dict(typed.headers), "x-own": "yes"}
