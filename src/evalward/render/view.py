"""What a judgement's page shows, prepared once for every output: plain text, decided and ordered, not yet escaped.

Sentences may contain `…` in backticks for what is to be set as code.
"""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from msgspec import Struct, field

from evalward.records.result import Status
from evalward.records.verdict import Outcome, RuleStatus
from evalward.render.console import Colour
from evalward.render.context import Accepting
from evalward.render.guidance_view import GuidanceView
from evalward.render.surface_view import SurfaceView

_T = TypeVar("_T")

Detail = Literal["full", "failures", "headline"]


class Badge(Struct, frozen=True):
    """A status as symbol and word; `mark` is the symbol for terminals, one column wide."""

    symbol: str
    word: str
    colour: Colour
    mark: str


OUTCOMES: dict[Outcome, Badge] = {
    Outcome.PASS: Badge("✅", "passed", "green", "✓"),
    Outcome.FAIL: Badge("❌", "failed", "red", "✗"),
    Outcome.INCONCLUSIVE: Badge("❔", "inconclusive", "yellow", "?"),
    Outcome.ERROR: Badge("🛑", "could not be judged", "red", "!"),
}
UNCOMPARED_PASS = Badge("⚠️", "passed, but nothing was compared", "yellow", "!")
UNPROTECTED_PASS = Badge("⚠️", "passed, by its own policy", "yellow", "!")
STATUSES: dict[RuleStatus, Badge] = {
    "not_judged": Badge("–", "part only", "dim", "–"),
    "ok": Badge("✅", "ok", "green", "✓"),
    "not_available": Badge("❔", "not available", "yellow", "?"),
    "warn": Badge("⚠️", "warn", "yellow", "!"),
    "inconclusive": Badge("❔", "inconclusive", "yellow", "?"),
    "fail": Badge("❌", "fail", "red", "✗"),
}
RESULTS: dict[Status, Badge] = {
    Status.PASSED: Badge("✅", "passed", "green", "✓"),
    Status.FAILED: Badge("❌", "failed", "red", "✗"),
    Status.ERROR: Badge("⚠️", "error", "yellow", "!"),
    Status.SKIPPED: Badge("–", "skipped", "dim", "–"),
}
BROKEN = Badge("❌", "broken", "red", "✗")
SEVERITY: dict[RuleStatus, int] = {status: rank for rank, status in enumerate(STATUSES)}
INFO = Badge("–", "info", "dim", "–")
WITHIN_NOISE = Badge("✅", "ok (noise)", "green", "✓")
NOT_COMPARED = Badge("–", "not compared", "dim", "–")
UNCHANGED = Badge("➖", "unchanged", "green", "=")
NOT_MEASURED = Badge("❔", "not measured", "yellow", "?")
NEW = Badge("–", "new", "dim", "–")
MISSING = Badge("❌", "missing", "red", "✗")
NOT_JUDGED = Badge("🛑", "not judged", "red", "!")


class Caps(Struct, frozen=True):
    """How much of everything a page shows. `block` and `text` are characters, the others are counts.

    `runs_named`: each case names its run, also where one run has all that changed; a page that folds needs it.
    """

    detail: Detail
    reasons: int = 10
    runs: int = 30
    rows: int = 40
    broken: int = 10
    checks: int = 3
    block: int = 1200
    changes: int = 40
    answers: int = 20
    categories: int = 40
    warnings: int = 20
    traces: bool = False
    table: int = 30
    findings: int = 8
    runs_named: bool = False


FULL = Caps("full")
FAILURES = Caps(
    "failures", runs=20, checks=2, block=400, changes=20, answers=10, categories=20, warnings=10, table=15, findings=0
)
HEADLINE = Caps(
    "headline", reasons=3, runs=10, broken=0, changes=0, answers=0, categories=0, warnings=0, table=0, findings=0
)
SUMMARY = Caps("full", 50, 200, 200, 100, 10, 2000, 500, 200, 200, 100, traces=True, table=200, findings=30)
TERMINAL = Caps("full", reasons=20, runs=50, broken=20, block=600)
HTML = Caps(
    "full",
    reasons=200,
    runs=500,
    rows=300,
    broken=1000,
    checks=50,
    block=4000,
    changes=5000,
    answers=1000,
    categories=500,
    warnings=500,
    traces=True,
    table=1000,
    findings=200,
    runs_named=True,
)
CAPS: dict[Detail, Caps] = {"full": FULL, "failures": FAILURES, "headline": HEADLINE}


class MetricRow(Struct, frozen=True):
    """One metric of a run: what it was, is, may be, and what that means."""

    metric: str
    before: str
    now: str
    delta: str
    threshold: str
    badge: Badge


class CategoryRow(Struct, frozen=True):
    """One category of a run."""

    name: str
    before: str
    now: str
    delta: str
    fell: bool


class CheckLine(Struct, frozen=True):
    """A failing check: what was expected, and what was there instead."""

    check: str
    detail: str


class CaseEntry(Struct, frozen=True):
    """One case that changed, or that was answered wrongly.

    `run` is empty when the page names the run of all cases, or has one only; `session` is command and stderr, or the
    two commands. `show` is the command that shows one of its trials, `anchor` is where the HTML page has it. `above`:
    the unsafe answers have its commands.
    """

    id: str
    category: str
    run: str
    change: str
    before: str
    now: str
    note: str = ""
    certainty: str = ""
    checks: list[CheckLine] = field(default_factory=list)
    more_checks: int = 0
    session: str = ""
    trace: str = ""
    show: str = ""
    answer: AnswerLine | None = None
    anchor: str = ""
    above: bool = False


class ChangeGroup(Struct, frozen=True):
    """Cases of one run of which the same is to be said: the `entry` of the first, and the ids of all."""

    entry: CaseEntry
    ids: Some[str]


class AnswerLine(Struct, frozen=True):
    """The command that was asked for, the one that came back, and why it is wrong; `risk` where it is unsafe."""

    expected: str
    actual: str
    why: str
    risk: str = ""


class SubjectLine(Struct, frozen=True):
    """A part of the subject that differs."""

    part: str
    before: str
    now: str


class SureRow(Struct, frozen=True):
    """How sure a metric is: its value's interval, the difference's, what could have been seen, the decision."""

    metric: str
    value: str
    interval: str
    delta: str
    detectable: str
    decision: str


class FindingLine(Struct, frozen=True):
    """What the numbers show, on which evidence, and what to do about it.

    `why` is all of the evidence, which is `numbers` and `commands` with what they said.
    """

    badge: Badge
    message: str
    why: str
    advice: str
    cases: list[str]
    numbers: str = ""
    commands: list[str] = field(default_factory=list)


class RunView(Struct, frozen=True):
    """One suite × target. `folded`: its table isn't worth the space on a page with many runs.

    `moved` are those of `info` that tell something new.
    """

    suite: str
    target: str
    badge: Badge
    folded: bool
    rows: list[MetricRow]
    info: list[MetricRow]
    notes: list[str]
    categories: list[CategoryRow]
    subject: list[SubjectLine]
    sure: list[SureRow] = field(default_factory=list)
    tables: list[CaseTable] = field(default_factory=list)
    listings: list[ListingTable] = field(default_factory=list)
    findings: Some[FindingLine] | None = None
    bars: str = ""
    moved: list[MetricRow] = field(default_factory=list)

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"


class Some(Struct, Generic[_T], frozen=True):
    """The first of many, and how many there are."""

    shown: list[_T]
    total: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.total - len(self.shown)

    def __bool__(self) -> bool:
        return self.total > 0


class ListingTable(Struct, frozen=True):
    """What a run has beside its cases, a row each: the name, and the cells of the columns."""

    title: str
    head: str
    columns: list[str]
    rows: Some[tuple[str, list[str]]]
    note: str = ""
    open: bool = False
    counted: bool = True

    @property
    def heading(self) -> str:
        """Its title, with how many rows it has where that says something."""
        return f"{self.title}: {self.rows.total:,}" if self.counted else self.title


class CaseRow(Struct, frozen=True):
    """One case: how it ended, as badge and words, and the cells of the table's columns."""

    id: str
    badge: Badge
    outcome: str
    cells: list[str]


class CaseTable(Struct, frozen=True):
    """The cases of one run. `columns` are those beyond name and outcome, `note` says how to read them."""

    title: str
    head: str
    columns: list[str]
    rows: Some[CaseRow]
    note: str


class CaseMatrix(Struct, frozen=True):
    """The cases of a suite in rows, targets in columns; a cell without a badge is one that nobody tried."""

    title: str
    suite: str
    head: str
    targets: list[str]
    rows: Some[tuple[str, list[tuple[Badge | None, str]]]]


class ReplacedLine(Struct, frozen=True):
    """What took the place of what: `title` in a sentence, and below it facts, and the cases that broke or got fixed."""

    title: str
    facts: list[str]
    broken: Some[str]
    fixed: Some[str]


class ReasonLine(Struct, frozen=True):
    """A reason beyond the headline, or what to do about the first."""

    badge: Badge
    message: str
    remedy: str
    cases: Some[str]


class JudgementPage(Struct, frozen=True):
    """Everything that the page of a judgement says, in the order in which it is said.

    `new` are failing cases that the baseline doesn't have, `still` the names of those that failed in it, too;
    `compared`: there is a baseline. `cases_of` is the run of all listed cases, where one of several has them. `trends`
    is Markdown already. `download` fetches what the cases' commands read.
    """

    detail: Detail
    marker: str
    title: str
    badge: Badge
    headline: str
    facts: list[str]
    alerts: list[str]
    notes: list[str]
    edits: list[str]
    edit_lines: list[str]
    first: ReasonLine | None
    reasons: Some[ReasonLine]
    runs: Some[RunView]
    several: bool
    cases_of: str
    unsafe: Some[CaseEntry]
    broken: Some[CaseEntry]
    new: Some[CaseEntry]
    still: Some[str]
    excused: Some[CaseEntry]
    wrong: Some[CaseEntry]
    fixed: Some[CaseEntry]
    others: Some[CaseEntry]
    other_groups: Some[ChangeGroup]
    other_counts: str
    compared: bool
    subject: list[RunView]
    categories: list[RunView]
    fell: int
    category_count: int
    warnings: Some[str]
    command: str
    failed_command: str
    download: str
    accept: Accepting
    left_out: str
    block: int
    run_url: str
    report_path: str
    trends: str
    guidance: list[GuidanceView]
    matrices: list[CaseMatrix] = field(default_factory=list)
    replaced: list[ReplacedLine] = field(default_factory=list)
    surfaces: list[SurfaceView] = field(default_factory=list)
