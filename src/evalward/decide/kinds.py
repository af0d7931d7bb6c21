"""What a judgement needs of a kind of suite: the caller hands the kinds in, as `decide` lies below `suites`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evalward.decide.portions import Portion
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
