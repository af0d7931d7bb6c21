"""What tokens cost. Ours to keep up to date, dated, and never guessed: an unknown price is unknown, not 0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from evalward.config.providers import ModelPrice
from evalward.records.providers import PROVIDERS
from evalward.records.trace import Usage

MILLION = 1_000_000
# The date by which providers mark a snapshot of a model: claude-haiku-4-5-20251001, gpt-5.2-2025-12-11.
_SNAPSHOT = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)\Z")


class Price(Struct, frozen=True):
    """USD per million tokens. A kind of tokens without a price (`None`) makes the cost of a turn with them unknown.

    `up_to`: holds for requests that read at most so many tokens, cached ones included; longer ones cost something
    else. `date` is when the price was looked up, `source` where.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    up_to: int | None = None
    date: str = ""
    source: str = ""


def price(provider: str, model: str) -> Price | None:
    """The packaged price of a provider's own model, by its name or by the name of one of its dated snapshots.

    Nothing else of a name may differ: `gpt-5.2`, `gpt-5-mini` and `gpt-5-latest` are not `gpt-5`.
    """
    known = _packaged().get(PROVIDERS[provider].prices, {})
    return known[model] if model in known else known.get(undated(model))


def undated(model: str) -> str:
    """A model's name without the date of its snapshot."""
    return _SNAPSHOT.sub("", model)


def configured_price(given: ModelPrice) -> Price:
    """A price that the configuration states."""
    return Price(given.input, given.output, given.cache_read, given.cache_write, source="configuration")


@cache
def _packaged() -> Mapping[str, Mapping[str, Price | None]]:
    text = (files("evalward.targets") / "prices.json").read_text("utf-8")
    tables: dict[str, dict[str, dict[str, Any] | None]] = json.loads(text)
    return {
        provider: {name: None if entry is None else Price(**entry) for name, entry in table.items()}
        for provider, table in tables.items()
    }


def cost(usage: Usage, price: Price | None) -> float | None:
    """USD for the tokens of one request; `None` when the price or a number is not known."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if price.up_to is not None and (usage.total_input_tokens or 0) > price.up_to:
        return None
    parts = (
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (usage.cache_read_tokens or 0, price.cache_read),
        (usage.cache_write_tokens or 0, price.cache_write),
    )
    if any(tokens and each is None for tokens, each in parts):
        return None
    return sum(tokens * (each or 0.0) for tokens, each in parts) / MILLION
