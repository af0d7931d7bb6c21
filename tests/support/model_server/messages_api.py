"""Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import BaseModel

from support.model_server import messages_fields as fields
from support.model_server import messages_rules as rules
from support.model_server.api import Api, Asked, HttpRequest, Protocol, RejectedError, bearer, first_error
from support.model_server.provider_errors import anthropic_failures
from support.model_server.script import Answer, Stop
from support.model_server.wire import digest, estimate_tokens, pieces, seal, sse

OLD_VERSION = "2023-06-01"
VERSIONS = (OLD_VERSION, "2026-10-21")
STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "tool_use": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
    "pause": "pause_turn",
    "context_window": "model_context_window_exceeded",
    "failed": "future_reason",
    "other": "future_reason",
}
MAX_OUTPUT = 128_000


class MessagesApi(Api):
    """POST /v1/messages and /v1/messages/count_tokens."""

    protocol: ClassVar[Protocol] = "messages"
    path: ClassVar[str] = "/v1/messages"
    request_id_header: ClassVar[str] = "request-id"

    def authenticate(self, request: HttpRequest, key: str) -> None:
        given = request.headers.get("x-api-key")
        if not given and not bearer(request):
            raise RejectedError(401, "authentication_error", "x-api-key header is required")
        if given and given != key:
            raise RejectedError(401, "authentication_error", "invalid x-api-key")
        if not given and bearer(request) != key:
            raise RejectedError(401, "authentication_error", "Invalid bearer token")
        version = request.headers.get("anthropic-version")
        if version is None:
            raise rules.invalid("anthropic-version: header is required")
        if version not in VERSIONS:
            raise rules.invalid(f"anthropic-version: {version!r} is not a valid version")

    def read(self, request: HttpRequest, body: dict[str, Any], models: frozenset[str]) -> Asked:
        counting = request.path.endswith("/count_tokens")
        parsed = first_error(_model(request, counting), body)
        if not isinstance(parsed, BaseModel):
            raise rules.invalid(_told(parsed))
        if parsed.model not in models:
            raise RejectedError(404, "not_found_error", f"model: {parsed.model}")
        groups = rules.check(parsed)
        count = estimate_tokens([body["messages"], body.get("system"), body.get("tools")]) if counting else None
        stream = False
        if isinstance(parsed, fields.Request):
            stream = parsed.stream
            _check_size(parsed)
        return Asked(
            protocol="messages",
            model=parsed.model,
            prompt=rules.first_text(groups),
            turn=rules.answered(groups),
            stream=stream,
            count_only=count,
        )

    def answer(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        if asked.count_only is not None:
            return {"input_tokens": asked.count_only}
        return {
            "id": f"msg_{digest(asked.prompt, asked.turn)}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [block for block, _ in _blocks(asked, answer)],
            **_ending(answer),
            "usage": _usage(answer) | {"service_tier": "standard"} if answer.usage else None,
        }

    def events(self, asked: Asked, answer: Answer) -> Iterator[bytes]:
        whole = self.answer(asked, answer)
        usage = whole["usage"]
        started: dict[str, Any] = {"stop_reason": None, "stop_details": None, "content": []}
        early = {"output_tokens": 1, "output_tokens_details": None} if usage else {}
        yield _event("message_start", message=whole | started | {"usage": usage and usage | early})
        yield _event("ping")
        for index, (block, raw) in enumerate(_blocks(asked, answer)):
            yield from _block_events(index, block, raw)
        yield _event("message_delta", delta=_ending(answer), usage=_usage(answer) if answer.usage else None)
        yield _event("message_stop")

    def stream_error(self, asked: Asked, name: str) -> bytes:
        error = {"type": "overloaded_error", "message": "Overloaded"}
        return _event("error", error=error, request_id=f"req_{digest('stream')}")

    def error_body(self, error: RejectedError, request_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = {"type": error.type, "message": error.message}
        if error.details:
            shown["details"] = error.details
        return {"type": "error", "error": shown, "request_id": request_id}

    def failures(self, asked: Asked) -> dict[str, RejectedError]:
        return anthropic_failures(asked.model)

    def unreadable(self, why: str) -> RejectedError:
        return rules.invalid(f"The request body is not valid JSON: {why}")


def _model(request: HttpRequest, counting: bool) -> type[fields.CountRequest]:
    if counting:
        return fields.CountRequest
    if "beta=true" in request.query or "anthropic-beta" in request.headers:
        return fields.BetaRequest
    return fields.OldRequest if request.headers["anthropic-version"] == OLD_VERSION else fields.Request


def _told(error: dict[str, Any]) -> str:
    return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"


def _check_size(request: fields.Request) -> None:
    if request.max_tokens > MAX_OUTPUT:
        raise rules.invalid(
            f"max_tokens: {request.max_tokens} > {MAX_OUTPUT}, which is the maximum allowed number of output tokens "
            f"for {request.model}"
        )


def _ending(answer: Answer) -> dict[str, Any]:
    reason = STOPS[answer.reason]
    details = {"type": "refusal", "category": None, "explanation": None} if reason == "refusal" else None
    return {"stop_reason": reason, "stop_sequence": None, "stop_details": details}


def _usage(answer: Answer) -> dict[str, Any]:
    tokens = answer.tokens
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "output_tokens_details": {"thinking_tokens": tokens.reasoning} if tokens.reasoning else None,
    }


def _blocks(asked: Asked, answer: Answer) -> Iterator[tuple[dict[str, Any], str]]:
    """Each content block, and what of it a stream sends piece by piece."""
    if answer.thinking and answer.redacted:
        yield {"type": "redacted_thinking", "data": seal(answer.thinking)}, ""
    elif answer.thinking:
        thinking = {"type": "thinking", "thinking": answer.thinking, "signature": seal(answer.thinking)}
        yield thinking, answer.thinking
    if answer.extra:
        yield {"type": "future_block", "note": "from the future", "signature": seal("from the future")}, ""
    if answer.text:
        yield {"type": "text", "text": answer.text, "citations": None}, answer.text
    for number, call in enumerate(answer.calls):
        raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        identity = f"toolu_{digest(asked.prompt, asked.turn, number)}"
        yield {"type": "tool_use", "id": identity, "name": call.name, "input": _input(answer, raw)}, raw
    if answer.reason == "pause":
        identity = f"srvtoolu_{digest(asked.prompt, asked.turn)}"
        yield (
            {"type": "server_tool_use", "id": identity, "name": "web_search", "input": {"query": "x"}},
            '{"query":"x"}',
        )


def _input(answer: Answer, raw: str) -> object:
    try:
        return json.loads(raw)
    except ValueError:
        return {} if answer.reason == "length" else raw


def _block_events(index: int, block: dict[str, Any], raw: str) -> Iterator[bytes]:
    empty: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
    }
    yield _event("content_block_start", index=index, content_block=block | empty.get(block["type"], {}))
    deltas = [] if block["type"] not in empty else [_delta(block["type"], piece) for piece in pieces(raw)]
    if block["type"] == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _delta(kind: str, piece: str) -> dict[str, Any]:
    if kind in {"text", "thinking"}:
        return {"type": f"{kind}_delta", kind: piece}
    return {"type": "input_json_delta", "partial_json": piece}


def _event(kind: str, **data: object) -> bytes:
    return sse({"type": kind, **data}, event=kind)
