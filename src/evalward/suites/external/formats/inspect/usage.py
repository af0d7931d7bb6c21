"""Tokens of a sample of inspect. Its `input_tokens` leave out what a cache gave or took, as ours do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalward.records.trace import Usage
from evalward.suites.external.formats.values import amount, count, mapping

GRADER = "grader"
"""The role in which inspect's own scorers ask a model."""


def usage_of(row: Mapping[str, Any]) -> tuple[Usage, Usage | None]:
    """What all models of a sample used, without the grader; and what the grader used, where inspect counts it apart."""
    every = [mapping(each) for each in mapping(row.get("model_usage")).values()]
    grader = mapping(mapping(row.get("role_usage")).get(GRADER))
    judge = _usage([grader]) if grader else None
    return _usage(every, less=[grader] if grader else []), judge


def _usage(used: Iterable[Mapping[str, Any]], less: Iterable[Mapping[str, Any]] = ()) -> Usage:
    plus, minus = list(used), list(less)

    def total(key: str) -> int | None:
        known = [found for each in plus if (found := count(each.get(key))) is not None]
        apart = sum(count(each.get(key)) or 0 for each in minus)
        return count(max(sum(known) - apart, 0)) if known else None

    return Usage(
        input_tokens=total("input_tokens"),
        cache_read_tokens=total("input_tokens_cache_read"),
        cache_write_tokens=total("input_tokens_cache_write"),
        output_tokens=total("output_tokens"),
        reasoning_tokens=total("reasoning_tokens"),
        cost_usd=_cost(plus, minus),
    )


def _cost(plus: list[Mapping[str, Any]], minus: list[Mapping[str, Any]]) -> float | None:
    """Dollars; `None` when one model has no price."""
    costs = [amount(each.get("total_cost")) for each in plus]
    apart = [amount(each.get("total_cost")) for each in minus]
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs) or None in apart:
        return None
    return amount(max(sum(known) - sum(cost for cost in apart if cost is not None), 0.0))
