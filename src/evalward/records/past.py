"""What the page of a history shows of each run: its metrics over time, what they are held against, what moved them."""

from __future__ import annotations

from evalward.records.base import Record
from evalward.records.evidence import Interval
from evalward.records.history import RunHistory
from evalward.records.metric import Better, Metric, Unit
from evalward.records.trend import AnchorLevel, Trend
from evalward.records.verdict import Outcome


class PastPoint(Record):
    """A metric in one measurement; `value` is `None` where it isn't available, `interval` where nobody can say."""

    at: str
    commit: str | None = None
    value: float | None
    interval: Interval | None = None


class MetricPast(Record):
    """A metric over all whole measurements of one run, oldest first, with the limits that hold for it today."""

    metric: str
    unit: Unit
    better: Better
    points: list[PastPoint]
    floor: float | None = None
    ceiling: float | None = None
    anchor: AnchorLevel | None = None


class Release(Record):
    """A released version, and when it was made or first measured."""

    name: str
    at: str


class Move(Record):
    """A metric changed with the measurement at `at`: from the mean of `runs_before` runs to that of it and those after.

    `p` is corrected for all places looked at, `None` where nothing could be tested. For the share of passed cases
    `cases` counts those that ask the same on both sides, and `most` are those that changed most. `certain`: beyond
    chance, or the target always does the same. `same_commit`: it measured the commit of the measurement before, so that
    what moved is not in the repository; `subject`: what was evaluated had changed.
    """

    at: str
    commit: str | None
    ref: str | None
    metric: str
    unit: Unit
    better: Better
    before: float
    after: float
    runs_before: int
    runs_after: int
    cases: int | None = None
    p: float | None = None
    certain: bool = False
    most: list[str] = []
    same_commit: bool = False
    subject: bool = False


class PastRow(Record):
    """One measurement: when, of what, how it was judged, and the metrics that the page draws."""

    at: str
    commit: str | None
    ref: str | None
    outcome: Outcome | None
    partial: bool
    metrics: dict[str, Metric]


class RunPast(Record):
    """One suite × target. `guarded`: its metrics are those that rules protect; else they are the first that there are.

    `spending` is money and tokens, `trends` all metrics of the newest measurement, `rows` the newest measurements,
    newest first.
    """

    known: RunHistory
    guarded: bool
    metrics: list[MetricPast]
    spending: list[MetricPast]
    trends: list[Trend]
    moves: list[Move]
    rows: list[PastRow]


class Past(Record):
    """The whole history. `unreadable` counts the lines that were passed over."""

    runs: list[RunPast]
    releases: list[Release] = []
    unreadable: int = 0
