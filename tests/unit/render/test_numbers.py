"""Numbers read right, and never lie about which side of a threshold they are on."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalward.records.metric import EPSILON, Unit, amount, ratio
from evalward.records.policy import Rule
from evalward.render.numbers import (
    format_delta,
    format_number,
    format_rule,
    format_value,
    percent,
    percent_limit,
    plural,
    rule_limits,
    rule_moves,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.9456521739130435, "ratio", "94.6 %"),
        (1.0, "ratio", "100.0 %"),
        (0.0, "ratio", "0.0 %"),
        (0.9999, "ratio", "99.99 %"),
        (0.00004, "ratio", "0.004 %"),
        (0.99999999, "ratio", "99.9999 %"),
        (-0.25, "ratio", "−25.0 %"),
        (0.57, "ratio", "57.0 %"),
        (1234.0, "tokens", "1,234 tokens"),
        (1.0, "tokens", "1 token"),
        (37.0, "count", "37"),
        (2.4324, "count", "2.43"),
        (174.5, "score", "174.50"),
        (820.0, "ms", "820 ms"),
        (8120.0, "ms", "8.1 s"),
        (384_000.0, "ms", "6.4 min"),
        (7_200_000.0, "ms", "2.0 h"),
        (0.0123, "usd", "$0.0123"),
        (1234.5, "usd", "$1,234.50"),
        (0.0, "usd", "$0.00"),
        (1.254, "speedup", "1.25×"),
        (math.inf, "count", "∞"),
        (-math.inf, "count", "−∞"),
        (math.nan, "count", "n/a"),
        (1e300, "count", "1e+300"),
    ],
)
def test_number__has_its_unit(value: float, unit: Unit, text: str) -> None:
    assert format_number(value, unit) == text


@pytest.mark.parametrize(
    ("value", "other", "text"),
    [
        (0.94999, 0.95, "94.999 %"),
        (0.9499999, 0.95, "94.9999 %"),
        (0.9500001, 0.95, "95.0001 %"),
        (0.8120, 0.8123, "81.20 %"),
        (0.95, 0.95 - 1e-12, "95.0 %"),
    ],
)
def test_number__looks_different_where_it_is(value: float, other: float, text: str) -> None:
    assert format_number(value, "ratio", [other]) == text


def test_percent__is_written_alike_in_sentences_and_tables() -> None:
    assert (percent(0.27), percent(0.9999999), percent_limit(0.9)) == ("27.0 %", "99.9999 %", "90 %")


SHARES = st.floats(min_value=0, max_value=1)


@given(value=SHARES, floor=st.one_of(SHARES, st.decimals(0, 1, places=2).map(float)))
def test_percent__stays_on_its_side_of_the_threshold(value: float, floor: float) -> None:
    assume(abs(value - floor) > EPSILON)
    shown = Decimal(format_number(value, "ratio", [floor]).removesuffix(" %"))

    if value < floor:
        assert shown < Decimal(str(floor)) * 100
    else:
        assert shown > Decimal(str(floor)) * 100


@given(value=st.floats(allow_nan=True, allow_infinity=True), unit=st.sampled_from(["ratio", "ms", "usd", "count"]))
def test_number__never_breaks(value: float, unit: Unit) -> None:
    assert format_number(value, unit, [0.5, math.inf, math.nan])
    assert format_delta(value, unit, [0.5])


@pytest.mark.parametrize(
    ("delta", "unit", "text"),
    [
        (-0.0833, "ratio", "−8.3 pp"),
        (0.027, "ratio", "+2.7 pp"),
        (0.0, "ratio", "±0"),
        (1e-12, "ratio", "±0"),
        (0.0001, "ratio", "+0.01 pp"),
        (120.0, "tokens", "+120 tokens"),
        (-66_000.0, "ms", "−1.1 min"),
        (-0.01, "usd", "−$0.0100"),
        (None, "ratio", "–"),
        (math.nan, "ratio", "–"),
    ],
)
def test_delta__has_its_sign(delta: float | None, unit: Unit, text: str) -> None:
    assert format_delta(delta, unit) == text


def test_delta__looks_different_from_what_is_allowed() -> None:
    assert format_delta(-0.05004, "ratio", [-0.05]) == "−5.004 pp"


def test_value__carries_its_counts() -> None:
    metric = ratio(70, 96, "none")

    assert format_value(metric) == "72.9 % (70/96)"
    assert format_value(metric, counts=False) == "72.9 %"
    assert format_value(amount(6.4, "count")) == "6.40"


def test_value__not_available_says_why() -> None:
    assert format_value(ratio(0, 0, "no valid trials")) == "n/a (no valid trials)"
    assert format_value(None) == "–"


def test_rule__as_it_was_written() -> None:
    rule = Rule(metric="m", floor=0.75, ceiling=1.0, goal=0.948, max_drop=0.05, max_rise=0.125)

    assert format_rule(rule, "ratio") == "≥ 75 %, ≤ 100 %, goal 94.8 %, drop ≤ 5 pp, rise ≤ 12.5 pp"
    assert format_rule(Rule(metric="m", ceiling=0.0), "ratio") == "≤ 0 %"
    assert format_rule(Rule(metric="m", ceiling=60_000, max_rise=1500), "ms") == "≤ 1 min, rise ≤ 1.5 s"
    assert format_rule(Rule(metric="m", ceiling=0.5), "usd") == "≤ $0.50"
    assert rule_limits([rule]) == [0.75, 1.0, 0.948]
    assert rule_moves([rule]) == [-0.05, 0.125]


def test_minus__is_a_minus() -> None:
    assert not re.search("-", format_number(-1.5, "count") + format_delta(-1.5, "count"))


def test_plural__counts() -> None:
    assert [plural(1, "case"), plural(2000, "case"), plural(2, "entry", "entries")] == [
        "1 case",
        "2,000 cases",
        "2 entries",
    ]
