"""Metrics: not available is a value of its own, and says why."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evalward.records.metric import Metric, amount, ratio


@pytest.mark.parametrize("reason", [None, ""])
def test_a_metric_without_a_value_needs_a_reason(reason: str | None) -> None:
    with pytest.raises(ValidationError, match="needs a reason"):
        Metric(value=None, reason=reason)


def test_a_ratio_of_nothing_is_not_available_but_keeps_its_counts() -> None:
    metric = ratio(0, 0, "no tool call was made")
    assert (metric.value, metric.numerator, metric.denominator) == (None, 0, 0)
    assert metric.reason == "no tool call was made"


def test_zero_of_some_is_zero() -> None:
    metric = ratio(0, 4, "unused")
    assert (metric.value, metric.reason) == (0.0, None)


def test_ratios_are_not_rounded() -> None:
    assert ratio(174, 184, "").value == 0.9456521739130435


def test_an_amount_of_zero_is_available_and_none_is_not() -> None:
    assert amount(0.0, "usd", "the price is unknown").value == 0.0
    assert amount(None, "usd", "the price is unknown").reason == "the price is unknown"
    with pytest.raises(ValidationError):
        amount(None, "usd")
