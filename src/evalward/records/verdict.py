"""The decision, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, model_validator

from evalward.records.anchor import AnchorFinding
from evalward.records.base import Record
from evalward.records.codes import Statement, with_quoted
from evalward.records.comparison import Comparison
from evalward.records.evidence import Evidence, Interval
from evalward.records.exits import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.records.metric import Metric
from evalward.records.policy import FailOn, Rule
from evalward.records.trend import Trend

JUDGEMENT_SCHEMA: Literal["evalward.judgement/2"] = "evalward.judgement/2"


class Outcome(StrEnum):
    """What the gate says."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


OUTCOMES = (Outcome.ERROR, Outcome.FAIL, Outcome.INCONCLUSIVE)
"""What a reason may say, the strongest first."""

Stage = Literal["validity", "missing", "limit", "drop", "arm", "anchor"]
STAGES: tuple[Stage, ...] = ("validity", "missing", "limit", "drop", "arm", "anchor")
"""In the order of judgement."""


class Reason(Record):
    """One reason for the verdict: at which stage of the judgement, about what, what was found, and what to do.

    `statements` and `advice` are what programs read. `message` and `remedy` say the same in English: they are only
    filled where a judgement is written, and nothing of ours reads them but in a judgement of version 1.
    """

    stage: Stage
    outcome: Outcome
    statements: list[Statement] = []
    suite: str | None = None
    target: str | None = None
    metric: str | None = None
    cases: list[str] = []
    advice: list[Statement] = []
    message: str = ""
    remedy: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        return with_quoted(data, ("statements", "message"), ("advice", "remedy"))

    @property
    def named(self) -> list[str]:
        """The ids of cases that its sentence names."""
        return [case for each in self.statements for case in each.named]


def in_order(reasons: Iterable[Reason]) -> list[Reason]:
    """The strongest first, and among equal ones in the order of judgement."""
    return sorted(reasons, key=lambda reason: (OUTCOMES.index(reason.outcome), STAGES.index(reason.stage)))


RuleStatus = Literal["ok", "fail", "warn", "inconclusive", "not_available", "not_judged"]


class RuleOutcome(Record):
    """One rule applied to one run: the numbers it looked at and what it said.

    `value` is over all cases (limits), `before`, `now` and `delta` over the comparable ones (drops). `statements` are
    what fails, warns or can't be decided, none when all is well; `explained` is the decision about the drop, and
    `evidence` what it rests on, where the rule has one and the target is random. `interval` is that of `value`.
    `not_judged`: the rule has limits that hold for all cases of the suite, and only some were run. `message` and
    `explanation` are the sentences, as a `Reason` has them.
    """

    rule: Rule
    default: bool = False
    suite: str
    target: str
    value: Metric | None
    before: Metric | None = None
    now: Metric | None = None
    delta: float | None = None
    status: RuleStatus
    stage: Stage = "limit"
    statements: list[Statement] = []
    explained: list[Statement] = []
    interval: Interval | None = None
    evidence: Evidence | None = None
    message: str = ""
    explanation: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        return with_quoted(data, ("statements", "message"), ("explained", "explanation"))


class Verdict(Record):
    """The decision. `reasons` holds all that were found, the deciding one first; without any, `passing` says what a
    pass means. `notices` decide nothing. `accepted_by` is who accepted the baseline that a pass was compared with.

    `headline` and `warnings` are the sentences, as a `Reason` has them.
    """

    outcome: Outcome
    passing: list[Statement] = []
    reasons: list[Reason] = []
    rules: list[RuleOutcome] = []
    notices: list[Statement] = []
    fail_on: FailOn = "regression"
    profile: str | None = None
    accepted_by: str | None = None
    headline: str = ""
    warnings: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        found = with_quoted(data, ("passing", "headline"), ("notices", "warnings"))
        return {**found, "passing": []} if isinstance(found, dict) and found.get("reasons") else found

    def noting(self, *notices: Statement) -> Verdict:
        """The verdict with these notices after its own."""
        return self.model_copy(update={"notices": [*self.notices, *notices]})

    def with_reasons(self, reasons: Sequence[Reason]) -> Verdict:
        """The verdict with these among its reasons: the strongest of all decides. Without any it stays as it is."""
        if not reasons:
            return self
        every = in_order([*self.reasons, *reasons])
        return self.model_copy(update={"reasons": every, "outcome": every[0].outcome, "passing": []})

    @property
    def exit_code(self) -> int:
        """0 pass or inconclusive, 1 failed, 3 could not be judged; `fail_on` moves only between 0 and 1."""
        if self.outcome is Outcome.ERROR:
            return EXIT_UNJUDGED
        blocks = {
            "regression": {Outcome.FAIL},
            "inconclusive": {Outcome.FAIL, Outcome.INCONCLUSIVE},
            "never": set(),
        }
        return EXIT_FAILED if self.outcome in blocks[self.fail_on] else EXIT_OK


class Judgement(Record):
    """Comparison and verdict together: what `compare --format json` writes and every renderer reads.

    `trends` are the metrics that the policy protects, over the last measurements that the history has; `anchors` what
    was lost or kept since the anchor, for each run that could be held against one.
    """

    schema_: Literal["evalward.judgement/2", "evalward.judgement/1"] = Field(default=JUDGEMENT_SCHEMA, alias="schema")
    comparison: Comparison
    verdict: Verdict
    trends: list[Trend] = []
    anchors: list[AnchorFinding] = []

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        return {**data, "schema": JUDGEMENT_SCHEMA} if isinstance(data, dict) and "schema" in data else data
