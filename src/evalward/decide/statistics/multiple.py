"""p-values of several tests at once, adjusted: compare them with the level that holds for all together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """q-values, in the order of `ps`: the smallest share of false findings at which each is found.

    q_(i) = min over j ≥ i of p_(j)·m/j, at most 1. Source: Benjamini and Hochberg 1995.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__, reverse=True)
    raised = [ps[place] * (len(ps) / (len(ps) - number)) for number, place in enumerate(order)]
    return _placed(order, accumulate(raised, min, initial=1.0))


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order of `ps`: at most alpha means that none of those found is false, but for alpha.

    p̃_(i) = max over j ≤ i of p_(j)·(m − j + 1), at most 1. Source: Holm 1979.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    raised = [min(1.0, ps[place] * (len(ps) - number)) for number, place in enumerate(order)]
    return _placed(order, accumulate(raised, max, initial=0.0))


def weighted_holm(ps: Sequence[float], weights: Sequence[float]) -> list[float]:
    """As `holm`, where some tests may have more of alpha than others: `weights` are their shares of it, each above 0.

    In the order of p/w: p̃_(i) = max over j ≤ i of p_(j)·(Σ_{k ≥ j} w_(k))/w_(j), at most 1. With equal weights that is
    Holm's. Source: Holm 1979, section 4.
    """
    order = sorted(range(len(ps)), key=lambda place: ps[place] / weights[place])
    left = list(accumulate((weights[place] for place in reversed(order)), initial=0.0))[:0:-1]
    raised = [min(1.0, ps[place] * (rest / weights[place])) for place, rest in zip(order, left, strict=True)]
    return _placed(order, accumulate(raised, max, initial=0.0))


def _placed(order: Sequence[int], values: accumulate[float]) -> list[float]:
    """The values where their p-values stood; the first of `values` is where the accumulation began."""
    next(values)
    found = dict(zip(order, values, strict=True))
    return [found[place] for place in range(len(order))]
