"""What a protocol is: how our clients ask by it, and how the keeper's proxy sees it pass by.

A protocol is one module beside this one, with a `PROTOCOL`; a provider's row names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from evalward.records.providers import PROVIDERS
from evalward.targets.base import Reply, Request
from evalward.targets.models.reading import Json
from evalward.targets.models.settings import LiveSettings, Secret

if TYPE_CHECKING:
    from evalward.targets.models.batching import MakeBatchApi


class SdkProtocol(Protocol):
    """One protocol over one SDK client."""

    async def ask(self, request: Request) -> Reply:
        """One attempt. Raises whatever the SDK raises, or `MalformedError`, or `ProviderError`."""
        ...

    async def close(self) -> None:
        """Close the client's connections."""
        ...


class MakeWire(Protocol):
    """Makes the wire of a target; here its SDK is imported."""

    def __call__(self, settings: LiveSettings, key: Secret) -> SdkProtocol:
        """A wire with a client of its own."""
        ...


@dataclass(frozen=True)
class ModelProtocol:
    """One protocol.

    `wire` asks by it. `path` is what agents ask for (with or without /v1 before it), `forward` what follows the
    provider's `base_url`. `folded` makes the answer of a stream's events, `reply_of` a reply of the answer; both raise
    `MalformedError`. `limit_status` and `limit_type` are the error that ends an agent at once: claude-code and opencode
    end at a 402, codex tries that again, opencode a 429; both end at a 400. `bounds` are its names for the most tokens
    of an answer, the newest first; `max_tokens` is what it is asked for where nobody says, since some want a number.
    `counts`: it has a path that counts tokens. `asks_for_usage`: a stream has the tokens only where a request wants it.
    `batches` is its batch API.
    """

    wire: MakeWire
    path: str
    forward: str
    folded: Callable[[Iterable[Json]], dict[str, Any]]
    reply_of: Callable[..., Reply]
    limit_status: int
    limit_type: str
    bounds: tuple[str, ...]
    max_tokens: int | None = None
    counts: bool = False
    asks_for_usage: bool = False
    batches: MakeBatchApi | None = None


def protocol_of(provider: str) -> ModelProtocol:
    """The protocol of a provider; `KeyError` when there is no such provider. No SDK is imported for it."""
    module = import_module(f"evalward.targets.models.{PROVIDERS[provider].protocol}")
    return cast(ModelProtocol, module.PROTOCOL)
