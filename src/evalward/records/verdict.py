"""The decision, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal

from pydantic import Field

from evalward.records.anchor import AnchorFinding
from evalward.records.base import Record
from evalward.records.comparison import Comparison
from evalward.records.evidence import Evidence, Interval
from evalward.records.metric import Metric
from evalward.records.policy import FailOn, Rule
from evalward.records.trend import Trend

JUDGEMENT_SCHEMA: Literal["evalward.judgement/1"] = "evalward.judgement/1"


class Outcome(StrEnum):
    """What the gate says."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


EXIT_OK, EXIT_FAILED, EXIT_INPUT, EXIT_UNJUDGED = 0, 1, 2, 3

OUTCOMES = (Outcome.ERROR, Outcome.FAIL, Outcome.INCONCLUSIVE)
"""What a reason may say, the strongest first."""

Stage = Literal["validity", "missing", "limit", "drop", "anchor"]
STAGES: tuple[Stage, ...] = ("validity", "missing", "limit", "drop", "anchor")
"""In the order of judgement."""


class Reason(Record):
    """One reason for the verdict: at which stage of the judgement, about what, in one sentence, and what to do."""

    stage: Stage
    outcome: Outcome
    message: str
    suite: str | None = None
    target: str | None = None
    metric: str | None = None
    cases: list[str] = []
    remedy: str = ""


def in_order(reasons: Iterable[Reason]) -> list[Reason]:
    """The strongest first, and among equal ones in the order of judgement."""
    return sorted(reasons, key=lambda reason: (OUTCOMES.index(reason.outcome), STAGES.index(reason.stage)))


RuleStatus = Literal["ok", "fail", "warn", "inconclusive", "not_available", "not_judged"]


class RuleOutcome(Record):
    """One rule applied to one run: the numbers it looked at and what it said.

    `value` is over all cases (limits), `before`, `now` and `delta` over the comparable ones (drops). `message` is what
    fails, warns or can't be told, empty when all is well; `explanation` is the decision about the drop in a sentence,
    and `evidence` what it rests on, where the rule has one and the target is random. `interval` is that of `value`.
    `not_judged`: the rule has limits that hold for all cases of the suite, and only some were run.
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
    message: str
    explanation: str = ""
    interval: Interval | None = None
    evidence: Evidence | None = None


class Verdict(Record):
    """The decision. `reasons` holds all that spoke, the deciding one first; `headline` is its sentence."""

    outcome: Outcome
    headline: str
    reasons: list[Reason] = []
    rules: list[RuleOutcome] = []
    warnings: list[str] = []
    fail_on: FailOn = "regression"
    profile: str | None = None

    def with_reasons(self, reasons: Sequence[Reason]) -> Verdict:
        """The verdict with these among its reasons: the strongest of all decides. Without any it stays as it is."""
        if not reasons:
            return self
        every = in_order([*self.reasons, *reasons])
        return self.model_copy(update={"reasons": every, "outcome": every[0].outcome, "headline": every[0].message})

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

    schema_: Literal["evalward.judgement/1"] = Field(default=JUDGEMENT_SCHEMA, alias="schema")
    comparison: Comparison
    verdict: Verdict
    trends: list[Trend] = []
    anchors: list[AnchorFinding] = []
