"""The protocols as the proxy sees them: which paths there are, how an answer is read, how a limit is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalward.keeper.proxy.exchange import Limit, Refusal
from evalward.records.providers import PROVIDERS
from evalward.targets.base import Reply
from evalward.targets.models.events import events_in, objects_of
from evalward.targets.models.protocol import ModelProtocol, protocol_of
from evalward.targets.models.reading import Json, object_of, unpacking
from evalward.targets.prices import Price
from evalward.targets.purse import UNBOUNDED, Estimate, read_estimate

NO_BUDGET = "the budget of this run is spent"
NO_PRICE = "the price of this model is unknown, so the dollar budget can't be kept"
NO_COUNTS = "tokens were counted often enough in this trial"
LEAST = 16  # tokens that an answer is bounded to at least: the Responses API takes no fewer
THINKING = 1024  # tokens that a model may think at least, where it is told how many
MOST = 1_000_000  # tokens that no answer has
_TIERS = {"auto", "default", "flex", "standard", "standard_only"}

LIMITS: Mapping[Limit, str] = {
    "turns": "the turn limit of this trial is reached",
    "tokens": "the token budget of this trial is spent",
    "usd": "the dollar budget of this trial is spent",
}


@dataclass(frozen=True)
class ProxyProtocol:
    """One protocol, as requests and answers in it are read here."""

    protocol: ModelProtocol

    def reply(self, body: bytes, *, stream: bool) -> Reply:
        """An answer of status 200. Raises `MalformedError` or `ProviderError` when it is none, or not complete."""
        protocol = self.protocol
        with unpacking():  # the agent has read the same, perhaps with half a character of it
            told = objects_of(events_in(body), "replace")
            answer = protocol.folded(told) if stream else object_of(body, errors="replace")
        return protocol.reply_of(answer)

    def count_path(self) -> str | None:
        """The path that counts tokens, which costs nothing and is no turn."""
        return f"{self.protocol.path}/count_tokens" if self.protocol.counts else None

    def estimate(self, body: Json, size: int, price: Price | None) -> Estimate:
        """The most that a request of this body, of so many bytes, is believed to use."""
        asked = [body[name] for name in self.protocol.bounds if _counts(body.get(name))]
        least = LEAST if _thinking(body) is None else 2 * THINKING
        written = min(max(asked, default=UNBOUNDED), MOST)
        return Estimate(read_estimate(size), written, price, min(least, written))

    def bound(self, body: dict[str, Any], written: int, *, newer: bool) -> None:
        """Bound the request's answer to so many tokens. `newer`: by the first of the protocol's names for it."""
        asked = [name for name in self.protocol.bounds if _counts(body.get(name))]
        for name in asked or [self.protocol.bounds[0 if newer else -1]]:
            body[name] = written
        thinking = _thinking(body)
        if thinking is not None:  # part of the answer, and refused when it is no less than that
            body["thinking"] = {**body["thinking"], "budget_tokens": min(thinking, written - THINKING)}


WIRES: Mapping[str, ProxyProtocol] = {name: ProxyProtocol(protocol_of(name)) for name in PROVIDERS}


def untold(body: Json) -> str | None:
    """The field that makes a request cost what it doesn't tell: more answers, dearer tiers, texts that are stored."""
    several = body.get("n")
    if several is not None and (several != 1 or isinstance(several, bool)):
        return "n"
    if body.get("background"):
        return "background"
    tier = body.get("service_tier")
    if tier is not None and (not isinstance(tier, str) or tier not in _TIERS):
        return "service_tier"
    if body.get("speed") not in (None, "standard"):
        return "speed"
    bounds = {name for wire in WIRES.values() for name in wire.protocol.bounds}
    odd = sorted(name for name in bounds if body.get(name) is not None and not _counts(body[name]))
    if odd:  # no number by which the answer is bounded
        return odd[0]
    return next((name for name in ("previous_response_id", "conversation", "prompt") if body.get(name)), None)


def _thinking(body: Json) -> int | None:
    """How many tokens of its answer a model may think."""
    thinking = body.get("thinking")
    tokens = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return tokens if isinstance(tokens, int) and _counts(tokens) else None


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def error_body(kind: str, message: str) -> bytes:
    """An error in a shape that both providers' clients read."""
    error = {"type": kind, "code": kind, "param": None, "message": f"Evalward: {message}"}
    return json.dumps({"type": "error", "error": error}).encode()


def models_body(model: str) -> bytes:
    """The list of models, which has one."""
    entry = {"id": model, "type": "model", "object": "model", "display_name": model, "owned_by": "evalward"}
    return json.dumps({"object": "list", "data": [entry], "has_more": False}).encode()


TOO_LONG = Refusal(413, error_body("request_too_large", "the request is too long"))
NO_ROOM = Refusal(503, error_body("overloaded_error", "too many long requests are under way"))
