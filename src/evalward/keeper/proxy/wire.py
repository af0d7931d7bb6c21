"""The three protocols as the proxy sees them: which paths there are, how an answer is read, how a limit is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evalward.targets.agents.base import Limit
from evalward.targets.base import Reply
from evalward.targets.models import anthropic, openai_chat, openai_responses
from evalward.targets.models.reading import Json, MalformedError

LIMITS: Mapping[Limit, str] = {
    "turns": "the turn limit of this trial is reached",
    "tokens": "the token budget of this trial is spent",
    "usd": "the dollar budget of this trial is spent",
}


@dataclass(frozen=True)
class Wire:
    """One protocol.

    `path` is what agents ask for (with or without /v1 before it), `forward` what follows the provider's `base_url`.
    `limit_status` and `limit_type` are the error that ends an agent at once: what else is retried by some of them.
    """

    path: str
    forward: str
    folded: Callable[[Iterable[Json]], dict[str, Any]]
    reply_of: Callable[..., Reply]
    limit_status: int
    limit_type: str

    def reply(self, body: bytes, *, stream: bool) -> Reply:
        """An answer of status 200. Raises `MalformedError` or `ProviderError` when it is none, or not complete."""
        return self.reply_of(self.folded(events(body)) if stream else _object(body))

    def count_path(self) -> str | None:
        """The path that counts tokens, which costs nothing and is no turn."""
        return f"{self.path}/count_tokens" if self.path == "/messages" else None


# claude-code and opencode end at a 402. codex retries that, opencode a 429; both end at a 400.
WIRES: Mapping[str, Wire] = {
    "anthropic": Wire("/messages", "/v1/messages", anthropic.folded, anthropic.reply_of, 402, "billing_error"),
    "openai": Wire(
        "/chat/completions", "/chat/completions", openai_chat.folded, openai_chat.reply_of, 402, "insufficient_quota"
    ),
    "openai-responses": Wire(
        "/responses", "/responses", openai_responses.folded, openai_responses.reply_of, 400, "insufficient_quota"
    ),
}


def events(body: bytes) -> list[Json]:
    """The data of a stream's server-sent events. Raises `MalformedError` at one that is no JSON object."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n")
    found: list[Json] = []
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        data = "\n".join(lines)
        if data and data != "[DONE]":
            found.append(_object(data.encode()))
    return found


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedError("the answer is no JSON") from None
    if not isinstance(value, dict):
        raise MalformedError("the answer is no JSON object")
    return value


def error_body(kind: str, message: str) -> bytes:
    """An error in a shape that both providers' clients read."""
    error = {"type": kind, "code": kind, "param": None, "message": f"Evalward: {message}"}
    return json.dumps({"type": "error", "error": error}).encode()


def models_body(model: str) -> bytes:
    """The list of models, which has one."""
    entry = {"id": model, "type": "model", "object": "model", "display_name": model, "owned_by": "evalward"}
    return json.dumps({"object": "list", "data": [entry], "has_more": False}).encode()
