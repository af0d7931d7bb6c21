"""What a call gave, and as text what a model reads of it: images and the like are named, never passed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalward.records.base import clean_text, fitting
from evalward.records.json_text import NoJsonError, refuse_depth

BAD_ANSWER = "bad_answer"
NOTHING = "(no output)"
"""What a model reads of a result without content."""


@dataclass(frozen=True)
class CallOutcome:
    """What a call of a tool gave. `text` is what a model reads.

    `why`: what kind of error it is, if one: `is_error` (the tool says so), `json_rpc_error`, `bad_answer` (no result of
    a call), `input_required` (the server asks for what it is refused).
    """

    text: str
    is_error: bool
    why: str | None = None
    duration_ms: int = 0
    structured: Mapping[str, Any] | None = field(default=None, compare=False)


def outcome_of(result: Mapping[str, Any]) -> CallOutcome:
    """What a result of `tools/call` says."""
    failed = result.get("isError") is True
    return CallOutcome(text_of(result), failed, "is_error" if failed else None, structured=_structured(result))


def _structured(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    given = result.get("structuredContent")
    try:
        return fitting(given) if isinstance(given, dict) else None
    except ValueError:  # nested beyond reason
        return None


def text_of(result: Mapping[str, Any]) -> str:
    """The content of a result of `tools/call`, block by block; its structured content where there is no other."""
    blocks = result.get("content")
    parts = [_block(each) for each in blocks] if isinstance(blocks, list) else []
    structured = result.get("structuredContent")
    if not any(parts) and structured is not None:
        parts = [_written(structured)]
    return clean_text("\n".join(part for part in parts if part)) or NOTHING


def _written(value: Any) -> str:
    try:
        refuse_depth(value)
        return json.dumps(value, ensure_ascii=False)
    except NoJsonError:
        return "[structured content that is nested too deeply]"


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return "[unreadable content]"
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    if kind in {"image", "audio"}:
        return f"[{kind}: {_word(block.get('mimeType'))}, {_size(block.get('data'))}]"
    if kind == "resource_link":
        return f"[resource: {_word(block.get('uri'))}]"
    if kind == "resource":
        return _resource(block.get("resource"))
    return f"[content of type {_word(kind)}]"


def _resource(resource: Any) -> str:
    if not isinstance(resource, dict):
        return "[unreadable resource]"
    if isinstance(resource.get("text"), str):
        return str(resource["text"])
    named = f"{_word(resource.get('uri'))}, {_word(resource.get('mimeType'))}"
    return f"[resource: {named}, {_size(resource.get('blob'))}]"


def _word(value: Any) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) and value.strip() else "unnamed"


def _size(data: Any) -> str:
    """How many bytes a text in Base64 stands for."""
    if not isinstance(data, str):
        return "no data"
    return f"{max(0, len(data) * 3 // 4 - data[-2:].count('=')):,} bytes"
