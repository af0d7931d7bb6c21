"""`openai-responses/NAME`: OpenAI's Responses API, stateless: every turn sends the whole conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from evalward.records.trace import Block, Message, Opaque, StopReason, Text, ToolResult, ToolUse, Turn, Usage
from evalward.targets.base import Reply, Request
from evalward.targets.models.openai_client import OUTPUT_NAME, OpenAIBatchWay, OpenAIWire, Spoken, reasons
from evalward.targets.models.protocol import ModelProtocol
from evalward.targets.models.reading import (
    Json,
    MalformedError,
    ProviderError,
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
    from openai.types.responses import ResponseInputParam
    from openai.types.responses.response_create_params import ResponseCreateParamsBase

PROVIDER = "openai-responses"

INCOMPLETE: Mapping[str, StopReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
ENDINGS = {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}


# ------------------------------------------------------------------------------------------- our records → request


def request_of(request: Request, settings: LiveSettings) -> ResponseCreateParamsBase:
    """The request's body. Nothing is stored at the provider, so reasoning has to come along, encrypted."""
    items = [item for message in request.messages for item in _to_send(message)]
    params: ResponseCreateParamsBase = {
        "model": settings.model,
        "input": cast("ResponseInputParam", items),
        "store": False,
    }
    if reasons(settings.model):
        params["include"] = ["reasoning.encrypted_content"]
    if request.system.strip():
        params["instructions"] = request.system
    if request.tools:
        params["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.input_schema),
                "strict": False,
            }
            for tool in request.tools
        ]
    most = most_tokens(request, settings)
    if most is not None:
        params["max_output_tokens"] = most
    params.update(cast("ResponseCreateParamsBase", sampling_of(request, settings)))
    if settings.effort is not None:
        params["reasoning"] = {"effort": settings.effort}
    if request.output_schema is not None:
        schema = dict(request.output_schema)
        params["text"] = {"format": {"type": "json_schema", "name": OUTPUT_NAME, "strict": True, "schema": schema}}
    return params


def _to_send(message: Message) -> list[dict[str, Any]]:
    items = [item for item in (_item_to_send(block, message.role) for block in message.content) if item is not None]
    while items and items[-1].get("type") == "reasoning":  # refused without the item that it led to
        items.pop()
    return items


def _item_to_send(block: Block, role: str) -> dict[str, Any] | None:
    match block:
        case Text():
            return {"role": role, "content": block.text} if block.text.strip() else None
        case ToolUse():
            arguments = json.dumps(arguments_to_send(block.input))
            return {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
        case ToolResult():
            return {"type": "function_call_output", "call_id": block.tool_use_id, "output": block.content}
        case Opaque():
            return _opaque_to_send(block)


def _opaque_to_send(block: Opaque) -> dict[str, Any] | None:
    """Unaltered or not at all: reasoning that isn't sent along encrypted means nothing to the provider."""
    if block.provider != PROVIDER or (
        block.data.get("type") == "reasoning" and not block.data.get("encrypted_content")
    ):
        return None
    return dict(block.data)


# ------------------------------------------------------------------------------------------- answer → our records


def reply_of(answer: Json, turn: int = 0) -> Reply:
    """The answer as a reply, without cost and time. Raises `MalformedError`, or `ProviderError` when it failed."""
    status = need(answer, "status", str)
    if status == "failed":
        raise ProviderError(answer.get("error"))
    if status not in {"completed", "incomplete"}:
        raise MalformedError(f"the answer's status is {status[:40]!r}")
    output = need_objects(answer, "output")
    calls = [maybe(item, "call_id", str) or "" for item in output if item.get("type") == "function_call"]
    ids = iter(unique_ids(calls, turn))
    room = AnswerRoom()
    blocks = [block for item in output for block in _blocks(item, ids.__next__, room)]
    refused = any(part.get("type") == "refusal" for item in output for part in _parts(item))
    return Reply(
        Message(role="assistant", content=blocks),
        Turn(
            usage=usage_of(maybe(answer, "usage", dict)),
            stop=_stop(answer, refused=refused, calls=bool(calls)),
            model=maybe(answer, "model", str),
        ),
    )


def _stop(answer: Json, *, refused: bool, calls: bool) -> StopReason:
    if refused:
        return "refusal"
    if answer["status"] == "incomplete":
        why = maybe(maybe(answer, "incomplete_details", dict) or {}, "reason", str)
        return INCOMPLETE.get(why or "", "other")
    return "tool_use" if calls else "end"


def _parts(item: Json) -> list[dict[str, Any]]:
    return need_objects(item, "content") if item.get("type") == "message" else []


def _blocks(item: dict[str, Any], next_id: Any, room: AnswerRoom) -> list[Block]:
    match need(item, "type", str):
        case "message":
            texts = [maybe(part, "text", str) or maybe(part, "refusal", str) for part in _parts(item)]
            return [Text(text=text) for text in texts if text]
        case "function_call":
            given = parsed_arguments(need(item, "arguments", str), room)
            return [ToolUse(id=next_id(), name=need(item, "name", str), input=given)]
        case _:  # reasoning, a tool of the provider's
            data = kept(item)
            return [] if data is None else [Opaque(provider=PROVIDER, data=data)]


def usage_of(usage: Json | None) -> Usage:
    """Theirs counts the cache in the input; ours doesn't. Reasoning is part of the output in both."""
    read = tokens(usage, "input_tokens_details", "cached_tokens")
    written = tokens(usage, "input_tokens_details", "cache_write_tokens")
    return Usage(
        input_tokens=without(tokens(usage, "input_tokens"), read, written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens(usage, "output_tokens"),
        reasoning_tokens=tokens(usage, "output_tokens_details", "reasoning_tokens"),
    )


# ------------------------------------------------------------------------------------------- a stream → the answer


def folded(events: Iterable[Json]) -> dict[str, Any]:
    """The answer of a stream's last event, with the items as they were when they were done.

    Raises `MalformedError` when the stream ended before the answer, `ProviderError` at an error event.
    """
    done: dict[int, Any] = {}
    room = AnswerRoom()
    for event in events:
        kind = maybe(event, "type", str)
        if kind == "error":
            raise ProviderError(event.get("error") or event)
        if kind == "response.output_item.done":
            done[need(event, "output_index", int)] = room.take(need(event, "item", dict))
        elif kind in ENDINGS:
            answer = need(event, "response", dict)
            rest = room.take({name: value for name, value in answer.items() if name != "output"})
            return {**rest, "output": [done[index] for index in sorted(done)]} if done else answer
    raise MalformedError("the stream ended before the answer did")


PATH = "/responses"
SPOKEN = Spoken(PATH, request_of, folded, reply_of)
PROTOCOL = ModelProtocol(
    partial(OpenAIWire, spoken=SPOKEN),
    path=PATH,
    forward=PATH,
    folded=folded,
    reply_of=reply_of,
    limit_status=400,
    limit_type="insufficient_quota",
    bounds=("max_output_tokens",),
    batches=OpenAIBatchWay("/v1/responses", SPOKEN),
)
