"""What a judgement needs of a kind of suite: the caller hands the kinds in, as `decide` lies below `suites`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from evalward.decide.portions import Portion
from evalward.decide.statistics.permutation import CaseValues
from evalward.records.evidence import WrongAnswer
from evalward.records.metric import Better, Measurement, Unit
from evalward.records.policy import Arm
from evalward.records.report import Run
from evalward.records.result import Details, Result
from evalward.records.sections import Section
from evalward.records.surface import PartTexts, Surface
from evalward.records.timing import Timings

if TYPE_CHECKING:  # whoever measures loads nothing of what compares
    from evalward.records.baseline import BaselineRun


class CaseEvidence(NamedTuple):
    """What one result says to a comparison, beside its status, score and checks.

    `command` and `stderr` are what to look at first where it failed. `wrong` is the answer that was wrong or `unsafe`,
    of kinds that ask for one. `replayed`: the target's turns were recorded, `diverged`: what was done with them came
    out otherwise than in the recording; `deterministic` is false where two executions of the same gave different
    results. `allowances` are the safety rules that the case lets answers break.
    """

    command: str | None = None
    stderr: str | None = None
    wrong: WrongAnswer | None = None
    unsafe: bool = False
    replayed: bool = False
    diverged: bool = False
    deterministic: bool = True
    allowances: Sequence[str] = ()


NO_EVIDENCE = CaseEvidence()


class Contrast(NamedTuple):
    """A metric in two arms of the same trials: each case's values in the other arm (`before`) and as it is (`now`).

    As many on either side, of the trials that are valid in both. `tried` counts the trials in which the other arm was
    run, to whatever end.
    """

    cases: Mapping[str, CaseValues]
    unit: Unit
    better: Better
    tried: int


class PerTrial(Protocol):
    """A metric that is made of single trials: what each adds, and what those of one case come to."""

    @property
    def lasting(self) -> bool:
        """Whether every valid trial of a case has a part in it, once a trial of the case had: as a scorer's score.

        A share of tool calls isn't: a model may do without a call.
        """
        ...

    def portion(self, result: Result) -> Portion | None:
        """What a trial adds: `NONE` where it has no part in the metric, `None` where what it adds is unknown.

        One unknown portion makes an amount unavailable for its case.
        """
        ...

    def together(self, portions: Sequence[Portion]) -> Portion:
        """What portions of one case come to, those that are `NONE` left out.

        A share sums both of its numbers; an amount is the mean of the trials, or their sum where the metric is a sum
        over all attempts.
        """
        ...


class ComparedKind(Protocol):
    """The part of a kind that comparing and deciding need. All of it is pure."""

    def measure(self, results: Sequence[Result]) -> Measurement:
        """Metrics and category summaries of a list of results."""
        ...

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric; `None` for one that isn't made of them, or that there is not.

        Over the trials of a case it comes to what `measure` gives for them.
        """
        ...

    def evidence(self, result: Result) -> CaseEvidence:
        """What one result says to a comparison."""
        ...

    def as_failed(self, details: Details) -> Details:
        """How the details of a valid trial would look, had everything in it failed."""
        ...

    def contrast(self, metric: str, arm: Arm, results: Sequence[Result]) -> Contrast | None:
        """A metric that compares arms of the same trials: what it is made of. `None` for all others."""
        ...

    def timings(self, before: Iterable[Result], now: Iterable[Result]) -> Timings | None:
        """Which timed pieces of the same cases got slower, `None` where nothing was timed on both sides."""
        ...

    def sections(self, run: Run, base: BaselineRun | None, *, alone: bool = False) -> list[Section]:
        """What to show of a run that no other kind has, beside its `base` where there is one.

        `alone`: it is shown in full, with nothing that it is compared with.
        """
        ...

    def surface(self, before: PartTexts, now: PartTexts) -> Surface | None:
        """What changed in what the subject offers to models, from one side's subject to the other's.

        `None` for a kind whose subjects have no such surface, and where nothing changed.
        """
        ...


Kinds = Mapping[str, ComparedKind]
"""The kinds of a report's runs by name, as far as they are installed."""

NOTHING = Measurement(metrics={}, categories={})


class PlainKind:
    """A kind that says nothing of its own: its results are compared by their status and score alone."""

    def measure(self, results: Sequence[Result]) -> Measurement:  # noqa: ARG002
        """No metric."""
        return NOTHING

    def per_trial(self, metric: str) -> PerTrial | None:  # noqa: ARG002
        """None is made of trials."""
        return None

    def evidence(self, result: Result) -> CaseEvidence:  # noqa: ARG002
        """Nothing beyond its status."""
        return NO_EVIDENCE

    def as_failed(self, details: Details) -> Details:
        """The same."""
        return details

    def contrast(self, metric: str, arm: Arm, results: Sequence[Result]) -> Contrast | None:  # noqa: ARG002
        """There is one arm."""
        return None

    def timings(self, before: Iterable[Result], now: Iterable[Result]) -> Timings | None:  # noqa: ARG002
        """Nothing is timed."""
        return None

    def sections(self, run: Run, base: BaselineRun | None, *, alone: bool = False) -> list[Section]:  # noqa: ARG002
        """Nothing."""
        return []

    def surface(self, before: PartTexts, now: PartTexts) -> Surface | None:  # noqa: ARG002
        """There is none."""
        return None


UNKNOWN: ComparedKind = PlainKind()
"""Any kind that this version doesn't know."""
