"""How a target's settings come together, and what names it in a report."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.keeper.models import live_target
from evalward.records.problem import InputError
from evalward.records.providers import PROVIDERS
from evalward.targets import make_target
from evalward.targets.base import Target
from evalward.targets.limiter import Limiters
from evalward.targets.models.common import LiveTarget
from evalward.targets.models.openai_client import newer, reasons
from evalward.targets.models.settings import LiveSettings, settings_of
from support.live import live_config


def settings(provider: str = "openai", model: str = "gpt-5", **given: Any) -> LiveSettings:
    return settings_of(live_config([f"{provider}/{model}"], {provider: given}).config, provider, model)


def live(name: str, given: dict[str, Any], env: dict[str, str], limiters: Limiters | None = None) -> LiveTarget:
    provider, _, model = name.partition("/")
    return live_target(provider, model, live_config([name], {provider: given}).config, env, limiters)


def test_without_settings_a_provider_is_asked_at_home() -> None:
    asked = settings("anthropic", "claude-haiku-4-5")
    assert (asked.base_url, asked.key_env) == ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
    assert (asked.concurrency, asked.timeout_s, asked.stream, asked.max_tokens) == (8, 300, False, None)
    assert asked.price is not None


def test_a_host_of_ones_own_gets_no_key_and_no_price_that_nobody_named() -> None:
    own = settings(base_url="http://localhost:8000/v1")
    assert (own.key_env, own.price) == (None, None)
    named = settings(base_url="http://localhost:8000/v1", key_env="K", prices={"gpt-5": {"input": 0, "output": 0}})
    assert named.key_env == "K"
    assert named.price is not None
    assert named.price.output == 0


def test_a_configured_price_wins_over_ours() -> None:
    price = settings(prices={"gpt-5": {"input": 9, "output": 99}}).price
    assert price is not None
    assert (price.input, price.source) == (9, "configuration")


def test_the_subject_names_what_can_change_the_answers() -> None:
    plain = settings().subject
    assert plain["model"] == "gpt-5"
    assert plain["host"] == "api.openai.com"
    changed: list[dict[str, Any]] = [
        {"temperature": 1}, {"max_tokens": 5}, {"reasoning_effort": "low"}, {"headers": {"X-A": "b"}},
        {"models": {"gpt-5": {"temperature": 0}}},
    ]  # fmt: skip
    assert len({settings(**given).subject["settings"] for given in [{}, *changed]}) == 6
    same: list[dict[str, Any]] = [{"timeout_s": 5}, {"concurrency": 2}, {"stream": True}, {"key_env": "K"}]
    assert all(settings(**given).subject == plain for given in same)
    assert settings(base_url="http://h:1/v1").subject["host"] == "h:1"


def test_keys_are_looked_up_in_what_is_handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from the process")
    assert live("openai/gpt-5", {}, {}).missing_key == "OPENAI_API_KEY"
    assert live("openai/gpt-5", {}, {"OPENAI_API_KEY": "k"}).missing_key is None
    assert live("openai/gpt-5", {"key_env": "MINE"}, {"OPENAI_API_KEY": "k"}).missing_key == "MINE"
    assert live("openai/gpt-5", {"base_url": "http://h/v1"}, {}).missing_key is None


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_a_live_target_is_what_the_engine_expects(provider: str) -> None:
    limiters = Limiters()
    target: Target = live(f"{provider}/org/some-model:8b", {"concurrency": 3}, {}, limiters)
    assert (target.id, target.random, target.priced) == (f"{provider}/org/some-model:8b", True, False)
    assert limiters.of(provider).most == 3


@pytest.mark.parametrize("name", ["gemini/x", "openai/", "openai", "anthropic:x", ""])
def test_what_is_no_target_is_told(name: str) -> None:
    with pytest.raises(InputError, match=r"Known: oracle, nop, replay:NAME, program:NAME, anthropic/NAME"):
        make_target(name, live_config(["oracle"], {}), {})


@pytest.mark.parametrize(
    ("model", "is_newer", "does_reason"),
    [
        ("gpt-5", True, True),
        ("gpt-5-mini-2025-08-07", True, True),
        ("gpt-5.2", True, True),
        ("gpt-6-sol", True, True),
        ("gpt-10", True, True),
        ("o3", True, True),
        ("o4-mini", True, True),
        ("ft:gpt-5:org", True, True),
        ("openai/gpt-5", True, True),
        ("gpt-5-chat-latest", True, False),
        ("gpt-4.1", False, False),
        ("gpt-4o", False, False),
        ("gpt-oss-120b", False, False),
        ("llama3.1:8b", False, False),
        ("olmo-2", False, False),
        ("o3d", False, False),
        ("gpt-500b", False, False),
    ],
)
def test_families(model: str, is_newer: bool, does_reason: bool) -> None:
    assert (newer(model), reasons(model)) == (is_newer, does_reason)


def test_the_sdk_knows_no_temperature_for_anthropic() -> None:
    import inspect

    from anthropic.resources.messages import AsyncMessages

    known = inspect.signature(AsyncMessages.create).parameters
    assert "max_tokens" in known
    assert not {"temperature", "top_p", "top_k"} & set(known), "then the config may allow it again"


OWN = "http://localhost:8000"
CACHE_PRICE = {"input": 1, "output": 5, "cache_read": 0.1, "cache_write": 1.25}


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, True),
        ({"prompt_cache": False}, False),
        ({"models": {"claude-haiku-4-5": {"prompt_cache": False}}}, False),
        ({"base_url": OWN}, False),
        ({"base_url": OWN, "prompt_cache": True}, True),
        ({"prices": {"claude-haiku-4-5": CACHE_PRICE}}, True),
        ({"prices": {"claude-haiku-4-5": {"input": 1, "output": 5}}}, False),
        ({"prices": {"claude-haiku-4-5": {"input": 1, "output": 5, "cache_read": 0.1}}, "prompt_cache": True}, False),
    ],
)
def test_caching_is_asked_for_where_the_provider_takes_it_and_its_price_is_known(
    given: dict[str, Any], asked: bool
) -> None:
    assert settings("anthropic", "claude-haiku-4-5", **given).prompt_cache is asked


def test_caching_is_no_part_of_the_subject_and_openai_needs_none() -> None:
    assert settings("openai").prompt_cache is False
    subjects = [settings("anthropic", "claude-haiku-4-5", **given).subject for given in ({}, {"prompt_cache": False})]
    assert subjects[0] == subjects[1]


def test_caching_can_t_be_set_where_the_provider_does_it_by_itself() -> None:
    with pytest.raises(InputError, match="OpenAI's API caches prompts by itself"):
        settings("openai", prompt_cache=True)
