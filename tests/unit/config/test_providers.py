"""What the configuration says about providers, and how a model's settings come together."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import Config
from evalward.config.load import parse_config

TEXT = """\
version: 1
suites:
  - name: tools
    kind: bash
    cases: a.jsonl
    targets: [anthropic/claude-haiku-4-5, openai/org/llama-3.1:8b, openai-responses/gpt-5.2]
providers:
  anthropic: {max_tokens: 1000, concurrency: 4}
  openai:
    base_url: http://localhost:11434/v1
    headers: {X-Team: evals}
    key_env: LITELLM_KEY
    temperature: 0
    timeout_s: 60
    stream: true
    prices: {"org/llama-3.1:8b": {input: 0.1, output: 0.2}}
    models: {"org/llama-3.1:8b": {timeout_s: 600, stream: false}}
  openai-responses: {reasoning_effort: low}
budget_usd: 5
budget_tokens: 2000000
"""


@pytest.fixture
def config() -> Config:
    return parse_config(TEXT, "evalward.yml", Path("/repo")).config


def test_a_models_own_settings_win_over_its_providers(config: Config) -> None:
    openai = config.providers.named("openai")
    settings = openai.settings_for("org/llama-3.1:8b")
    assert (settings.timeout_s, settings.stream, settings.temperature) == (600, False, 0)
    other = openai.settings_for("another")
    assert (other.timeout_s, other.stream, other.max_tokens) == (60, True, None)


def test_every_provider_is_there_also_when_the_file_says_nothing(config: Config) -> None:
    assert config.providers.named("openai-responses").reasoning_effort == "low"
    assert config.providers.named("anthropic").concurrency == 4
    plain = parse_config(TEXT.split("providers:", maxsplit=1)[0], "evalward.yml", Path("/repo")).config
    assert plain.providers.named("openai").base_url is None
    assert (plain.budget_usd, plain.budget_tokens) == (None, None)


def test_budgets_and_prices_are_read(config: Config) -> None:
    assert (config.budget_usd, config.budget_tokens) == (5, 2_000_000)
    price = config.providers.named("openai").prices["org/llama-3.1:8b"]
    assert (price.input, price.output, price.cache_read) == (0.1, 0.2, None)
