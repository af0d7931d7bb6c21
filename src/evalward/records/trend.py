"""What the history knows of a case and of a metric: facts that a judgement shows, and that decide nothing."""

from __future__ import annotations

from evalward.records.base import Record
from evalward.records.metric import Better, Unit


class Mark(Record):
    """A point of the history: when, and at which commit."""

    at: str
    commit: str | None = None


class FlakyCase(Record):
    """A case that passes and fails although nothing about it changed.

    `passed` of `trials` valid trials passed in the last `runs` measurements of its definition (those of the baseline
    included); `flips` counts how often it changed between two of them. `since` is when it began to fail: `None` where
    the history doesn't know; `from_start` says that no long row of passes is known before it. `last_failed` is the
    newest measurement with a failed trial.
    """

    id: str
    passed: int
    trials: int
    runs: int
    flips: int
    since: Mark | None = None
    from_start: bool = False
    last_failed: Mark | None = None

    @property
    def rate(self) -> float:
        """The share of trials that passed."""
        return self.passed / self.trials


class TrendPoint(Record):
    """A metric's value in one measurement; `None` is not available."""

    at: str
    commit: str | None = None
    value: float | None


class AnchorLevel(Record):
    """What a metric was at the anchor, which `label` names."""

    label: str
    value: float


class Trend(Record):
    """A metric over the last measurements of one run, oldest first; `anchor` is the level that it is held against."""

    suite: str
    target: str
    metric: str
    unit: Unit = "ratio"
    better: Better = "neither"
    points: list[TrendPoint]
    anchor: AnchorLevel | None = None

    @property
    def values(self) -> list[float | None]:
        """The values alone."""
        return [point.value for point in self.points]

    @property
    def known(self) -> list[float]:
        """The values that are available."""
        return [value for value in self.values if value is not None]
