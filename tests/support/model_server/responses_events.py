"""The events by which a Responses stream builds one item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support.model_server.wire import pieces

Event = dict[str, Any]


def item_events(index: int, item: dict[str, Any]) -> Iterator[Event]:
    """All events of one output item, without their sequence numbers."""
    place = {"output_index": index, "item_id": item["id"]}
    emptied: dict[str, dict[str, Any]] = {
        "message": {"content": [], "status": "in_progress"},
        "reasoning": {"summary": []},
        "function_call": {"arguments": "", "status": "in_progress"},
    }
    yield {"type": "response.output_item.added", "output_index": index, "item": item | emptied.get(item["type"], {})}
    if item["type"] == "message":
        yield from _message(place, item["content"][0])
    elif item["type"] == "reasoning":
        for number, part in enumerate(item["summary"]):
            yield from _summary(place | {"summary_index": number}, part)
    elif item["type"] == "function_call":
        for piece in pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _message(place: dict[str, Any], part: dict[str, Any]) -> Iterator[Event]:
    place = place | {"content_index": 0}
    field = "refusal" if part["type"] == "refusal" else "text"
    kind = "response.refusal" if field == "refusal" else "response.output_text"
    more: dict[str, Any] = {} if field == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **place, "part": part | {field: ""}}
    for piece in pieces(part[field]):
        yield {"type": f"{kind}.delta", **place, **more, "delta": piece}
    yield {"type": f"{kind}.done", **place, **more, field: part[field]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _summary(place: dict[str, Any], part: dict[str, Any]) -> Iterator[Event]:
    yield {"type": "response.reasoning_summary_part.added", **place, "part": part | {"text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
