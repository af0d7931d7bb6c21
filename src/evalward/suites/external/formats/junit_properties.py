"""What tests say of themselves in properties (`record_property` of pytest): tokens, cost, scores.

Known names: `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens` (by our
convention: input without cache), `cost_usd`, `model`, `category`, and `score:NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalward.records.trace import Usage
from evalward.suites.external.formats.base import Score
from evalward.suites.external.formats.values import amount, count, number

SCORE = "score:"


def property_usage(properties: Mapping[str, str]) -> Usage:
    """Tokens and cost; what is no number is unknown."""
    return Usage(
        input_tokens=count(_number(properties.get("input_tokens"))),
        cache_read_tokens=count(_number(properties.get("cache_read_tokens"))),
        cache_write_tokens=count(_number(properties.get("cache_write_tokens"))),
        output_tokens=count(_number(properties.get("output_tokens"))),
        reasoning_tokens=count(_number(properties.get("reasoning_tokens"))),
        cost_usd=amount(_number(properties.get("cost_usd"))),
    )


def property_scores(properties: Mapping[str, str]) -> Mapping[str, Score]:
    """The scores by name, of `score:NAME`. Python's `True` and `False` say themselves whether they pass."""
    named = {name.removeprefix(SCORE): value for name, value in properties.items() if name.startswith(SCORE)}
    return {name: _score(value) for name, value in named.items() if name}


def _score(text: str) -> Score:
    if text in {"True", "False"}:
        return Score(float(text == "True"), text == "True")
    return Score(_number(text))


def _number(told: str | None) -> float | None:
    try:
        return number(float(told or ""))
    except ValueError:
        return None
