"""What a rule says: of limits over all cases, and of drops over those that can be compared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalward.records.base import Record
from evalward.records.codes.base import OfCases, OfRun
from evalward.records.metric import Unit

Limit = Literal["floor", "ceiling"]


class OfMetric(OfRun):
    """Something about one metric of one run."""

    metric: str


class LimitUnavailable(OfMetric):
    """The metric has no value, so its floor or ceiling can't hold; without `why` the run doesn't have it at all."""

    code: Literal["limit.unavailable"] = "limit.unavailable"
    limit: Limit
    why: str | None = None


class LimitBroken(OfMetric):
    """The value is below the rule's floor, or above its ceiling; ratios have their counts."""

    code: Literal["limit.broken"] = "limit.broken"
    limit: Limit
    unit: Unit
    value: float
    allowed: float
    numerator: float | None = None
    denominator: float | None = None


class LimitUnjudged(OfMetric):
    """Only `chosen` of `cases` were run, and what the rule limits holds for all."""

    code: Literal["limit.unjudged"] = "limit.unjudged"
    limits: tuple[Literal["floor", "ceiling", "goal"], ...]
    chosen: int
    cases: int


class GoalUnavailable(OfMetric):
    """The metric has no value to compare with its goal."""

    code: Literal["goal.unavailable"] = "goal.unavailable"
    why: str | None = None


class GoalMissed(OfMetric):
    """The value is short of the rule's goal."""

    code: Literal["goal.missed"] = "goal.missed"
    unit: Unit
    value: float
    goal: float


# --- drops ----------------------------------------------------------------------------------------------------------


class Difference(OfMetric):
    """How a metric moved: `delta` in the metric's own unit, 0.05 being five per cent points, below 0 for a fall."""

    unit: Unit
    delta: float


class Lost(Difference):
    """A change for the worse, and what of it the rule allows."""

    allowed: float


class BareDrop(Lost):
    """A change for the worse where chance has no part: both values and their difference."""

    before: float | None = None
    now: float | None = None


class MetricGone(OfMetric):
    """The baseline has a value of the metric, and now there is none."""

    code: Literal["drop.unavailable"] = "drop.unavailable"
    unit: Unit
    before: float
    why: str | None = None


class ExactDrop(BareDrop):
    """The metric got worse by more than allowed, and no chance is involved or asked for."""

    code: Literal["drop.exact"] = "drop.exact"


class ReferenceDrop(BareDrop):
    """A reference's own speedup fell, which isn't any target's fault: others are measured by it."""

    code: Literal["drop.reference"] = "drop.reference"
    reference: str


class SlowerDrop(BareDrop):
    """A speedup fell, and a benchmark is slower beyond chance, `factor` times."""

    code: Literal["drop.slower"] = "drop.slower"
    case: str
    factor: float
    p: float


class UnseenDrop(BareDrop):
    """A speedup fell, and no benchmark is slower beyond chance. `doubt`: some may be, or could not be tested.

    `elsewhere`: another metric of the run is proven to be worse.
    """

    code: Literal["drop.not_slower"] = "drop.not_slower"
    tested: int
    suspected: int
    untestable: int
    doubt: bool
    elsewhere: bool = False


class CertainDrop(Lost):
    """The metric got worse in cases that always give the same result."""

    code: Literal["drop.certain"] = "drop.certain"


class OpenDrop(Lost, OfCases):
    """These cases failed and could not be retried; `moved` is what they may add."""

    code: Literal["drop.open"] = "drop.open"
    moved: float


class CasesFailed(Record):
    """So many `cases` of `total` that mostly passed (`passed` of `before` trials) now fail in `failed` of `trials`."""

    kind: Literal["cases"] = "cases"
    cases: int
    total: int
    passed: int
    before: int
    failed: int
    trials: int
    fresh: bool


class FailedAgain(Record):
    """`failed` of so many fresh `trials` of the cases that had failed did so again."""

    kind: Literal["again"] = "again"
    cases: int
    failed: int
    trials: int


class BothSides(Record):
    """What so many `cases` of `total` gave here and at the base, measured side by side."""

    kind: Literal["sides"] = "sides"
    cases: int
    total: int
    head_passed: int
    head_trials: int
    base_passed: int
    base_trials: int


Shown = Annotated[CasesFailed | FailedAgain | BothSides, Field(discriminator="kind")]
"""Which trials show a drop."""

Measured = Literal["planned", "fresh", "failed_cases", "base"]
"""What a difference is of: planned trials, fresh ones, those of the failed cases alone, or head and base together."""


class Thin(Record):
    """What a baseline of so many `trials` per case can't prove: a drop of fewer cases than `fewest`, `None`: any."""

    trials: float
    fewest: int | None


class TestedDrop(Lost):
    """A change for the worse beyond what is allowed, and how probable it is that chance alone does so.

    `delta` is what was `measured`, `overall` the difference over all cases; `p` is corrected for all questions of the
    verdict. `same_as` an earlier reason of the run, of this outcome: the same trials show both.
    """

    before: float | None = None
    now: float | None = None
    overall: float
    measured: Measured
    shown: Shown | None = None
    p: float
    same_as: Literal["fail", "inconclusive"] | None = None


class ProvenDrop(TestedDrop):
    """The metric got worse by more than allowed, and not by chance."""

    code: Literal["drop.proven"] = "drop.proven"


class UnprovenDrop(TestedDrop):
    """The metric got worse by more than allowed, and it may be chance.

    `elsewhere`: another metric of the run is proven to be worse.
    """

    code: Literal["drop.unproven"] = "drop.unproven"
    thin: Thin | None = None
    elsewhere: bool = False


class WithinAllowed(Lost):
    """The metric got worse by no more than allowed, as far as retrials show."""

    code: Literal["drop.within"] = "drop.within"


class NotRepeated(Difference):
    """The metric got worse at first, and `passed` of the `trials` of so many failed `cases` passed when they were
    retried."""

    code: Literal["drop.not_repeated"] = "drop.not_repeated"
    cases: int | None = None
    passed: int = 0
    trials: int = 0


class NotWorse(Difference):
    """The metric did not get worse: the interval of the difference, and which change would have been `detectable`."""

    code: Literal["drop.none"] = "drop.none"
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    worse: Literal["drop", "rise"] = "drop"


class WonMore(Difference):
    """Cases were lost for good, and others won more than chance does."""

    code: Literal["drop.won_more"] = "drop.won_more"
    shown: CasesFailed | None = None


class NotWorseThanBase(Difference):
    """Against the base, measured alongside the head, the metric is not worse (`lost` is `None`), or not by too much."""

    code: Literal["drop.base_alike"] = "drop.base_alike"
    lost: float | None = None
    allowed: float = 0.0
    shown: BothSides | None = None


Rules = (
    LimitUnavailable
    | LimitBroken
    | LimitUnjudged
    | GoalUnavailable
    | GoalMissed
    | MetricGone
    | ExactDrop
    | ReferenceDrop
    | SlowerDrop
    | UnseenDrop
    | CertainDrop
    | OpenDrop
    | ProvenDrop
    | UnprovenDrop
    | WithinAllowed
    | NotRepeated
    | NotWorse
    | WonMore
    | NotWorseThanBase
)
"""What a rule says."""
