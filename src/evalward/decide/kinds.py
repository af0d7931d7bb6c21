"""What a judgement needs of a kind of suite: the caller hands the kinds in, as `decide` lies below `suites`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from evalward.decide.portions import Portion
from evalward.records.metric import Measurement
from evalward.records.result import Result


class PerTrial(Protocol):
    """A metric that is made of single trials: what each adds, and what those of one case come to."""

    def portion(self, result: Result) -> Portion | None:
        """What a trial adds: `NONE` where it has no part in the metric, `None` where what it adds is unknown.

        One unknown portion makes an amount unavailable for its case.
        """
        ...

    def together(self, portions: Sequence[Portion]) -> Portion:
        """What portions of one case come to, those that are `NONE` left out.

        A share sums both of its numbers; an amount is the mean of the trials, or their sum where the metric is a sum
        over all attempts.
        """
        ...


class MeasuredKind(Protocol):
    """How the trials of a kind are measured, together and one by one."""

    def measure(self, results: Sequence[Result]) -> Measurement:
        """Metrics and category summaries of a list of results."""
        ...

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric; `None` for one that isn't made of them."""
        ...


Kinds = Mapping[str, MeasuredKind]
"""By name, the kinds of a report that this version knows."""
