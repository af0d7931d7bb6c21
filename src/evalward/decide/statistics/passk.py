"""pass@k and pass^k: what k tries would give, from n trials of which c passed."""

from __future__ import annotations

import math


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """1 − C(n − c, k)/C(n, k): at least one of k passes. None when n < k: never clamped. Source: Chen et al. 2021."""
    return None if _undefined(n, c, k) else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """C(c, k)/C(n, k): all of k pass. None when n < k: never clamped. Source: Yao et al. 2024 (τ-bench)."""
    return None if _undefined(n, c, k) else math.comb(c, k) / math.comb(n, k)


def _undefined(n: int, c: int, k: int) -> bool:
    if k < 1 or not 0 <= c <= n:
        raise ValueError(f"{c} of {n} passed, {k} tries: can't be")
    return n < k
