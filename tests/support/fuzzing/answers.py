"""What providers and judges answer: through the SDKs with a transport of our own, and through the agents' proxy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx2

from evalward.keeper.models import live_target
from evalward.keeper.proxy.wire import WIRES
from evalward.records.trace import Message, Text, Trace
from evalward.suites.judge.rubric import Criterion, Rubric
from evalward.suites.judge.verdict import UnusableError, read_vote
from evalward.targets.base import Request
from evalward.targets.failures import Cause, TargetError
from evalward.targets.models.common import Behaviour, LiveTarget
from evalward.targets.models.reading import MalformedError, ProviderError, UnreadableAnswerError, reading
from evalward.targets.retry import RetryPolicy
from support.fuzzing.reader import Reader
from support.live import FakeTime, live_config

MESSAGE: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_reason": "tool_use",
    "content": [
        {"type": "text", "text": "Hm."},
        {"type": "thinking", "thinking": "…", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "bash", "input": {"commands": "ls"}},
    ],
    "usage": {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 0,
        "output_tokens_details": {"thinking_tokens": 1},
    },
}
COMPLETION: dict[str, Any] = {
    "model": "m",
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "content": "Hm.",
                "refusal": None,
                "tool_calls": [
                    {"id": "t", "type": "function", "function": {"name": "bash", "arguments": '{"commands": "ls"}'}},
                    {"id": "u", "type": "custom", "custom": {"name": "x", "input": "y"}},
                ],
            },
        }
    ],
}
RESPONSE: dict[str, Any] = {
    "status": "completed",
    "model": "m",
    "usage": {"input_tokens": 3, "output_tokens": 2},
    "output": [
        {"type": "reasoning", "encrypted_content": "e"},
        {"type": "message", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "t", "name": "bash", "arguments": '{"commands": "ls"}'},
    ],
}
ANSWERS = {"anthropic": MESSAGE, "openai": COMPLETION, "openai-responses": RESPONSE}
STREAMS: dict[str, list[Any]] = {
    "anthropic": [
        {"type": "message_start", "message": {**MESSAGE, "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "bash"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    "openai": [
        {"model": "m", "choices": [{"delta": {"content": "Hm."}}]},
        {
            "choices": [
                {"delta": {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "b", "arguments": "{}"}}]}}
            ]
        },
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
    ],
    "openai-responses": [
        {"type": "response.output_item.done", "output_index": 0, "item": RESPONSE["output"][1]},
        {"type": "response.completed", "response": RESPONSE},
    ],
}
ERROR: dict[str, Any] = {
    "error": {"type": "overloaded_error", "message": "m", "code": "c", "param": None, "details": {}}
}
LARGEST = 32_000_000  # bytes of a stream: of a larger one it is our own copies here that take the memory
ASKED = Request("Be brief.", (Message(role="user", content=[Text(text="Hello")]),))
VOTE: dict[str, Any] = {
    "scores": {"clear": 0.5, "whole": 1},
    "weighted_score": 0.75,
    "confidence": 0.5,
    "issues": ["a"],
    "highlights": [],
}


class OursError(AssertionError):
    """A provider's answer was told as a fault of ours."""


def sent_as_events(data: bytes) -> bytes:
    """Lines as server-sent events, each with the name that its JSON gives."""
    blocks = []
    for line in data.split(b"\n"):
        name = line.partition(b'"type": "')[2].partition(b'"')[0][:60]
        blocks.append((b"event: " + name + b"\n" if name else b"") + b"data: " + line + b"\n\n")
    return b"".join(blocks)


class Sent(httpx2.AsyncByteStream):
    """A body as it comes over the network, in one piece."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


@cache
def _target(provider: str, stream: bool) -> LiveTarget:
    """A model whose client, which takes a while to make, is made once."""
    config = live_config([f"{provider}/m"], {provider: {"stream": stream, "key_env": "K"}}).config
    return live_target(provider, "m", config, {"K": "key"})


def ask(
    provider: str,
    respond: Callable[[], httpx2.Response],
    *,
    stream: bool = False,
    policy: RetryPolicy | None = None,
    time: FakeTime | None = None,
) -> Trace:
    """Ask a model whose provider answers this; without `policy` once.

    Raises `TargetError`, or `OursError` for a fault of ours.
    """
    target = _target(provider, stream)
    target.behaviour = Behaviour(policy or RetryPolicy(retries=0), (time or FakeTime()).timing())
    target.dead = None
    wire: Any = target._connected()
    wire._client._client._transport = httpx2.MockTransport(lambda _: respond())
    chat = target.open(None, 1)  # type: ignore[arg-type]  # no case is looked at
    try:
        reply = asyncio.run(chat.send(ASKED))
    except TargetError as error:
        if error.cause is Cause.OURS:
            raise OursError(error.message) from error
        raise
    text = Trace(messages=[reply.message], turns=[reply.turn]).model_dump_json()
    return Trace.model_validate_json(text)


def _asked(provider: str, *, stream: bool, status: int = 200) -> Callable[[bytes, Path], object]:
    def read(data: bytes, folder: Path) -> object:
        kind = "text/event-stream" if stream else "application/json"
        body = sent_as_events(data[:LARGEST]) if stream else data
        headers = {
            "content-type": kind,
            "retry-after": data[:40].decode("latin-1").replace("\n", " ").replace("\r", ""),
        }
        headers["retry-after"] = "".join(c for c in headers["retry-after"] if " " <= c < "\x7f")
        return ask(provider, lambda: httpx2.Response(status, headers=headers, stream=Sent(body)), stream=stream)

    return read


def _proxied(provider: str, *, stream: bool) -> Callable[[bytes, Path], object]:
    def read(data: bytes, folder: Path) -> object:
        data = data[:LARGEST]
        with reading():
            reply = WIRES[provider].reply(sent_as_events(data) if stream else data, stream=stream)
        text = Trace(messages=[reply.message], turns=[reply.turn]).model_dump_json()
        return Trace.model_validate_json(text)

    return read


def _vote(data: bytes, folder: Path) -> object:
    rubric = Rubric(criteria=[Criterion(id=name, weight=0.5, description="d") for name in ("clear", "whole")])
    return read_vote(data.decode("utf-8", "replace"), rubric, 0.5).model_dump_json()


def _events(provider: str) -> Callable[[], Any]:
    return lambda: STREAMS[provider]


def _whole(provider: str) -> Callable[[], Any]:
    return lambda: ANSWERS[provider]


PROVIDERS = tuple(ANSWERS)
MODELS: tuple[Reader, ...] = (
    *(
        Reader(f"answer of {p}", "json", _whole(p), _asked(p, stream=False), (TargetError,), share=12)
        for p in PROVIDERS
    ),
    *(
        Reader(f"stream of {p}", "jsonl", _events(p), _asked(p, stream=True), (TargetError,), share=12)
        for p in PROVIDERS
    ),
    *(
        Reader(
            f"error of {p}",
            "json",
            lambda: ERROR,
            _asked(p, stream=False, status=429),
            (TargetError,),
            share=8,
            always_refused=True,
        )
        for p in PROVIDERS
    ),
    *(
        Reader(
            f"answer of {p} by the proxy",
            "json",
            _whole(p),
            _proxied(p, stream=False),
            (MalformedError, ProviderError, UnreadableAnswerError),
        )
        for p in PROVIDERS
    ),
    *(
        Reader(
            f"stream of {p} by the proxy",
            "jsonl",
            _events(p),
            _proxied(p, stream=True),
            (MalformedError, ProviderError, UnreadableAnswerError),
        )
        for p in PROVIDERS
    ),
    Reader("vote", "json", lambda: VOTE, _vote, (UnusableError,)),
)
