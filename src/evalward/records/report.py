"""Everything that one invocation measured: `report.json`."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from evalward.records.base import Count, Record
from evalward.records.finding import Finding as Finding  # noqa: PLC0414 - where everybody looks for it
from evalward.records.guidance import GuidanceComparison
from evalward.records.metric import CategorySummary, Metric
from evalward.records.once import EACH_ONCE
from evalward.records.part import Part
from evalward.records.patterns import chosen
from evalward.records.result import AnyDetails, OtherDetails, Result
from evalward.records.succession import Predecessor
from evalward.records.texts import MOST_IN_REPORT, Texts, texts_of
from evalward.records.unchanged import Dependence, Unchanged

REPORT_SCHEMA: Literal["evalward.report/1"] = "evalward.report/1"
REPORT_FILE = "report.json"
REPORT_MARKDOWN = "report.md"
Interruption = Literal["budget", "signal", "fault", "batch"]
"""What ended a run early: a spent budget, a signal, or a fault that every trial would have met."""

REPORTS_SCHEMA: Literal["evalward.reports/1"] = "evalward.reports/1"


ANY_TARGET = "*"
"""The target of a run that wasn't measured, of a suite whose results say who is evaluated: all that a baseline has."""


class Tool(Record):
    """The program that wrote a record."""

    name: str = "evalward"
    version: str


class Provenance(Record):
    """Where a record comes from. It identifies; it is never compared."""

    commit: str | None = None
    config_sha256: str | None = None
    platform: str | None = None


HARNESS = "harness"
"""The part of a subject that names another harness, where one made the trials."""
PROGRAM_FILES = "program_files"
"""The part of a subject for the repository's files that a target's command names."""
SOLUTIONS = "solutions"
"""The part of a subject for the reference solutions that the target `oracle` gives."""
UNRECORDED = frozenset({PROGRAM_FILES, SOLUTIONS})
"""Parts that subjects in older baselines lack: of a side without one it isn't known what there was."""


class Subject(Record):
    """What is under evaluation and may change in a pull request: hashes and versions by name.

    `hash` is over all the others. A subject that differs is named in the report and is never a reason not to
    compare: it is what is being judged.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str] = Field(init=False)
    hash: str

    @property
    def parts(self) -> dict[str, str]:
        """The parts by name, without `hash`."""
        return dict(self.__pydantic_extra__)

    @property
    def measured_by_harness(self) -> bool:
        """Whether another harness made the trials: how many, only its own command says."""
        return HARNESS in self.__pydantic_extra__


class Beside(Record):
    """Fresh trials of the cases in doubt on both sides, in one session and in turns: what differs is the pull request.

    `base` are those of the base commit's prompt, tool description and guidance, `head` those of the head's, each case
    as often on either side. They are in no metric. `commit` is the base commit; `note` says why there are none, or
    not all of them.
    """

    commit: str | None = None
    base: list[Result] = []
    head: list[Result] = []
    note: str | None = None


class Run(Record):
    """One suite evaluated with one target.

    `planned` is the number of trials that completeness is judged against. `whole` is the number of cases that the suite
    has for this target, where a selection left some of them out. `replaces` is the run whose place it takes, as the
    configuration says; whether it may, `decide.succession` knows. `random` says whether equal input can
    give other results (models, agents) or not (oracle, nop, replay). `not_measured` says why nothing was run;
    `withheld`: because its commands come from the base's configuration, which hasn't got them yet; `unchanged`: because
    the change can't have touched it, so that the baseline's trials stand. `standing`: they stand for some of its cases,
    of which nothing was run. `depends` says, by id, on what its cases depend, where that isn't all of the suite.
    `confirmation` holds the fresh trials of cases that failed in the planned ones, which are in no metric, and
    `confirm_note` says why there are none, or not all of them. `beside` holds what was measured of both sides where
    a doubt was left.
    """

    suite: str
    kind: str
    target: str
    trials: Count
    random: bool = False
    planned: Count = 0
    whole: Count | None = None
    replaces: Predecessor | None = None
    subject: Subject
    metrics: dict[str, Metric] = {}
    categories: dict[str, CategorySummary] = {}
    findings: list[Finding] = []
    details: AnyDetails = OtherDetails()
    not_measured: str | None = None
    withheld: bool = False
    unchanged: Unchanged | None = None
    standing: Unchanged | None = Field(default=None, exclude_if=lambda value: value is None)
    depends: dict[str, Dependence] = Field(default={}, exclude_if=lambda value: not value)
    cases: list[Result] = []
    confirmation: list[Result] = []
    confirm_note: str | None = None
    beside: Beside | None = None

    @property
    def name(self) -> str:
        """`suite × target`: how a run is called wherever people read of it."""
        return f"{self.suite} × {self.target}"

    @property
    def tries(self) -> list[Result]:
        """Every trial of the head: the planned ones, the confirm stage's, and those beside the base's."""
        return [*self.cases, *self.confirmation, *(self.beside.head if self.beside else [])]


class ChosenCases(Record):
    """Cases of one suite and target, by their ids."""

    suite: str
    target: str
    cases: list[str]


class MeasuredBase(Record):
    """What was measured of the base commit now, for suites that are compared with it and not with a committed baseline.

    `runs` are the base's, with all its cases: those that the head doesn't have or asks otherwise are `skipped`.
    `notes` say, by suite or run, why nothing was measured.
    """

    commit: str | None = None
    runs: Annotated[list[Run], EACH_ONCE] = []
    notes: dict[str, str] = {}


class Partial(Record):
    """The selection by which a run was restricted: it is compared in that part only.

    `suites`, `targets` and `cases` are patterns, of which none means all. `only` holds cases by their ids, run by run:
    of these, what the patterns leave.
    """

    suites: list[str] = []
    targets: list[str] = []
    cases: list[str] = []
    only: list[ChosenCases] | None = None

    @property
    def by_case(self) -> bool:
        """True when cases were chosen, so that of a suite there may be a part."""
        return bool(self.cases) or self.only is not None

    def covers(self, suite: str, target: str) -> bool:
        """True for the runs of which at least some cases may have been chosen."""
        within = self.only is None or (suite, target) in self._by_run
        return within and chosen(suite, self.suites) and chosen(target, self.targets)

    def covers_case(self, suite: str, target: str, case: str) -> bool:
        """True for the cases that were chosen."""
        if not (self.covers(suite, target) and chosen(case, self.cases)):
            return False
        return self.only is None or case in self._by_run[suite, target]

    @cached_property
    def _by_run(self) -> dict[tuple[str, str], frozenset[str]]:
        return {(each.suite, each.target): frozenset(each.cases) for each in self.only or ()}


class Report(Record):
    """The record of one invocation.

    `interrupted` says why it ended before everything planned was done, and `interrupted_by` what ended it. `findings`
    are what several targets on one suite show together. `guidance` holds the changed guidance against the base's:
    trials of the latter are in no run.
    `base` is the base commit's side of the suites that are compared with it. `part`: it holds one shard of a plan, and
    is nothing to judge by itself. `texts` are what hashes stand for, by the
    hash, each once: what models read (parts of a subject) and what cases ask (their definitions).
    """

    schema_: Literal["evalward.report/1"] = Field(default=REPORT_SCHEMA, alias="schema")
    tool: Tool
    created_at: str
    provenance: Provenance = Provenance()
    partial: Partial | None = None
    part: Part | None = None
    interrupted: str | None = None
    interrupted_by: Interruption | None = None
    warnings: list[str] = []
    findings: list[Finding] = []
    guidance: list[GuidanceComparison] = []
    base: MeasuredBase | None = None
    runs: Annotated[list[Run], EACH_ONCE] = []
    texts: Texts = {}

    @model_validator(mode="after")
    def _with_a_code(self) -> Self:
        """Reports that were written before there was a code say what ended them in their words alone.

        Seen afterwards: what looks at it before has all of the JSON made into Python's values first, which takes
        more memory than the report.
        """
        if self.interrupted is not None and self.interrupted_by is None:
            object.__setattr__(self, "interrupted_by", _ended_by(self.interrupted))
            self.__pydantic_fields_set__.add("interrupted_by")
        return self

    @property
    def every_run(self) -> list[Run]:
        """The runs, and those of the base's side."""
        return [*self.runs, *(self.base.runs if self.base else [])]

    @property
    def all_unchanged(self) -> bool:
        """Whether nothing of it was measured, because the baseline's trials stand for every run."""
        return bool(self.runs) and all(run.unchanged is not None for run in self.runs)

    @property
    def cases_stand(self) -> bool:
        """True when the baseline's trials stand for some cases of a run: then it can't become a baseline."""
        return any(run.standing is not None for run in self.runs)

    def with_own_texts(self) -> Report:
        """The report with those of its texts that its runs name, and no prompt that is known to be another."""
        texts = texts_of(self.every_run, [self.texts], MOST_IN_REPORT)
        return self.model_copy(update={"texts": texts}) if texts != self.texts else self

    def ended(self, why: str | None, by: Interruption) -> Report:
        """The report, which ended early if there is a reason; the first one stays."""
        if self.interrupted or not why:
            return self
        return self.model_copy(update={"interrupted": why, "interrupted_by": by})


def _ended_by(interrupted: str) -> Interruption:
    if interrupted.startswith("budget"):
        return "budget"
    return "signal" if interrupted.startswith("interrupted by") else "fault"


class Reports(Record):
    """Several reports together, as they were given; `findings` are those over all their runs."""

    schema_: Literal["evalward.reports/1"] = Field(default=REPORTS_SCHEMA, alias="schema")
    reports: list[Report]
    findings: list[Finding] = []


def digest_of(data: bytes) -> str:
    """What tells a file from every other: an acceptance is bound to that of a report."""
    return sha256(data).hexdigest()
