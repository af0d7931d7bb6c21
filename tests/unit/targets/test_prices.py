"""Prices: dated, sourced, matched safely, and unknown where they are unknown."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from evalward.config import ModelPrice
from evalward.records.trace import Usage
from evalward.targets.prices import Price, configured_price, cost, price

TABLES: dict[str, dict[str, dict[str, Any] | None]] = json.loads(
    (files("evalward.targets") / "prices.json").read_text("utf-8")
)
ENTRIES = [(provider, model, entry) for provider, table in TABLES.items() for model, entry in table.items() if entry]


@pytest.mark.parametrize(("provider", "model", "entry"), ENTRIES)
def test_every_price_has_date_and_source_and_makes_sense(provider: str, model: str, entry: dict[str, Any]) -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", entry["date"])
    assert entry["source"]
    found = price(provider, model)
    assert found == Price(**entry)
    assert found is not None
    assert 0 < found.input < found.output
    assert found.cache_read is None or found.cache_read < found.input
    assert found.cache_write is None or found.cache_write > found.input


@pytest.mark.parametrize(
    ("provider", "model", "same"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("openai", "gpt-5.2-2025-12-11", "gpt-5.2"),
        ("openai-responses", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai-responses", "gpt-5", "gpt-5"),
    ],
)
def test_a_dated_snapshot_has_its_models_price(provider: str, model: str, same: str) -> None:
    assert price(provider, model) == price("openai" if "openai" in provider else provider, same) is not None


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.9"),
        ("openai", "gpt-5-pro"),
        ("openai", "gpt-5-chat-latest"),
        ("openai", "gpt-5-latest"),
        ("openai", "gpt-5-20"),
        ("openai", "gpt-5-2025"),
        ("openai", "gpt-5-2025-08-07-x"),
        ("openai", "ft:gpt-4.1:org"),
        ("openai", "xgpt-5"),
        ("openai", "GPT-5"),
        ("openai", ""),
        ("openai", "-2025-08-07"),
        ("openai", "claude-haiku-4-5"),
        ("openai", "gpt-4o-2024-05-13"),  # a snapshot of another price than gpt-4o's
        ("anthropic", "claude-haiku-4-5-fast"),
        ("anthropic", "claude-haiku-4"),
        ("anthropic", "gpt-5"),
    ],
)
def test_no_other_name_has_it(provider: str, model: str) -> None:
    assert price(provider, model) is None


PRICE = Price(input=1, output=10, cache_read=0.1, cache_write=2)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(input_tokens=1_000_000, output_tokens=0), 1.0),
        (Usage(input_tokens=0, output_tokens=500_000, reasoning_tokens=400_000), 5.0),
        (Usage(input_tokens=0, output_tokens=0, cache_read_tokens=1_000_000), 0.1),
        (Usage(input_tokens=0, output_tokens=0, cache_write_tokens=1_000_000), 2.0),
        (Usage(input_tokens=0, output_tokens=0), 0.0),
        (Usage(input_tokens=1), None),
        (Usage(output_tokens=1), None),
        (Usage(), None),
    ],
)
def test_cost(usage: Usage, usd: float | None) -> None:
    assert cost(usage, PRICE) == (None if usd is None else pytest.approx(usd))
    assert cost(usage, None) is None


def test_a_kind_of_tokens_without_a_price_makes_it_unknown() -> None:
    plain = Price(input=1, output=10)
    assert cost(Usage(input_tokens=1, output_tokens=1, cache_read_tokens=1), plain) is None
    assert cost(Usage(input_tokens=1, output_tokens=1, cache_write_tokens=1), plain) is None
    assert cost(Usage(input_tokens=1, output_tokens=1, cache_read_tokens=0), plain) is not None


def test_a_price_holds_up_to_its_length() -> None:
    short = Price(input=1, output=1, cache_read=1, up_to=100)
    assert cost(Usage(input_tokens=60, cache_read_tokens=40, output_tokens=1), short) is not None
    assert cost(Usage(input_tokens=61, cache_read_tokens=40, output_tokens=1), short) is None


def test_a_configured_price_says_where_it_is_from() -> None:
    given = configured_price(ModelPrice(input=1, output=2, cache_read=0.5))
    assert given == Price(1, 2, 0.5, None, source="configuration")
