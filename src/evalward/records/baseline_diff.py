"""What is different between two baselines, for people and for programs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.records.base import Record
from evalward.records.baseline import Acceptance, BaselineProvenance
from evalward.records.comparison import MetricChange, SubjectChange, Tally

DIFF_SCHEMA: Literal["evalward.baseline-diff/1"] = "evalward.baseline-diff/1"

CaseDifferenceKind = Literal["added", "removed", "redefined", "changed"]


class CaseDifference(Record):
    """One case that isn't the same: `redefined` asks something else now, `changed` has other results."""

    id: str
    category: str
    change: CaseDifferenceKind
    before: Tally | None = None
    now: Tally | None = None


class RunDifference(Record):
    """One suite × target on both sides.

    `trials` are the fewest and the most trials that a case has. Metrics are over all cases of a side, so they move with
    the cases that were added, removed or redefined; only those that moved are listed.
    """

    suite: str
    kind: str
    target: str
    change: Literal["added", "removed", "changed", "same"]
    cases_before: int | None = None
    cases_now: int | None = None
    trials_before: tuple[int, int] | None = None
    trials_now: tuple[int, int] | None = None
    subject: list[SubjectChange] = []
    metrics: list[MetricChange] = []
    cases: list[CaseDifference] = []

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    def of(self, change: CaseDifferenceKind) -> list[CaseDifference]:
        """The cases with this change, in order of id."""
        return [case for case in self.cases if case.change == change]


class BaselineDifference(Record):
    """Two baselines; `before` is `None` when there was none. `accepted` are the drops that only the later one names.

    `texts_added` and `texts_removed` count the texts that only one of them keeps.
    """

    schema_: Literal["evalward.baseline-diff/1"] = Field(default=DIFF_SCHEMA, alias="schema")
    before: BaselineProvenance | None
    now: BaselineProvenance
    accepted: list[Acceptance] = []
    runs: list[RunDifference] = []
    texts_added: int = 0
    texts_removed: int = 0

    @property
    def empty(self) -> bool:
        """True when nothing is different."""
        texts = self.texts_added or self.texts_removed
        return not self.accepted and not texts and all(run.change == "same" for run in self.runs)
