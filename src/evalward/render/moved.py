"""The metrics that moved and tell something new: counts that a shown rate is made of, and its complement, do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.comparison import MetricChange
from evalward.records.metric import EPSILON, Metric

_Sides = tuple[Metric, Metric]


def telling(changes: Sequence[MetricChange], shown: Iterable[str]) -> list[str]:
    """The ids of the metrics that moved and whose move neither the `shown` ones nor each other's say.

    Of two that move in proportion the smaller stays: a mean, and not the total that it is a part of. Durations differ
    from run to run, and are left out.
    """
    sides = {one.id: (one.before, one.now) for one in changes if one.before is not None and one.now is not None}
    tabled = list(shown)
    known = [sides[metric] for metric in tabled if metric in sides]
    others = [one for one in changes if one.id in sides and one.id not in tabled]
    moved = [one.id for one in others if one.delta and not one.id.endswith("_duration_ms")]
    found = []
    for metric in sorted(moved, key=lambda each: abs(sides[each][1].value or 0.0)):
        if not any(_says(other, sides[metric]) for other in known):
            known.append(sides[metric])
            found.append(metric)
    return [metric for metric in moved if metric in found]


def _says(known: _Sides, asked: _Sides) -> bool:
    """True where who knows the one metric on both sides knows the other."""
    if asked[0].unit == "ratio":
        return _complement(known, asked)
    return _proportional(known, asked) or any(
        all(_equal(_counts(one)[index], other.value) for one, other in zip(known, asked, strict=True))
        for index in range(3)
    )


def _counts(metric: Metric) -> tuple[float | None, float | None, float | None]:
    """How many did, of how many, and how many did not."""
    if metric.numerator is None or metric.denominator is None:
        return None, None, None
    return metric.numerator, metric.denominator, metric.denominator - metric.numerator


def _complement(known: _Sides, asked: _Sides) -> bool:
    return all(
        _counts(one)[1] is not None and _counts(one)[1:] == (_counts(other)[1], _counts(other)[0])
        for one, other in zip(known, asked, strict=True)
    )


def _proportional(known: _Sides, asked: _Sides) -> bool:
    """Both moved by the same factor; a metric at 0 has none."""
    values = [side.value for side in (*known, *asked)]
    before, now, other_before, other_now = (value or 0.0 for value in values)
    return bool(before and now and other_before) and _equal(before * other_now, now * other_before)


def _equal(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= EPSILON * max(1.0, abs(one), abs(other))
