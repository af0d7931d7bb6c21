"""What tests say of themselves in properties (`record_property` of pytest): tokens, cost, scores.

Known names: `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens` (by our
convention: input without cache), `cost_usd`, `model`, `category`, and `score:NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from evalward.records.trace import Usage
from evalward.suites.external.formats.base import Score

SCORE = "score:"
MOST_AMOUNT = 1e15
"""What a record can hold."""


def property_usage(properties: Mapping[str, str]) -> Usage:
    """Tokens and cost; what is no number is unknown."""
    return Usage(
        input_tokens=_count(properties.get("input_tokens")),
        cache_read_tokens=_count(properties.get("cache_read_tokens")),
        cache_write_tokens=_count(properties.get("cache_write_tokens")),
        output_tokens=_count(properties.get("output_tokens")),
        reasoning_tokens=_count(properties.get("reasoning_tokens")),
        cost_usd=_amount(properties.get("cost_usd")),
    )


def property_scores(properties: Mapping[str, str]) -> Mapping[str, Score]:
    """The scores by name, of `score:NAME`. Python's `True` and `False` say themselves whether they pass."""
    named = {name.removeprefix(SCORE): value for name, value in properties.items() if name.startswith(SCORE)}
    return {name: _score(value) for name, value in named.items() if name}


def _score(text: str) -> Score:
    if text in {"True", "False"}:
        return Score(float(text == "True"), text == "True")
    return Score(_number(text))


def _count(text: str | None) -> int | None:
    value = _amount(text)
    return int(value) if value is not None and value.is_integer() else None


def _amount(text: str | None) -> float | None:
    value = _number(text)
    return value if value is not None and 0 <= value <= MOST_AMOUNT else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) else None
