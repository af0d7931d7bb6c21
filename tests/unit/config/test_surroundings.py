"""Addresses and keys in the environment that nothing follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.config.surroundings import ADDRESSES, KEYS, ignored_addresses, keys_not_sent

CONFIG = """\
version: 1
suites:
  - {name: s, kind: scenario, cases: c.yaml, targets: ["agent:mine", "agent:plain"]}
agents:
  mine: {command: [mine, "{prompt}"], model: openai/m}
  plain: {command: [plain, "{prompt}"]}
"""


def loaded(text: str = "") -> LoadedConfig:
    return parse_config(CONFIG + text, "evalward.yml", Path())


def test_the_variables_are_those_of_the_providers_clients() -> None:
    assert sorted(ADDRESSES) == ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]
    assert sorted(KEYS) == ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]


def test_an_address_that_is_set_and_not_asked_is_named_with_the_key_to_write() -> None:
    (note,) = ignored_addresses(loaded().config, ["anthropic/m", "oracle"], ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"])
    assert note == (
        "ANTHROPIC_BASE_URL is set and not used: requests go to https://api.anthropic.com. To ask another server, "
        "write its address in the config: `providers.anthropic.base_url`."
    )


@pytest.mark.parametrize(
    ("target", "provider"),
    [
        ("openai/m", "openai"),
        ("openai-responses/m", "openai-responses"),
        ("codex/m", "openai-responses"),
        ("opencode/openai/m", "openai"),
        ("agent:mine", "openai"),
    ],
)
def test_an_agents_model_is_asked_too(target: str, provider: str) -> None:
    (note,) = ignored_addresses(loaded().config, [target], ADDRESSES)
    assert note.startswith("OPENAI_BASE_URL is set")
    assert note.endswith(f"`providers.{provider}.base_url`.")


@pytest.mark.parametrize(
    "target", ["oracle", "replay:x", "agent:plain", "agent:unknown", "program:x", "opencode/m", ""]
)
def test_who_asks_no_model_of_a_provider_asks_no_address(target: str) -> None:
    assert ignored_addresses(loaded().config, [target], ADDRESSES) == []


def test_an_address_of_ones_own_leaves_nothing_to_say() -> None:
    own = loaded("providers: {anthropic: {base_url: 'https://llm.example.com'}}\n").config
    assert ignored_addresses(own, ["anthropic/m"], ADDRESSES) == []
    assert ignored_addresses(loaded().config, ["anthropic/m"], []) == []


def test_a_key_that_is_set_and_not_sent_is_named_at_the_address() -> None:
    own = loaded("providers:\n  anthropic:\n    base_url: https://llm.example.com\n")
    (note,) = keys_not_sent(own, KEYS)
    assert note == (
        "evalward.yml:9: providers.anthropic.base_url: ANTHROPIC_API_KEY is set and not sent: an address of your own "
        "gets only the key that `key_env` names. If it needs that key, add `key_env: ANTHROPIC_API_KEY`."
    )
    assert list(keys_not_sent(own, ["OPENAI_API_KEY"])) == []


@pytest.mark.parametrize("provider", ["{key_env: MINE}", "{base_url: 'https://x.example', key_env: MINE}", "{}"])
def test_a_key_that_is_named_or_goes_to_the_provider_is_sent(provider: str) -> None:
    assert list(keys_not_sent(loaded(f"providers: {{anthropic: {provider}}}\n"), KEYS)) == []
