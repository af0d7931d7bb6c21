"""Quantiles of the normal distribution and of Student's."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300


def normal_quantile(p: float) -> float:
    """z with P[Z ≤ z] = p, for 0 < p < 1."""
    return NormalDist().inv_cdf(p)


def normal_above(z: float) -> float:
    """P[Z > z], right in its far tail too."""
    return math.erfc(z / math.sqrt(2)) / 2


@lru_cache(maxsize=1000)  # a report asks for a few, each many times
def student_quantile(p: float, freedom: int) -> float:
    """t with P[T ≤ t] = p for 0 < p < 1 and `freedom` ≥ 1 degrees of freedom, by bisection."""
    if not (0 < p < 1 and freedom >= 1):
        raise ValueError(f"no quantile of Student's t for p = {p} and {freedom} degrees of freedom")
    if p < 0.5:
        return -student_quantile(1 - p, freedom)
    low, high = 0.0, 1.0
    while student_above(high, freedom) > 1 - p:
        low, high = high, high * 2
    while high - low > 1e-13 * high and low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_above(middle, freedom) > 1 - p else (low, middle)
    return (low + high) / 2


def student_above(t: float, freedom: int) -> float:
    """P[T > t] for t ≥ 0: half the regularised incomplete beta function I_x(ν/2, ½) at x = ν/(ν + t²)."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t)) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """I_x(a, b), `rest` being 1 − x, on the side of its mean where the continued fraction converges fast."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated by Lentz's method."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value, m = d, 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            c, d = _not_zero(1 + term / c), 1 / _not_zero(1 + term * d)
            value *= c * d
        if abs(value - before) <= 1e-15 * abs(value) or m > 10_000:
            return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
