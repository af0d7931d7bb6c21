"""One line per run that was measured: `history.jsonl`, and what is read out of many of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from evalward.records.base import Count, Record
from evalward.records.metric import Better, Metric, Unit
from evalward.records.verdict import Outcome

HISTORY_SCHEMA: Literal["evalward.history/1"] = "evalward.history/1"
SUMMARY_SCHEMA: Literal["evalward.history-summary/1"] = "evalward.history-summary/1"


class CaseCount(NamedTuple):
    """The trials of one case in one run, by how they ended. Written as a list of four."""

    passed: Count
    failed: Count = 0
    error: Count = 0
    skipped: Count = 0

    @property
    def valid(self) -> int:
        """Trials that say something about the target."""
        return self.passed + self.failed


class HistoryEntry(Record):
    """One run (suite × target) of one report.

    `report` is the start of the report's digest: the same report is never written twice. `attempt` counts the
    measurements of one commit. `subject` and the definitions in `cases` are the starts of their digests.
    `cases` (id → definition) says which cases the run had; `case_set` is its digest, and only the first of the entries
    that share it writes the list. `others` are the cases that did not simply pass: a case of the list that isn't
    there passed all `trials`. `partial`: restricted to a part or ended early, so that its metrics are no trend.
    """

    schema_: Literal["evalward.history/1"] = Field(default=HISTORY_SCHEMA, alias="schema")
    at: str
    commit: str | None = None
    ref: str | None = None
    evalward: str
    report: str
    suite: str
    kind: str
    target: str
    trials: Count
    random: bool = False
    partial: bool = False
    subject: str
    outcome: Outcome | None = None
    attempt: int = Field(default=1, ge=1)
    metrics: dict[str, Metric] = {}
    case_set: str
    cases: dict[str, str] | None = None
    others: dict[str, CaseCount] = {}

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


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


class BrokenCase(Record):
    """A case that fails in most trials of every measurement since `since`, so many `runs` of them in a row.

    `last_passed` is the measurement before; `None`: none is known that passed.
    """

    id: str
    since: Mark
    runs: int
    last_passed: Mark | None = None


class TrendPoint(Record):
    """A metric's value in one measurement; `None` is not available."""

    at: str
    commit: str | None = None
    value: float | None


class Trend(Record):
    """A metric over the last measurements of one run, oldest first."""

    suite: str
    target: str
    metric: str
    unit: Unit = "ratio"
    better: Better = "neither"
    points: list[TrendPoint]

    @property
    def values(self) -> list[float | None]:
        """The values alone."""
        return [point.value for point in self.points]

    @property
    def known(self) -> list[float]:
        """The values that are available."""
        return [value for value in self.values if value is not None]


class RunHistory(Record):
    """What the history knows about one suite and target."""

    suite: str
    kind: str
    target: str
    runs: int
    first: Mark
    last: Mark
    trends: list[Trend] = []
    flaky: list[FlakyCase] = []
    broken: list[BrokenCase] = []

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


class HistorySummary(Record):
    """What `history show --format json` writes. `unreadable` counts the lines that were passed over."""

    schema_: Literal["evalward.history-summary/1"] = Field(default=SUMMARY_SCHEMA, alias="schema")
    runs: list[RunHistory] = []
    unreadable: int = 0
