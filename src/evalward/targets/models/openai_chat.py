"""`openai/NAME`: OpenAI's Chat Completions API, which vLLM, Ollama, LiteLLM and most gateways speak too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from evalward.records.trace import Block, Message, StopReason, Text, ToolResult, ToolUse, Turn, Usage
from evalward.targets.base import Reply, Request, ToolSpec
from evalward.targets.models.openai_client import OUTPUT_NAME, OpenAIBatchWay, OpenAIWire, Spoken, newer
from evalward.targets.models.protocol import ModelProtocol
from evalward.targets.models.reading import (
    Json,
    MalformedError,
    arguments_to_send,
    kept,
    maybe,
    need,
    need_objects,
    tokens,
    unique_ids,
    without,
)
from evalward.targets.models.room import AnswerRoom, parsed_arguments
from evalward.targets.models.sampling import most_tokens, sampling_of
from evalward.targets.models.settings import LiveSettings

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase
    from openai.types.shared_params.response_format_json_schema import JSONSchema

STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "content_filter": "content_filter",
}


# ------------------------------------------------------------------------------------------- our records → request


def request_of(request: Request, settings: LiveSettings) -> CompletionCreateParamsBase:
    """The request's body."""
    system = [{"role": "system", "content": request.system}] if request.system.strip() else []
    messages = [*system, *(sent for message in request.messages for sent in _to_send(message))]
    params: CompletionCreateParamsBase = {
        "model": settings.model,
        "messages": cast("list[ChatCompletionMessageParam]", messages),
    }
    if request.tools:
        params["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.tools]
    most = most_tokens(request, settings)
    if most is not None:
        params["max_completion_tokens" if newer(settings.model) else "max_tokens"] = most
    params.update(cast("CompletionCreateParamsBase", sampling_of(request, settings)))
    if settings.effort is not None:
        params["reasoning_effort"] = settings.effort
    if settings.stream:
        params["stream_options"] = {"include_usage": True}
    if request.output_schema is not None:
        schema = dict(request.output_schema)
        output: JSONSchema = {"name": OUTPUT_NAME, "strict": True, "schema": schema}
        params["response_format"] = {"type": "json_schema", "json_schema": output}
    return params


def _function(tool: ToolSpec) -> Any:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}


def _to_send(message: Message) -> Iterable[dict[str, Any]]:
    if message.role == "tool_result":  # one message for each; there is no flag for errors, the text says it
        for block in message.content:
            if isinstance(block, ToolResult):
                yield {"role": "tool", "tool_call_id": block.tool_use_id, "content": block.content}
        return
    calls = [_call_to_send(use) for use in message.tool_uses]
    if message.text.strip() or calls:
        sent: dict[str, Any] = {"role": message.role, "content": message.text or None}
        yield {**sent, "tool_calls": calls} if calls else sent


def _call_to_send(use: ToolUse) -> dict[str, Any]:
    arguments = json.dumps(arguments_to_send(use.input))
    return {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


# ------------------------------------------------------------------------------------------- answer → our records


def reply_of(answer: Json, turn: int = 0) -> Reply:
    """The answer as a reply, without cost and time. Raises `MalformedError`."""
    choices = need_objects(answer, "choices")
    if not choices:
        raise MalformedError("the answer has no choice")
    choice = choices[0]
    message = need(choice, "message", dict)
    refusal = maybe(message, "refusal", str)
    words = [text for text in (maybe(message, "content", str), refusal) if text]
    uses = _uses(message, turn)
    blocks: list[Block] = [*(Text(text=text) for text in words), *uses]
    stop = STOPS.get(need(choice, "finish_reason", str), "other")
    if refusal:
        stop = "refusal"
    elif uses and stop == "end":  # some servers say "stop" with every answer; to go on is what the calls mean
        stop = "tool_use"
    return Reply(
        Message(role="assistant", content=blocks),
        Turn(usage=usage_of(maybe(answer, "usage", dict)), stop=stop, model=maybe(answer, "model", str)),
    )


def _uses(message: Json, turn: int) -> list[ToolUse]:
    calls = need_objects(message, "tool_calls") if message.get("tool_calls") else []
    ids, room = unique_ids([maybe(call, "id", str) or "" for call in calls], turn), AnswerRoom()
    return [_use(call, identity, room) for call, identity in zip(calls, ids, strict=True)]


def _use(call: dict[str, Any], identity: str, room: AnswerRoom) -> ToolUse:
    function = maybe(call, "function", dict)
    if function is None:  # a "custom" tool that nobody offered: its input is free text
        custom = need(call, "custom", dict)
        return ToolUse(id=identity, name=need(custom, "name", str), input=kept(custom.get("input")))
    arguments = function.get("arguments")  # a text; some servers send the object itself
    given = parsed_arguments(arguments, room) if isinstance(arguments, str) else kept(arguments)
    return ToolUse(id=identity, name=need(function, "name", str), input=given)


def usage_of(usage: Json | None) -> Usage:
    """Theirs counts the cache in the prompt; ours doesn't. Reasoning is part of the output in both."""
    read = tokens(usage, "prompt_tokens_details", "cached_tokens")
    written = tokens(usage, "prompt_tokens_details", "cache_write_tokens")
    return Usage(
        input_tokens=without(tokens(usage, "prompt_tokens"), read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens(usage, "completion_tokens"),
        reasoning_tokens=tokens(usage, "completion_tokens_details", "reasoning_tokens"),
    )


# ------------------------------------------------------------------------------------------- a stream → the answer


@dataclass
class _BegunCall:
    """A tool call whose arguments come in pieces."""

    id: str = ""
    name: str | None = None  # until one comes: a call without is none
    arguments: list[str] = field(default_factory=list)


_CALL = {"id": "", "function": {"name": "", "arguments": ""}}


@dataclass
class _Folding:
    """What a stream has told so far: texts in pieces, all calls, and by their index those that go on."""

    room: AnswerRoom = field(default_factory=AnswerRoom)
    texts: dict[str, list[str]] = field(default_factory=lambda: {"content": [], "refusal": []})
    calls: list[_BegunCall] = field(default_factory=list)
    latest: dict[int | None, _BegunCall] = field(default_factory=dict)

    def add(self, delta: Json) -> None:
        for name, pieces in self.texts.items():
            pieces.append(self.room.take_text(maybe(delta, name, str) or ""))
        for piece in need_objects(delta, "tool_calls") if delta.get("tool_calls") else []:
            self._add_to_call(piece)

    def _add_to_call(self, piece: Json) -> None:
        """Pieces belong to the call of their index; but some servers give every call the index 0, and another id."""
        index, identity = maybe({"index": 0, **piece}, "index", int), maybe(piece, "id", str)
        call = self.latest.get(index)
        if call is None or (identity and call.id not in ("", identity)):
            call = self.latest[index] = _BegunCall()
            self.calls.append(call)
            self.room.take(_CALL)
        function = maybe(piece, "function", dict) or {}
        call.id = call.id or self.room.take_text(identity or "")
        name = maybe(function, "name", str)
        if name is not None and not call.name:
            call.name = self.room.take_text(name)
        call.arguments.append(self.room.take_text(maybe(function, "arguments", str) or ""))

    def message(self) -> dict[str, Any]:
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for call in self.calls
        ]
        return {**{name: "".join(pieces) for name, pieces in self.texts.items()}, "tool_calls": calls}


def folded(chunks: Iterable[Json]) -> dict[str, Any]:
    """The answer that a stream told in pieces. Raises `MalformedError` when the stream ended before the answer."""
    answer: dict[str, Any] = {}
    told = _Folding()
    finish: str | None = None
    for chunk in chunks:
        answer |= {name: chunk[name] for name in ("model", "usage") if chunk.get(name)}
        for choice in need_objects(chunk, "choices")[:1]:
            told.add(maybe(choice, "delta", dict) or {})
            finish = maybe(choice, "finish_reason", str) or finish
    if finish is None:
        raise MalformedError("the stream ended before the answer did")
    told.room.take(answer)
    return {**answer, "choices": [{"finish_reason": finish, "message": told.message()}]}


PATH = "/chat/completions"
SPOKEN = Spoken(PATH, request_of, folded, reply_of)
PROTOCOL = ModelProtocol(
    partial(OpenAIWire, spoken=SPOKEN),
    path=PATH,
    forward=PATH,
    folded=folded,
    reply_of=reply_of,
    limit_status=402,
    limit_type="insufficient_quota",
    bounds=("max_completion_tokens", "max_tokens"),
    asks_for_usage=True,
    batches=OpenAIBatchWay("/v1/chat/completions", SPOKEN),
)
