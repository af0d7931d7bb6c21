"""The committed record that reports are compared with: `baseline.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from evalward.records.base import Amount, Count, Record, unchecked
from evalward.records.comparison import Tally
from evalward.records.metric import CategorySummary, Measurement, Metric
from evalward.records.once import EACH_ONCE
from evalward.records.report import Run, Subject
from evalward.records.result import AnyDetails, OtherDetails, Result, Status
from evalward.records.sharing import share_alike
from evalward.records.texts import Texts
from evalward.records.trace import Usage
from evalward.records.unchanged import Dependence

BASELINE_SCHEMA: Literal["evalward.baseline/1"] = "evalward.baseline/1"


class BaselineTrial(Record):
    """What later tests need of one trial: its outcome and its numbers, no text of anybody's."""

    status: Status
    score: Amount = 0.0
    max_score: Amount = 0.0
    reason: str | None = None
    usage: Usage = Usage()
    duration_ms: Count = 0
    details: AnyDetails = OtherDetails()

    @model_validator(mode="after")
    def _share(self) -> Self:
        share_alike(self, self.usage, self.details)
        return self


class BaselineCase(Record):
    """One case: its definition hash and its trials. `depends`: on what, where that isn't all of the suite."""

    id: str
    category: str
    definition: str
    depends: Dependence | None = None
    trials: list[BaselineTrial]

    def results(self) -> list[Result]:
        """The trials as results, for the functions that compute metrics."""
        return [
            unchecked(
                Result,
                id=self.id,
                category=self.category,
                definition=self.definition,
                trial=number,
                status=trial.status,
                score=trial.score,
                max_score=trial.max_score,
                checks=[],
                usage=trial.usage,
                judge_usage=None,
                duration_ms=trial.duration_ms,
                reason=trial.reason,
                message=None,
                begun=False,
                details=trial.details,
                trace=None,
                place=None,
            )
            for number, trial in enumerate(self.trials, 1)
        ]

    @property
    def tally(self) -> Tally | None:
        """How many of the valid trials passed, and the share of the score; `None` when none is valid."""
        return Tally.of(self.trials)

    @property
    def valid_trials(self) -> int:
        """How many of the trials say something about the target."""
        return sum([trial.status.valid for trial in self.trials])


def baseline_trial(result: Result) -> BaselineTrial:
    """The part of a result that a baseline keeps: its cost is what the trial costs live."""
    return BaselineTrial(
        status=result.status,
        score=result.score,
        max_score=result.max_score,
        reason=result.reason,
        usage=result.usage.at_list_price,
        duration_ms=result.duration_ms,
        details=result.details.summary(),
    )


def baseline_case(shown: Result, results: Iterable[Result]) -> BaselineCase:
    """A case as a baseline keeps it: what `shown` says of it, and these trials in their order."""
    trials = [baseline_trial(result) for result in results]
    return BaselineCase(id=shown.id, category=shown.category, definition=shown.definition, trials=trials)


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

    @property
    def trial_counts(self) -> tuple[int, int]:
        """The fewest and the most valid trials of a case."""
        counts = [case.valid_trials for case in self.cases]
        return min(counts, default=0), max(counts, default=0)


def baseline_run(
    run: Run, cases: Sequence[BaselineCase], measured: Measurement, trials: int | None = None
) -> BaselineRun:
    """A run as a baseline keeps it, with these cases and what was measured of them; of the run's trials by default."""
    return BaselineRun(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        trials=run.trials if trials is None else trials,
        random=run.random,
        subject=run.subject,
        metrics=measured.metrics,
        categories=measured.categories,
        cases=list(cases),
    )


class Acceptance(Record):
    """Somebody took a drop on purpose: when, at which commit, why, and `what` would have failed, in sentences.

    `by` names who said so, if that is known; `verified` says whether somebody checked that they may. `report` is the
    digest of the report that was accepted.
    """

    at: str
    commit: str | None = None
    reason: str
    by: str | None = None
    verified: bool = False
    report: str | None = None
    what: list[str] = []

    def __str__(self) -> str:
        who = f" by {self.by}" if self.by else ""
        how = "verified" if self.verified else "accepted unverified"
        digest = (self.report or "").removeprefix("sha256:")[:12]
        origin = f"{how}, report sha256:{digest}" if digest else how
        return f"{self.at} {(self.commit or 'an unknown commit')[:12]}{who}: {self.reason} ({origin})"


class BaselineProvenance(Record):
    """Where the content comes from. It changes only when the content does.

    `reports` are digests of the reports whose trials were put in last, oldest first: none is pooled twice.
    `accepted` are the drops that were taken on purpose, oldest first.
    """

    created_at: str
    commit: str | None = None
    evalward: str
    reports: list[str] = []
    accepted: list[Acceptance] = []

    @model_validator(mode="before")
    @classmethod
    def _one_reason(cls, data: Any) -> Any:
        """Earlier baselines have at most one reason, a text: it was given when they were made."""
        if not isinstance(data, dict) or not isinstance(data.get("accepted"), str | None):
            return data
        reason, at = data.get("accepted"), data.get("created_at")
        return {**data, "accepted": [{"at": at, "commit": data.get("commit"), "reason": reason}] if reason else []}


class Baseline(Record):
    """The committed record. Runs are sorted by suite and target.

    `texts` are what the hashes of subjects and definitions stand for, by the hash, so that a change can be shown.
    """

    schema_: Literal["evalward.baseline/1"] = Field(default=BASELINE_SCHEMA, alias="schema")
    provenance: BaselineProvenance
    runs: Annotated[list[BaselineRun], EACH_ONCE] = []
    texts: Texts = {}
