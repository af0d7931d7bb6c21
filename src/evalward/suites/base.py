"""What every kind of suite has in common, and the registry of kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from evalward.config import LoadedConfig, Suite
from evalward.decide.kinds import ComparedKind, PlainKind
from evalward.records.base import StrictRecord
from evalward.records.case import Case
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.problem import Problem
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import Grid
from evalward.records.trace import Trace
from evalward.registry import KINDS, installed, load
from evalward.render.kinds import ShownKind, TrialText
from evalward.targets.base import Evaluated

if TYPE_CHECKING:
    from evalward.decide.guidance import Reading
    from evalward.suites.judge.who import Judges, Wanted


@dataclass(frozen=True)
class Prepared:
    """A suite that is ready to run: its cases, and what is under evaluation beside the target, by name."""

    spec: Suite
    cases: Sequence[Case]
    subject: Mapping[str, str]
    settings: Any = None  # what the kind itself needs in `run_trial`: prompt, tool, limits
    warnings: Sequence[str] = ()  # what is odd about the suite's files and no mistake
    judging: Wanted | None = None  # what its cases want of judges, if anything
    judges: Judges | None = None  # who that is: the plan, which knows the keys, puts them here


@dataclass(frozen=True)
class TrialOutcome:
    """What one trial gave.

    `artifacts` is a folder with files for people, made for this outcome: whoever gets it moves or removes it.
    """

    result: Result
    trace: Trace
    artifacts: Path | None = None


@dataclass(frozen=True)
class Proof:
    """What proving a suite's cases found: problems with them, and in a sentence what was tried."""

    problems: Sequence[Problem]
    summary: str


class TrialBrokenError(Exception):
    """A trial that could not go on, by no fault of the target: what happened so far, and why it ended.

    `reason` is the word of the failure table. `stops_run`: every other trial of the target would meet the same.
    `begun`: an agent was at work already, so that nobody knows whether it has broken the trial itself.
    """

    def __init__(
        self, trace: Trace, reason: str, message: str, *, stops_run: bool = False, begun: bool = False
    ) -> None:
        self.trace, self.reason, self.message = trace, reason, message
        self.stops_run, self.begun = stops_run, begun
        super().__init__(message)


class Kind(ComparedKind, ShownKind, Protocol):
    """One family of evaluation."""

    @property
    def name(self) -> str:
        """How the configuration calls it."""
        ...

    @property
    def spec(self) -> type[StrictRecord]:
        """The record of its suites in the configuration."""
        ...

    @property
    def details(self) -> type[Details]:
        """The record of what a result of its trials says beside status, score and usage."""
        ...

    @property
    def metric_ids(self) -> Sequence[str]:
        """Every metric that `measure` gives, in the order in which people read them.

        One that ends with `*` stands for all that begin so: metrics that the cases name.
        """
        ...

    @property
    def default_rules(self) -> Sequence[Rule]:
        """Rules for metrics that the policy doesn't name: the specification's thresholds."""
        ...

    def prepare(self, spec: Suite, config: LoadedConfig) -> Prepared:
        """Load everything that the suite names. Raises `InputError` with all problems."""
        ...

    async def run_trial(self, suite: Prepared, case: Case, target: Evaluated, trial: int) -> TrialOutcome:
        """Run and score one trial. Raises `TrialSkippedError` and `TrialBrokenError`.

        A `BrokeOffError` counts as the target's failure; what a kind gives for it itself says more.
        """
        ...

    async def prove(self, suite: Prepared) -> Proof:
        """Does the set tell right from wrong? Runs reference solutions and wrong answers; needs no key."""
        ...

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """What the numbers show. Pure."""
        ...

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """What several targets on one suite show together. Pure."""
        ...

    def guidance_reading(self) -> Reading | None:
        """What its results say about the guidance that agents were given; `None` for a kind whose cases have none."""
        ...


class BaseKind(PlainKind):
    """What a kind has that says nothing else: kinds begin here, and say what is theirs."""

    def summary(self, runs: Iterable[Run]) -> Grid | None:  # noqa: ARG002
        """Nothing beyond the metrics."""
        return None

    def trial_text(self, result: Result) -> TrialText:  # noqa: ARG002
        """Nothing beyond what every trial tells."""
        return TrialText()

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond the numbers."""
        return []

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond what each run shows."""
        return []

    def guidance_reading(self) -> Reading | None:
        """Its cases have no guidance."""
        return None


def kinds() -> Mapping[str, str]:
    """Name → `module:attribute` of every kind that is installed."""
    return installed(KINDS)


def kind_named(name: str) -> Kind:
    """The kind of this name; `KeyError` when there is none."""
    return cast(Kind, load(KINDS, name))
