"""Numbers as people read them: units, true minus signs, and never rounded across a boundary."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import lru_cache

from msgspec import Struct, structs

from evalward.records.metric import EPSILON, Metric, Unit
from evalward.records.policy import Rule

NOT_AVAILABLE = "n/a"
MINUS = "−"
_MOST_DECIMALS = 4
_HUGE = 1e15  # no eval measures this; it shall not break the page either


class _UnitScale(Struct, frozen=True):
    """How a unit is written: `factor` turns the value into what is shown, with `decimals` places at least."""

    factor: Decimal
    decimals: int
    prefix: str = ""
    suffix: str = ""


_PERCENT = _UnitScale(Decimal(100), 1, suffix=" %")
_POINTS = _UnitScale(Decimal(100), 1, suffix=" pp")
_TIMES: tuple[tuple[float, _UnitScale], ...] = (
    (1_000, _UnitScale(Decimal(1), 0, suffix=" ms")),
    (60_000, _UnitScale(Decimal("0.001"), 1, suffix=" s")),
    (3_600_000, _UnitScale(Decimal(1) / 60_000, 1, suffix=" min")),
    (math.inf, _UnitScale(Decimal(1) / 3_600_000, 1, suffix=" h")),
)


def format_number(value: float, unit: Unit, apart_from: Iterable[float] = ()) -> str:
    """A value with its unit: `94.6 %`, `1,234 tokens`, `6.4 min`, `$0.0123`, `1.25×`.

    It gets as many decimals as are needed (4 at most) to look different from `apart_from`, the thresholds and
    the other side; where that isn't enough it is rounded to its own side of them. A share never reads as 0 % or
    100 % unless it is.
    """
    return _format_alone(value, unit) if apart_from == () else _format_apart(value, unit, apart_from)


@lru_cache(maxsize=4096)
def _format_alone(value: float, unit: Unit) -> str:
    """The same times, tokens and costs stand in many trials."""
    return _format_apart(value, unit, ())


def _format_apart(value: float, unit: Unit, apart_from: Iterable[float]) -> str:
    others = [*apart_from, 0.0, 1.0] if unit == "ratio" else list(apart_from)
    return _write(value, _scale(value, unit), others)


def format_factor(value: float | None) -> str:
    """A factor with three digits that count, `1.25×`; `n/a` where there is none."""
    return NOT_AVAILABLE if value is None else f"{value:.3g}×".replace("-", MINUS)


def format_value(metric: Metric | None, apart_from: Iterable[float] = (), *, counts: bool = True) -> str:
    """A metric's value: ratios with their n of N, `72.9 % (70/96)`; `n/a` with the reason when there is none."""
    if metric is None:
        return "–"
    if metric.value is None or math.isnan(metric.value):
        return f"{NOT_AVAILABLE} ({metric.reason})" if metric.reason else NOT_AVAILABLE
    text = format_number(metric.value, metric.unit, apart_from)
    share = metric.unit == "ratio" and metric.numerator is not None and metric.denominator is not None
    if not (counts and share):
        return text
    return f"{text} ({format_count(metric.numerator)}/{format_count(metric.denominator)})"


def format_delta(delta: float | None, unit: Unit, apart_from: Iterable[float] = ()) -> str:
    """A difference with its sign: `−8.3 pp`, `+120 tokens`, `±0`; `–` when a side is not available."""
    if delta is None or math.isnan(delta):
        return "–"
    if abs(delta) <= EPSILON:
        return "±0"
    scale = _POINTS if unit == "ratio" else _scale(delta, unit)
    text = _write(delta, scale, [*apart_from, 0.0])
    return text if delta < 0 else f"+{text}"


def format_size(delta: float, unit: Unit, apart_from: Iterable[float] = ()) -> str:
    """How large a difference is, where words say which way it went: `8.3 pp`, `120 tokens`."""
    scale = _POINTS if unit == "ratio" else _scale(delta, unit)
    return _write(abs(delta), scale, [0.0, *(abs(other) for other in apart_from)])


def format_limit(value: float, unit: Unit, *, difference: bool = False) -> str:
    """A number that somebody wrote, all its decimals and no more: `75 %`; as a difference `5 pp`."""
    scale = _POINTS if difference and unit == "ratio" else _scale(value, unit)
    scaled = (Decimal(str(value)) * scale.factor).normalize()
    decimals = max(2 if unit == "usd" else 0, min(6, -int(scaled.as_tuple().exponent)))
    return _write(value, structs.replace(scale, decimals=decimals), [])


def percent(share: float) -> str:
    """A share in a sentence, as tables write it: `94.6 %`."""
    return format_number(share, "ratio")


def percent_limit(share: float) -> str:
    """A threshold in a sentence, with no more decimals than it was given: `75 %`."""
    return format_limit(share, "ratio")


def format_rule(rule: Rule, unit: Unit) -> str:
    """What a rule asks for, as it was configured: `≥ 75 %, drop ≤ 5 pp`."""
    parts = [
        ("≥", rule.floor, False),
        ("≤", rule.ceiling, False),
        ("goal", rule.goal, False),
        ("drop ≤", rule.max_drop, True),
        ("rise ≤", rule.max_rise, True),
    ]
    limits = [
        f"{word} {format_limit(value, unit, difference=difference)}"
        for word, value, difference in parts
        if value is not None
    ]
    return ", ".join([*limits, *([f"better than {rule.must_beat}"] if rule.must_beat else [])])


def rule_limits(rules: Iterable[Rule]) -> list[float]:
    """The values that a metric is held against."""
    return [limit for rule in rules for limit in (rule.floor, rule.ceiling, rule.goal) if limit is not None]


def rule_moves(rules: Iterable[Rule]) -> list[float]:
    """The differences that are allowed: drops below 0, rises above."""
    rules = list(rules)
    drops = [-rule.max_drop for rule in rules if rule.max_drop is not None]
    return drops + [rule.max_rise for rule in rules if rule.max_rise is not None]


def format_count(value: float | None) -> str:
    """A count; several trials make it a mean, which then shows up to 2 decimals."""
    return "?" if value is None else format_number(value, "score")


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _scale(value: float, unit: Unit) -> _UnitScale:
    whole = math.isfinite(value) and value == round(value)
    match unit:
        case "ratio" | "points":
            return _PERCENT if unit == "ratio" else _POINTS
        case "ms":
            return next(scale for limit, scale in _TIMES if abs(value) < limit or limit == math.inf)
        case "usd":
            return _UnitScale(Decimal(1), 2 if abs(value) >= 1 or value == 0 else 4, prefix="$")
        case "tokens":
            return _UnitScale(Decimal(1), 0 if whole else 1, suffix=" token" if value in {1, -1} else " tokens")
        case "speedup":
            return _UnitScale(Decimal(1), 2, suffix="×")
        case "count" | "score":
            return _UnitScale(Decimal(1), 0 if whole else 2)


def _write(value: float, scale: _UnitScale, others: Iterable[float]) -> str:
    if math.isnan(value):
        return NOT_AVAILABLE
    sign = MINUS if value < 0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    if abs(value) >= _HUGE:
        return f"{sign}{scale.prefix}{abs(value * float(scale.factor)):.3g}{scale.suffix}"
    shown = _rounded(value, scale, [other for other in others if abs(other - value) > EPSILON])
    return f"{sign}{scale.prefix}{abs(shown):,f}{scale.suffix}"


def _rounded(value: float, scale: _UnitScale, others: list[float]) -> Decimal:
    exact = _scaled(value, scale)
    bounds = [_scaled(other, scale) for other in others if abs(other) < _HUGE]
    most = max(scale.decimals, _MOST_DECIMALS)
    for decimals in range(scale.decimals, most + 1):
        step = Decimal(1).scaleb(-decimals)
        shown = exact.quantize(step, ROUND_HALF_EVEN)
        if all(shown != bound.quantize(step, ROUND_HALF_EVEN) for bound in bounds):
            return shown
    above = any(bound > exact and bound.quantize(step, ROUND_HALF_EVEN) == shown for bound in bounds)
    return exact.quantize(step, ROUND_FLOOR if above else ROUND_CEILING)


def _scaled(value: float, scale: _UnitScale) -> Decimal:
    # repr's digits are what people mean: 0.57 is 57 %, not 56.99999999999999 %.
    return Decimal(repr(float(value))) * scale.factor
