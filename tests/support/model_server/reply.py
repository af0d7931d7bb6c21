"""From an answer and a fault to what goes over the wire."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

from support.model_server.api import Api, Asked, RejectedError
from support.model_server.faults import Fault
from support.model_server.script import Answer, Call
from support.model_server.wire import digest, json_bytes

Ending = Literal["done", "closed", "reset", "stall"]
HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>"
HUGE = "All work and no play makes a model a dull one. " * 45_000  # a little more than 2 MB


@dataclass(frozen=True)
class Reply:
    """Status, headers and body; `ending` is what happens then, with status 0 instead of them."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] | None = None
    ending: Ending = "done"
    delay: float = 0.0


def reply_to(api: Api, asked: Asked, answer: Answer, fault: Fault | None, key: str) -> Reply:
    """The whole reply to a valid request."""
    if fault is None:
        return _plain(api, asked, answer)
    if fault.name in _MODEL:
        return _plain(api, asked, _MODEL[fault.name](answer))
    if fault.name == "key_echoed":
        return error_reply(api, RejectedError(401, "authentication_error", f"The key {key} is not valid."))
    failure = api.failures(asked).get("rate_limit" if fault.name.startswith("rate_limit") else fault.name)
    if failure is not None:
        return error_reply(api, replace(failure, headers=_retry_headers(fault)))
    return _BROKEN[fault.name](api, asked, answer, fault)


def error_reply(api: Api, error: RejectedError) -> Reply:
    """An error status with the provider's body."""
    identity = f"req_{digest(error.status, error.message)}"
    headers = {"content-type": "application/json", api.request_id_header: identity, **error.headers}
    return Reply(error.status, json_bytes(api.error_body(error, identity)), headers)


def _plain(api: Api, asked: Asked, answer: Answer) -> Reply:
    headers = {api.request_id_header: f"req_{digest(asked.prompt, asked.turn)}"}
    if asked.stream:
        headers |= {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return Reply(200, headers=headers, chunks=tuple(api.events(asked, answer)))
    headers["content-type"] = "application/json"
    return Reply(200, json_bytes(api.answer(asked, answer)), headers)


def _retry_headers(fault: Fault) -> dict[str, str]:
    seconds = fault.retry_after
    if fault.name == "rate_limit_bare" or (seconds is None and not fault.name.startswith("rate_limit")):
        return {}
    seconds = 1.0 if seconds is None else seconds
    if fault.name == "rate_limit_date":
        when = datetime.now(UTC) + timedelta(seconds=math.ceil(seconds))
        return {"retry-after": format_datetime(when, usegmt=True)}
    if fault.name == "rate_limit_ms":
        return {"retry-after-ms": f"{seconds * 1000:g}"}
    return {"retry-after": f"{seconds:g}"}


def _half(reply: Reply, ending: Ending) -> Reply:
    if reply.chunks is not None:
        return replace(reply, chunks=reply.chunks[: _middle(reply)], ending=ending)
    return replace(reply, body=reply.body[: len(reply.body) // 2], ending=ending)


def _middle(reply: Reply) -> int:
    return max(2, len(reply.chunks or ()) // 2)


def _halved(ending: Ending) -> Callable[[Api, Asked, Answer, Fault], Reply]:
    def broken(api: Api, asked: Asked, answer: Answer, _: Fault) -> Reply:
        return _half(_plain(api, asked, answer), ending)

    return broken


def _interrupted(api: Api, asked: Asked, answer: Answer, fault: Fault) -> Reply:
    reply = _half(_plain(api, asked, answer), "done")
    event = (
        b'data: {"type": "broken\n\n' if fault.name == "stream_broken_event" else api.stream_error(asked, fault.name)
    )
    if fault.name == "stream_broken_event" and api.protocol != "chat":
        event = b"event: message_delta\n" + event
    return replace(reply, chunks=(*(reply.chunks or ()), event))


def _unlike(status: int, body: bytes, kind: str) -> Callable[[Api, Asked, Answer, Fault], Reply]:
    return lambda *_: Reply(status, body, {"content-type": kind})


def _nothing(ending: Ending) -> Callable[[Api, Asked, Answer, Fault], Reply]:
    return lambda *_: Reply(0, ending=ending)


def _cut_json(api: Api, asked: Asked, answer: Answer, _: Fault) -> Reply:
    reply = _plain(api, asked, answer)
    return replace(reply, body=reply.body[: len(reply.body) // 2])


def _slow(api: Api, asked: Asked, answer: Answer, fault: Fault) -> Reply:
    return replace(_plain(api, asked, answer), delay=fault.delay)


_BROKEN: dict[str, Callable[[Api, Asked, Answer, Fault], Reply]] = {
    "bad_gateway": _unlike(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html"),
    "reset": _nothing("reset"),
    "reset_after_headers": _halved("reset"),
    "closed": _nothing("closed"),
    "stall": _nothing("stall"),
    "stall_body": _halved("stall"),
    "slow": _slow,
    "broken_json": _cut_json,
    "html": _unlike(200, HTML, "text/html; charset=utf-8"),
    "empty_body": _unlike(200, b"", "application/json"),
    "wrong_shape": _unlike(200, b'{"status":"ok","result":[1,2,3]}', "application/json"),
    "stream_cut": _halved("closed"),
    "stream_early_end": _halved("done"),
    "stream_stall": _halved("stall"),
    "stream_error": _interrupted,
    "stream_error_nested": _interrupted,
    "stream_failed": _interrupted,
    "stream_broken_event": _interrupted,
}


def _arguments(text: str) -> Callable[[Answer], Answer]:
    def broken(answer: Answer) -> Answer:
        name = answer.calls[0].name if answer.calls else "bash"
        return replace(answer, calls=(Call(text, name),), stop="auto")

    return broken


def _only_text(text: str, **changes: Any) -> Callable[[Answer], Answer]:
    return lambda answer: replace(answer, text=text, calls=(), **changes)


_MODEL: dict[str, Callable[[Answer], Answer]] = {
    "empty_answer": _only_text("", thinking="", extra=False, stop="end"),
    "refusal": _only_text("I can't help with that.", stop="refusal"),
    "content_filter": _only_text("", stop="content_filter"),
    "length": _only_text("And so it goes on and", stop="length"),
    "length_in_call": lambda answer: replace(_arguments('{"commands": "echo one; ec')(answer), stop="length"),
    "context_window": _only_text("And so it goes", stop="context_window"),
    "pause": _only_text("Let me look that up.", stop="pause"),
    "other_stop": lambda answer: replace(answer, stop="other"),
    "failed": _only_text("", stop="failed"),
    "huge": lambda answer: replace(answer, text=HUGE),
    "broken_arguments": _arguments('{"commands": echo one}'),
    "list_arguments": _arguments('["echo one"]'),
    "unknown_tool": lambda answer: replace(answer, calls=(Call({"path": "/etc/passwd"}, "read_file"),), stop="auto"),
    "extra_block": lambda answer: replace(answer, extra=True),
    "no_usage": lambda answer: replace(answer, usage=False),
}
