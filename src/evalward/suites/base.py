"""What every kind of suite has in common, and the registry of kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, cast

from msgspec import Struct, field
from typing_extensions import TypeVar  # with defaults: a kind of which nothing more is known is a plain `Kind`

from evalward.decide.kinds import ComparedKind, PlainKind
from evalward.records.case import Case
from evalward.records.metric import Measurement
from evalward.records.parts import loaded, unusable
from evalward.records.policy import Rule
from evalward.records.problem import Problem
from evalward.records.report import Finding, Run
from evalward.records.result import Details, OtherDetails, Result
from evalward.records.sections import FileText, Grid, TrialSection
from evalward.records.trace import Trace
from evalward.registry import KINDS, has, installed, ours
from evalward.render.kinds import ShownKind, TrialText
from evalward.render.numbers import plural

if TYPE_CHECKING:  # what compares and shows loads no configuration
    from evalward.config import LoadedConfig, Suite
    from evalward.decide.guidance import GuidanceReading
    from evalward.suites.judge.who import JudgeNeeds, Judges


SpecT = TypeVar("SpecT", bound="Suite", default=Any)
CaseT = TypeVar("CaseT", bound=Case, default=Any)
SettingsT = TypeVar("SettingsT", default=Any)


class Prepared(Struct, Generic[SpecT, CaseT, SettingsT], frozen=True):
    """A suite that is ready to run: its cases, and what is under evaluation beside the target, by name.

    `settings` is what the kind itself needs in `run_trial`: prompt, tool, limits. `texts` are the prompts that the
    hashes in `subject` stand for, by the hash: those of `system` and `tool_description` are checked against it.
    """

    spec: SpecT
    cases: Sequence[CaseT]
    subject: Mapping[str, str]
    settings: SettingsT
    warnings: Sequence[str] = ()  # what is odd about the suite's files and no mistake
    judging: JudgeNeeds | None = None  # what its cases want of judges, if anything
    judges: Judges | None = None  # who that is: the plan, which knows the keys, puts them here
    texts: Mapping[str, str] = field(default_factory=dict)


class TrialOutcome(Struct, frozen=True):
    """What one trial gave.

    `artifacts` is a folder with files for people, made for this outcome: whoever gets it moves or removes it.
    """

    result: Result
    trace: Trace
    artifacts: Path | None = None


class Proof(Struct, frozen=True):
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


class Kind(ComparedKind, ShownKind, Protocol[SpecT, CaseT, SettingsT]):
    """One family of evaluation: its record of the configuration, its cases, and what its trials have in common."""

    @property
    def name(self) -> str:
        """How the configuration calls it."""
        ...

    @property
    def spec(self) -> type[SpecT]:
        """The record of its suites in the configuration, which also says which targets they take."""
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

    def prepare(self, spec: SpecT, config: LoadedConfig) -> Prepared[SpecT, CaseT, SettingsT]:
        """Load everything that the suite names. Raises `InputError` with all problems."""
        ...

    async def run_trial(
        self,
        suite: Prepared[SpecT, CaseT, SettingsT],
        case: CaseT,
        target: Any,  # whom its `spec` takes: a `Target` to talk with, or where that says so an `Agent`
        trial: int,
    ) -> TrialOutcome:
        """Run and score one trial. Raises `TrialSkippedError` and `TrialBrokenError`.

        A `TargetError` or `SandboxError` breaks the trial as if nothing had happened before, and a `BrokeOffError`
        counts as the target's failure; what a kind gives for these itself says more.
        """
        ...

    async def prove(self, suite: Prepared[SpecT, CaseT, SettingsT]) -> Proof:
        """Does the set tell right from wrong? Runs reference solutions and wrong answers; needs no key."""
        ...

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """What the numbers show. Pure."""
        ...

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """What several targets on one suite show together. Pure."""
        ...

    def guidance_reading(self) -> GuidanceReading | None:
        """What its results say about the guidance that agents were given; `None` for a kind whose cases have none."""
        ...

    def base_side(self, suite: Prepared[SpecT, CaseT, SettingsT]) -> Prepared[SpecT, CaseT, SettingsT]:
        """The suite of a base commit, without what only the head's trials need."""
        ...

    def variants(self, suite: Prepared[SpecT, CaseT, SettingsT]) -> Mapping[str, Prepared[SpecT, CaseT, SettingsT]]:
        """The suite with other versions of what is evaluated, by name, which `evalward guidance` compares with it."""
        ...


class BaseKind(PlainKind):
    """What a kind has that says nothing else: kinds begin here, and say what is theirs."""

    details: type[Details] = OtherDetails
    default_rules: Sequence[Rule] = ()

    async def prove(self, suite: Prepared) -> Proof:
        """The cases could be read; nothing is run."""
        return Proof([], f"{plural(len(suite.cases), 'case')} read")

    def summary(self, runs: Iterable[Run]) -> Grid | None:  # noqa: ARG002
        """Nothing beyond the metrics."""
        return None

    def trial_text(self, result: Result) -> TrialText:  # noqa: ARG002
        """Nothing beyond what every trial tells."""
        return TrialText()

    def trial_sections(self, result: Result, files: Sequence[FileText]) -> list[TrialSection]:  # noqa: ARG002
        """The files that the trial left."""
        return list(files)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond the numbers."""
        return []

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond what each run shows."""
        return []

    def guidance_reading(self) -> GuidanceReading | None:
        """Its cases have no guidance."""
        return None

    def base_side(self, suite: Prepared) -> Prepared:
        """All of it."""
        return suite

    def variants(self, suite: Prepared) -> Mapping[str, Prepared]:  # noqa: ARG002
        """There are none."""
        return {}


def kinds() -> Mapping[str, str]:
    """Name → `module:attribute` of every kind that is installed."""
    return installed(KINDS)


def guidance_of(kind: str) -> GuidanceReading | None:
    """How results are compared of suites whose cases bring guidance; `None` for kinds without, and unknown ones."""
    return kind_named(kind).guidance_reading() if has(KINDS, kind) else None


def kind_named(name: str) -> Kind:
    """The kind of this name. Raises `KeyError` when there is none, `InputError` for one that is none."""
    kind = loaded(KINDS, name)
    if name not in ours(KINDS):
        _check(kind, name)
    return cast(Kind, kind)


def _check(kind: object, name: str) -> None:
    """What a type checker would say of the kind of another distribution, as far as names go."""
    if isinstance(kind, type):
        raise unusable(KINDS, name, f"is the class {kind.__name__}, and a kind is an object of it")
    lacking = [each for each in _PARTS if not hasattr(kind, each)]
    if lacking:
        raise unusable(KINDS, name, f"is not a kind of suite: it has no {', '.join(lacking)}")
    if (called := cast(Kind, kind).name) != name:
        raise unusable(KINDS, name, f'names a kind that calls itself "{called}"')


_PARTS = sorted(
    {"name", "spec", "metric_ids", "prepare", "run_trial", "measure"}
    | {each for each in dir(BaseKind) if not each.startswith("_")}
)
