"""The providers of models, one row each, and the agent programs that ask them.

Whoever needs to know something of a provider looks it up here: a provider is one row, and for a protocol that we don't
have yet one module in `targets/models/` with its `PROTOCOL`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct


class ProviderRow(Struct, frozen=True):
    """One provider: the target `NAME/MODEL` is a model of it.

    `protocol` is the module in `targets/models/` that knows how it is asked, `url` its address as its clients take it
    (`client_path` is how that ends), and `key_env` the variable of its key. Its clients read address and key from
    `client_env`. `prices` names its list in `targets/prices.json`, empty for none. It takes no effort of
    `refused_efforts`. `cache_marks`: its prompt cache has to be asked for, by marks in the request. `judge` is a
    model that judges at little cost; `families` begin the names of its models where other tools don't write the
    provider.
    """

    name: str
    maker: str
    api: str
    protocol: str
    url: str
    key_env: str
    client_path: str = "/v1"
    client_env: tuple[str, str] = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    prices: str = ""
    temperature: bool = True
    refused_efforts: tuple[str, ...] = ()
    cache_marks: bool = False
    judge: str | None = None
    families: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it is, for the configuration's schema."""
        return f"{self.maker}'s {self.api} API: {self.name}/NAME"


_ROWS = (
    ProviderRow(
        name="anthropic",
        maker="Anthropic",
        api="Messages",
        protocol="anthropic",
        url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        client_path="",
        client_env=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        prices="anthropic",
        temperature=False,
        refused_efforts=("none", "minimal"),
        cache_marks=True,
        judge="claude-haiku-4-5",
        families=("claude",),
    ),
    ProviderRow(
        name="openai",
        maker="OpenAI",
        api="Chat Completions",
        protocol="openai_chat",
        url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        prices="openai",
        judge="gpt-5-mini",
        families=("gpt", "o1", "o3", "o4"),
    ),
    ProviderRow(
        name="openai-responses",
        maker="OpenAI",
        api="Responses",
        protocol="openai_responses",
        url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        prices="openai",
    ),
)

PROVIDERS: Mapping[str, ProviderRow] = MappingProxyType({row.name: row for row in _ROWS})
"""The providers by name, in the order in which people read them."""

AGENT_PROVIDERS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"claude-code": ("anthropic",), "codex": ("openai-responses",), "opencode": tuple(PROVIDERS)}
)
"""The agent programs that Evalward knows how to start, with the providers whose models they may ask."""
