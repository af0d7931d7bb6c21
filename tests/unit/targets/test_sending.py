"""What is sent does not depend on the way past the SDK's declared types."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from evalward.records.trace import Message, Text, ToolResult, ToolUse
from evalward.targets.base import Request, ToolSpec
from evalward.targets.models import anthropic as messages
from evalward.targets.models import openai_chat, openai_responses
from evalward.targets.models.sending import arguments_of
from evalward.targets.models.settings import LiveSettings

Ask = Callable[[httpx2.AsyncClient, Mapping[str, Any]], Any]

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


def chat(http: httpx2.AsyncClient, body: Mapping[str, Any]) -> Any:
    return _openai(http).chat.completions.create(**body)


def responses(http: httpx2.AsyncClient, body: Mapping[str, Any]) -> Any:
    return _openai(http).responses.create(**body)


def claude(http: httpx2.AsyncClient, body: Mapping[str, Any]) -> Any:
    client = anthropic.AsyncAnthropic(api_key="k", base_url="https://h", max_retries=0, http_client=http)
    return client.messages.create(**body)


def _openai(http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="k", base_url="https://h/v1", max_retries=0, http_client=http)


async def sent(ask: Ask, body: Mapping[str, Any]) -> bytes:
    """The body that goes out."""
    bodies: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content)
        return httpx2.Response(400, json={"error": {"message": "enough"}})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
            await ask(http, body)
    (only,) = bodies
    return only


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("ask", "request_of", "names"),
    [
        (chat, openai_chat.request_of, {"messages", "tools"}),
        (responses, openai_responses.request_of, {"input", "tools"}),
        (claude, messages.request_of, {"messages", "tools"}),
    ],
)
def test_the_same_bytes_are_sent(ask: Ask, request_of: Callable[..., Any], names: set[str], stream: bool) -> None:
    body = {**request_of(REQUEST, LiveSettings("openai", "gpt-4.1", "https://h/v1", None)), "stream": stream}

    found = arguments_of(body)

    assert names <= set(found["extra_body"])
    typed, past = asyncio.run(sent(ask, body)), asyncio.run(sent(ask, found))
    assert past == typed
    assert json.loads(past)["tools"]
