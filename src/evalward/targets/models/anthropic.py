"""`anthropic/NAME`: Anthropic's Messages API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalward.records.trace import Block, Message, Opaque, StopReason, Text, ToolResult, ToolUse, Turn, Usage
from evalward.targets.base import Reply, Request
from evalward.targets.models.anthropic_cache import CacheMarking
from evalward.targets.models.http_client import client_options
from evalward.targets.models.on_demand import load_on_demand
from evalward.targets.models.protocol import ModelProtocol
from evalward.targets.models.reading import (
    Json,
    MalformedError,
    arguments_to_send,
    kept,
    maybe,
    need,
    need_objects,
    reading,
    tokens,
    unique_ids,
)
from evalward.targets.models.room import AnswerRoom, parsed_arguments
from evalward.targets.models.sampling import most_tokens
from evalward.targets.models.sending import answered
from evalward.targets.models.settings import LiveSettings, Secret

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import OutputConfigParam
    from anthropic.types.message_create_params import MessageCreateParamsBase

    from evalward.targets.models.batching import BatchApi

PROVIDER = "anthropic"
PATH = "/v1/messages"
MAX_TOKENS = 16_000  # the API wants a number; no model of today has fewer

STOPS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_length",
}


# ------------------------------------------------------------------------------------------- our records → request


def request_of(request: Request, settings: LiveSettings) -> MessageCreateParamsBase:
    """The request's body."""
    params: MessageCreateParamsBase = {
        "model": settings.model,
        "max_tokens": most_tokens(request, settings) or MAX_TOKENS,
        "messages": [{"role": role, "content": blocks} for role, blocks in _messages(request.messages)],
    }
    if request.system.strip():
        params["system"] = request.system
    if request.tools:
        params["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
            for tool in request.tools
        ]
    output = _output_config(request, settings)
    if output:
        params["output_config"] = output
    return params


def _output_config(request: Request, settings: LiveSettings) -> OutputConfigParam:
    config: OutputConfigParam = {}
    if settings.effort in ("low", "medium", "high", "xhigh", "max"):
        config["effort"] = settings.effort
    if request.output_schema is not None:
        config["format"] = {"type": "json_schema", "schema": dict(request.output_schema)}
    return config


def _messages(messages: Iterable[Message]) -> Iterable[tuple[Any, list[Any]]]:
    for message in messages:
        blocks = [block for block in map(_block_to_send, message.content) if block is not None]
        if blocks:  # the API refuses a message without content
            yield "assistant" if message.role == "assistant" else "user", blocks


def _block_to_send(block: Block) -> dict[str, Any] | None:
    match block:
        case Text():
            return {"type": "text", "text": block.text} if block.text.strip() else None
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments_to_send(block.input)}
        case ToolResult():
            result = {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": block.content}
            return {**result, "is_error": True} if block.is_error else result
        case Opaque():
            return dict(block.data) if block.provider == PROVIDER else None


# ------------------------------------------------------------------------------------------- answer → our records


def reply_of(answer: Json, turn: int = 0) -> Reply:
    """The answer as a reply, without cost and time. Raises `MalformedError`."""
    if answer.get("type") != "message":
        raise MalformedError("the answer is not a message")
    raw = need_objects(answer, "content")
    ids = iter(unique_ids([maybe(b, "id", str) or "" for b in raw if b.get("type") == "tool_use"], turn))
    blocks = [_block(block, ids.__next__) for block in raw]
    stop = STOPS.get(need(answer, "stop_reason", str), "other")
    return Reply(
        Message(role="assistant", content=[block for block in blocks if block is not None]),
        Turn(usage=usage_of(maybe(answer, "usage", dict)), stop=stop, model=maybe(answer, "model", str)),
    )


def _block(block: dict[str, Any], next_id: Any) -> Block | None:
    match need(block, "type", str):
        case "text":
            text = need(block, "text", str)
            return Text(text=text) if text else None
        case "tool_use":
            return ToolUse(id=next_id(), name=need(block, "name", str), input=kept(block.get("input")))
        case _:  # thinking with its signature, a tool of the provider's: theirs, and to go back as it is
            data = kept(block)
            return None if data is None else Opaque(provider=PROVIDER, data=data)


def usage_of(usage: Json | None) -> Usage:
    """Our convention is theirs: `input_tokens` without cache, `output_tokens` with thinking."""
    return Usage(
        input_tokens=tokens(usage, "input_tokens"),
        cache_read_tokens=tokens(usage, "cache_read_input_tokens"),
        cache_write_tokens=tokens(usage, "cache_creation_input_tokens"),
        output_tokens=tokens(usage, "output_tokens"),
        reasoning_tokens=tokens(usage, "output_tokens_details", "thinking_tokens"),
    )


# ------------------------------------------------------------------------------------------- a stream → the answer


@dataclass
class _Begun:
    """A block that a stream has begun, and the pieces that it goes on with, by the field that they belong to."""

    block: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def folded(events: Iterable[Json]) -> dict[str, Any]:
    """The message that a stream told in pieces. Raises `MalformedError` when the stream ended before the message."""
    message: dict[str, Any] = {}
    blocks: dict[int, _Begun] = {}
    room, ended = AnswerRoom(), False
    for event in events:
        match event.get("type"):
            case "message_start":
                message = dict(need(event, "message", dict))
            case "content_block_start":
                block = dict(room.take(need(event, "content_block", dict)))
                blocks[need(event, "index", int)] = _Begun(block)
            case "content_block_delta":
                _add(blocks, need(event, "index", int), need(event, "delta", dict), room)
            case "message_delta":
                _end(message, event)
            case "message_stop":
                ended = True
    if not message or not ended:
        raise MalformedError("the stream ended before the answer did")
    return {**room.take(message), "content": [_whole(blocks[index], room) for index in sorted(blocks)]}


def _add(blocks: dict[int, _Begun], index: int, delta: dict[str, Any], room: AnswerRoom) -> None:
    if index not in blocks:
        raise MalformedError("the stream goes on with a block that it never began")
    begun = blocks[index]
    match delta.get("type"):
        case "text_delta":
            begun.pieces["text"].append(room.take_text(need(delta, "text", str)))
        case "thinking_delta":
            begun.pieces["thinking"].append(room.take_text(need(delta, "thinking", str)))
        case "signature_delta":
            begun.block["signature"] = room.take_text(need(delta, "signature", str))
        case "input_json_delta":
            begun.pieces[_ARGUMENTS].append(room.take_text(need(delta, "partial_json", str)))


_ARGUMENTS = "partial_json"  # of a tool use, until the block is whole


def _whole(begun: _Begun, room: AnswerRoom) -> dict[str, Any]:
    block = begun.block
    for name in begun.pieces.keys() | (block.keys() & {_ARGUMENTS}):
        block[name] = "".join([need({name: block.get(name) or ""}, name, str), *begun.pieces[name]])
    arguments = block.pop(_ARGUMENTS, "")
    return {**block, "input": parsed_arguments(arguments, room)} if arguments else block


def _end(message: dict[str, Any], event: Json) -> None:
    delta = need(event, "delta", dict)
    message["stop_reason"] = delta.get("stop_reason")
    counts = {name: value for name, value in (maybe(event, "usage", dict) or {}).items() if value is not None}
    message["usage"] = {**(maybe(message, "usage", dict) or {}), **counts}


# ------------------------------------------------------------------------------------------- the SDK


class AnthropicWire:
    """Messages over the official SDK."""

    def __init__(self, settings: LiveSettings, key: Secret) -> None:
        self._settings = settings
        self._client = make_client(settings, key)
        self._streamed = _stream_class() if settings.stream else None
        self._marking = CacheMarking(settings.model) if settings.prompt_cache else None

    async def ask(self, request: Request) -> Reply:
        """One attempt."""
        body: Mapping[str, Any] = request_of(request, self._settings)
        if self._marking is None:
            return await self._asked(request, body)
        with self._marking.of(body, request.part) as marked:
            return await self._asked(request, marked)

    async def _asked(self, request: Request, body: Mapping[str, Any]) -> Reply:
        answer = await answered(self._client, PATH, body, folded, streamed=self._streamed)
        with reading():
            return reply_of(answer, len(request.messages))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def load_sdk() -> None:
    """Load the SDK, as far as a client needs it."""
    load_on_demand("anthropic", "AsyncAnthropic", "AsyncStream", "DefaultAsyncHttpxClient", "Omit")


def _stream_class() -> type:
    from anthropic import AsyncStream  # noqa: PLC0415 - has been loaded by who made the client

    return AsyncStream[object]


def make_client(settings: LiveSettings, key: Secret, most: int | None = None) -> AsyncAnthropic:
    """A client that takes nothing from the environment, retries nothing itself, and follows no redirect.

    `most`: the bytes that it reads of an answer.
    """
    load_sdk()
    import anthropic  # noqa: PLC0415 - costs half a second; only who asks a model pays it

    headers: dict[str, Any] = dict(settings.headers)
    if not key:
        headers["Authorization"] = anthropic.Omit()
    client = anthropic.AsyncAnthropic(
        api_key=key.reveal(),
        base_url=settings.base_url,
        default_headers=headers,
        max_retries=0,
        timeout=settings.timeout_s,
        open_telemetry=False,
        http_client=anthropic.DefaultAsyncHttpxClient(**client_options(settings, most)),
    )
    client._custom_headers = headers  # without ANTHROPIC_CUSTOM_HEADERS, which no report would show
    return client


def _batches(settings: LiveSettings, key: Secret) -> BatchApi:
    from evalward.targets.models.anthropic_batches import AnthropicBatches  # noqa: PLC0415 - few runs can wait
    from evalward.targets.models.batching import RESULTS_LIMIT, BatchedMessages  # noqa: PLC0415

    def asked(request: Request) -> Mapping[str, Any]:
        return request_of(request, settings)

    return AnthropicBatches(make_client(settings, key, RESULTS_LIMIT), BatchedMessages(asked, reply_of))


PROTOCOL = ModelProtocol(
    AnthropicWire,
    path="/messages",
    forward=PATH,
    folded=folded,
    reply_of=reply_of,
    limit_status=402,
    limit_type="billing_error",
    bounds=("max_tokens",),
    max_tokens=MAX_TOKENS,
    counts=True,
    batches=_batches,
)
