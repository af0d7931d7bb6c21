"""What the environment has for a provider and nothing follows, because the configuration doesn't say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from evalward.config.loaded import LoadedConfig
from evalward.config.model import Config
from evalward.config.words import field_name
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import target_id

ADDRESSES = frozenset(row.client_env[0] for row in PROVIDERS.values())
"""The variables in which the providers' own clients look for an address."""
KEYS = frozenset(row.key_env for row in PROVIDERS.values())
"""The variables in which they look for a key."""


def ignored_addresses(config: Config, targets: Iterable[str], variables: Collection[str]) -> list[str]:
    """A sentence for each address in the environment that is not asked.

    `targets` are the ids of those that are run, and of the models that judge; `variables` are those that are set.
    """
    asked = {_provider(config, target) for target in targets}
    return [
        f"{row.client_env[0]} is set and not used: requests go to {row.url}. To ask another server, write its address "
        f"in the config: `providers.{name}.base_url`."
        for name, row in PROVIDERS.items()
        if name in asked and row.client_env[0] in variables and config.providers.named(name).base_url is None
    ]


def keys_not_sent(loaded: LoadedConfig, variables: Collection[str]) -> Iterator[str]:
    """A sentence, with its place, for each address of one's own that gets no key although one is set."""
    for name, row in PROVIDERS.items():
        given = loaded.config.providers.named(name)
        if given.base_url is None or given.key_env is not None or row.key_env not in variables:
            continue
        here = ("providers", name, "base_url")
        yield (
            f"{loaded.file}:{loaded.line(*here)}: {field_name(here)}: {row.key_env} is set and not sent: an address of "
            f"your own gets only the key that `key_env` names. If it needs that key, add `key_env: {row.key_env}`."
        )


def _provider(config: Config, target: str) -> str:
    """The provider that a target asks; empty for none."""
    asked = target_id(target)
    if asked.form != "agent":
        return asked.provider
    agent = config.agents.get(asked.name)
    return target_id(agent.model).provider if agent and agent.model else ""
