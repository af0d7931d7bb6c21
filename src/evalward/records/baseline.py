"""The committed record that reports are compared with: `baseline.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.records.base import Amount, Count, Record
from evalward.records.metric import CategorySummary, Metric
from evalward.records.report import Subject
from evalward.records.result import Details, OtherDetails, Result, Status
from evalward.records.trace import Usage

BASELINE_SCHEMA: Literal["evalward.baseline/1"] = "evalward.baseline/1"


class BaselineTrial(Record):
    """What later tests need of one trial: its outcome and its numbers, no text of anybody's."""

    status: Status
    score: Amount = 0.0
    max_score: Amount = 0.0
    reason: str | None = None
    usage: Usage = Usage()
    duration_ms: Count = 0
    details: Details = OtherDetails()


class BaselineCase(Record):
    """One case: its definition hash and its trials."""

    id: str
    category: str
    definition: str
    trials: list[BaselineTrial]

    def results(self) -> list[Result]:
        """The trials as results, for the functions that compute metrics."""
        return [
            Result(
                id=self.id,
                category=self.category,
                definition=self.definition,
                trial=number,
                status=trial.status,
                score=trial.score,
                max_score=trial.max_score,
                usage=trial.usage,
                duration_ms=trial.duration_ms,
                reason=trial.reason,
                details=trial.details,
            )
            for number, trial in enumerate(self.trials, 1)
        ]


def baseline_trial(result: Result) -> BaselineTrial:
    """The part of a result that a baseline keeps."""
    return BaselineTrial(
        status=result.status,
        score=result.score,
        max_score=result.max_score,
        reason=result.reason,
        usage=result.usage,
        duration_ms=result.duration_ms,
        details=result.details.summary(),
    )


class BaselineRun(Record):
    """One suite and target: subject, metrics with their counts, and the cases, sorted by id."""

    suite: str
    kind: str
    target: str
    trials: int
    random: bool = False
    subject: Subject
    metrics: dict[str, Metric]
    categories: dict[str, CategorySummary] = {}
    cases: list[BaselineCase]

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


class BaselineProvenance(Record):
    """Where the content comes from. It changes only when the content does."""

    created_at: str
    commit: str | None = None
    evalward: str
    accepted: str | None = None


class Baseline(Record):
    """The committed record. Runs are sorted by suite and target."""

    schema_: Literal["evalward.baseline/1"] = Field(default=BASELINE_SCHEMA, alias="schema")
    provenance: BaselineProvenance
    runs: list[BaselineRun] = []
