"""Why a verdict is no pass, beside its rules: what could not be measured or compared, and what is missing."""

from __future__ import annotations

from typing import Literal

from evalward.records.codes.base import Coded, OfCases, OfRun
from evalward.records.report import Interruption

OutcomeName = Literal["pass", "fail", "inconclusive", "error"]


class NothingRun(Coded):
    """No case was run."""

    code: Literal["validity.nothing_run"] = "validity.nothing_run"


class Interrupted(Coded):
    """The run ended early: `by` what, and how the run itself said it."""

    code: Literal["validity.interrupted"] = "validity.interrupted"
    by: Interruption
    text: str


class TooManyErrors(OfRun):
    """More of the planned trials ended in an error than `limit`, a share, allows."""

    code: Literal["validity.errors"] = "validity.errors"
    errors: int
    planned: int
    limit: float


class TooFewValid(OfRun):
    """Too few of the cases that both sides know have a valid trial; `measured` are those, and unjudged ones."""

    code: Literal["validity.few_valid"] = "validity.few_valid"
    comparable: int
    measured: int
    expected: int
    limit: float


class TooManyUnjudged(OfRun):
    """The judge could not judge more of the planned trials than `limit`, a share, allows."""

    code: Literal["validity.judge_errors"] = "validity.judge_errors"
    errors: int
    planned: int
    limit: float


class NoResult(OfCases):
    """Cases of the baseline have no valid trial; `again`: not even when they were retried."""

    code: Literal["validity.no_result"] = "validity.no_result"
    known: int
    again: bool
    why: str | None = None


class LostMetric(OfCases):
    """Cases whose trials had a part in the metric in the baseline have none now; of `known` such cases."""

    code: Literal["validity.lost_metric"] = "validity.lost_metric"
    metric: str
    known: int


class FreshErrors(OfRun):
    """Too many of all trials ended in an error once those of the confirm stage count; `again` are these."""

    code: Literal["validity.fresh_errors"] = "validity.fresh_errors"
    again_errors: int
    again: int
    errors: int
    trials: int
    limit: float


class NotMeasured(OfRun):
    """The run was not measured, for a reason of its own."""

    code: Literal["validity.not_measured"] = "validity.not_measured"
    why: str


class Incomparable(OfRun):
    """No case of the run has the baseline's definition."""

    code: Literal["validity.incomparable"] = "validity.incomparable"


class Redefined(OfRun):
    """Cases of the baseline have a different definition now."""

    code: Literal["validity.redefined"] = "validity.redefined"
    count: int
    known: int


class PromptReplayed(OfRun):
    """What the model reads changed, and only a replay looked at it; `parts` are those of the subject."""

    code: Literal["validity.prompt_replayed"] = "validity.prompt_replayed"
    parts: tuple[str, ...]


class RecordingChanged(OfRun):
    """The replay is of another recording than the baseline's."""

    code: Literal["validity.recording_changed"] = "validity.recording_changed"


class BaseNotMeasured(Coded):
    """A run, or all of a suite, has no measurement of the base commit to be compared with; `why` where it is known."""

    code: Literal["validity.base_not_measured"] = "validity.base_not_measured"
    name: str
    why: str | None = None


class BaseErrors(OfCases):
    """So many trials of the base ended in an error that these cases can't be compared."""

    code: Literal["validity.base_errors"] = "validity.base_errors"
    errors: int
    trials: int


class NoRules(Coded):
    """The base has no configuration, so the change was judged by its own rules."""

    code: Literal["validity.no_rules"] = "validity.no_rules"


class EarlierFailure(Coded):
    """An earlier attempt at the same commit failed; `tries` are their outcomes, oldest first."""

    code: Literal["validity.earlier_failure"] = "validity.earlier_failure"
    tries: tuple[OutcomeName, ...]


class MissingRun(OfRun):
    """The baseline has the run, and it was not run."""

    code: Literal["missing.run"] = "missing.run"


class MissingCases(OfCases):
    """The baseline has cases that were not run; `why` are the reasons that were given."""

    code: Literal["missing.cases"] = "missing.cases"
    why: tuple[str, ...] = ()


class MissingCategory(OfRun):
    """A category of the baseline has no case left."""

    code: Literal["missing.category"] = "missing.category"
    category: str


class MissingMetric(OfRun):
    """The policy has a rule for a metric that no run measured; suite and target are the rule's patterns."""

    code: Literal["missing.metric"] = "missing.metric"
    metric: str


class RenamedRun(OfRun):
    """A run of the base has another name now, so it was compared with nothing."""

    code: Literal["missing.renamed"] = "missing.renamed"


class TriesTogether(OfRun):
    """The retrials of all attempts (`tries`) at a commit together.

    `failed` of `trials` failed, of so many `cases`; `loss` and `allowed` are shares of the pass rate. `proven`: more is
    lost than allowed, and not by chance; else it only doesn't refute a try that failed.
    """

    code: Literal["drop.tries_together"] = "drop.tries_together"
    tries: int
    cases: int
    failed: int
    trials: int
    loss: float
    allowed: float
    p: float
    proven: bool


class AnchorLost(OfRun):
    """More of the pass rate is lost since the anchor, bit by bit, than a rule allows; `p` where chance plays a part."""

    code: Literal["anchor.lost"] = "anchor.lost"
    label: str
    commits: int
    cases: int
    before: float
    now: float
    allowed: float
    p: float | None = None


Reasons = (
    NothingRun
    | Interrupted
    | TooManyErrors
    | TooFewValid
    | TooManyUnjudged
    | NoResult
    | LostMetric
    | FreshErrors
    | NotMeasured
    | Incomparable
    | Redefined
    | PromptReplayed
    | RecordingChanged
    | BaseNotMeasured
    | BaseErrors
    | NoRules
    | EarlierFailure
    | MissingRun
    | MissingCases
    | MissingCategory
    | MissingMetric
    | RenamedRun
    | TriesTogether
    | AnchorLost
)
"""A reason beside those of rules."""
