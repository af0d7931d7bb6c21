"""One line per run that was measured: `history.jsonl`, and what is read out of many of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from evalward.records.base import Count, Record
from evalward.records.metric import Metric
from evalward.records.trend import FlakyCase, Mark, Trend
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


class BrokenCase(Record):
    """A case that fails in most trials of every measurement since `since`, so many `runs` of them in a row.

    `last_passed` is the measurement before; `None`: none is known that passed.
    """

    id: str
    since: Mark
    runs: int
    last_passed: Mark | None = None


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
