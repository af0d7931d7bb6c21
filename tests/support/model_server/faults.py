"""How the server misbehaves, by name, and the rules that say when."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from support.model_server.api import Asked, Protocol

ALL: frozenset[Protocol] = frozenset({"messages", "chat", "responses"})
OPENAI: frozenset[Protocol] = frozenset({"chat", "responses"})


@dataclass(frozen=True)
class Kind:
    """A fault: what happens, in which protocols, and whether only when streaming (True) or only when not (False)."""

    told: str
    protocols: frozenset[Protocol] = ALL
    stream: bool | None = None


FAULTS: dict[str, Kind] = {
    # error statuses
    "rate_limit": Kind("429 with Retry-After in seconds"),
    "rate_limit_date": Kind("429 with Retry-After as an HTTP date"),
    "rate_limit_ms": Kind("429 with retry-after-ms"),
    "rate_limit_bare": Kind("429 that doesn't say when"),
    "overload": Kind("529 overloaded_error (Anthropic), 503 (OpenAI)"),
    "unavailable": Kind("503"),
    "server_error": Kind("500"),
    "bad_gateway": Kind("502 with a proxy's HTML page"),
    "gateway_timeout": Kind("504"),
    "key": Kind("401"),
    "key_echoed": Kind("401 whose message holds the whole key, as some gateways' do"),
    "forbidden": Kind("403"),
    "quota": Kind("no credit: 400 with a billing text (Anthropic), 429 insufficient_quota (OpenAI)"),
    "payment": Kind("402"),
    "spend_limit": Kind("429 of a spend limit: error_code enforced_spend_limit_reached, billing_hard_limit_reached"),
    "model_not_found": Kind("404; 400 in Responses"),
    "context_length": Kind("400: prompt is too long, context_length_exceeded"),
    "too_large": Kind("413"),
    "unprocessable": Kind("422"),
    # connections
    "reset": Kind("connection reset instead of an answer"),
    "reset_after_headers": Kind("headers and half of the body, then a reset"),
    "closed": Kind("connection closed without an answer"),
    "stall": Kind("no answer until the client gives up"),
    "stall_body": Kind("headers and half of the body, then nothing until the client gives up"),
    "slow": Kind("the answer, after `delay` seconds"),
    # HTTP 200 with something else
    "broken_json": Kind("200 with half a JSON", stream=False),
    "html": Kind("200 with an HTML page"),
    "empty_body": Kind("200 without a body"),
    "wrong_shape": Kind("200 with a JSON that is no answer"),
    # streams
    "stream_cut": Kind("the stream's connection is closed in the middle", stream=True),
    "stream_early_end": Kind("the stream ends properly in the middle, without its last events", stream=True),
    "stream_stall": Kind("the stream stops in the middle until the client gives up", stream=True),
    "stream_error": Kind("an error event in the middle, in the SDK's shape", stream=True),
    "stream_error_nested": Kind(
        "an error event in the middle, as the service sends it", frozenset({"responses"}), True
    ),
    "stream_failed": Kind("response.failed in the middle", frozenset({"responses"}), True),
    "stream_broken_event": Kind("an event that is not JSON in the middle", stream=True),
    # the model's own
    "empty_answer": Kind("an answer without any content"),
    "refusal": Kind("the model refuses, without tool calls"),
    "content_filter": Kind("stopped by the content filter (Anthropic: refusal)"),
    "length": Kind("stopped by the token limit in the text"),
    "length_in_call": Kind("stopped by the token limit in a tool call's arguments"),
    "context_window": Kind("stopped by the context window", frozenset({"messages"})),
    "pause": Kind("pause_turn", frozenset({"messages"})),
    "other_stop": Kind("a stop reason that no client knows"),
    "failed": Kind("200 with status failed", frozenset({"responses"})),
    "huge": Kind("2 MB of text"),
    "broken_arguments": Kind("tool arguments that are no JSON"),
    "list_arguments": Kind("tool arguments that are a JSON list"),
    "unknown_tool": Kind("a call of a tool that the request doesn't have"),
    "extra_block": Kind("an additional block, item or field that no client knows"),
    "no_usage": Kind("an answer without usage"),
}


@dataclass(frozen=True)
class Fault:
    """A rule: `name` happens to the requests that fit, always unless `nth` or `tries` say when.

    `protocol`, `turn` (from 0) and `match` (a regular expression for the first user text) choose requests. Of those,
    `nth` takes the given ones (from 1), `tries` the first so many of each conversation, `every_turn` of each turn of
    each conversation. `retry_after` and `delay` are seconds. The first rule that applies wins; a fault that the
    protocol or the way of answering doesn't have never applies.
    """

    name: str
    nth: tuple[int, ...] = ()
    tries: int | None = None
    every_turn: bool = False
    turn: int | None = None
    match: str | None = None
    protocol: Protocol | None = None
    retry_after: float | None = None
    delay: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise ValueError(f"there is no fault {self.name!r}; known: {', '.join(FAULTS)}")

    def fits(self, asked: Asked) -> bool:
        """Whether this request is one of those that the rule is about."""
        kind = FAULTS[self.name]
        return (
            asked.protocol in kind.protocols
            and kind.stream in (None, asked.stream)
            and self.protocol in (None, asked.protocol)
            and self.turn in (None, asked.turn)
            and (self.match is None or bool(re.search(self.match, asked.prompt)))
        )


@dataclass
class Faults:
    """The rules and what they have counted."""

    rules: list[Fault] = field(default_factory=list)
    _fitting: Counter[int] = field(default_factory=Counter)
    _tries: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def find(self, asked: Asked) -> Fault | None:
        """The fault of this request. Every rule counts every request that fits it."""
        applying = [rule for number, rule in enumerate(self.rules) if self._applies(number, rule, asked)]
        return applying[0] if applying else None

    def _applies(self, number: int, rule: Fault, asked: Asked) -> bool:
        if not rule.fits(asked):
            return False
        self._fitting[number] += 1
        talk = (number, asked.protocol, asked.model, asked.prompt, asked.turn if rule.every_turn else None)
        self._tries[talk] += 1
        if rule.nth and self._fitting[number] not in rule.nth:
            return False
        return rule.tries is None or self._tries[talk] <= rule.tries
