"""What changed between baseline and report: metric by metric, category by category, case by case."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, Protocol

from pydantic import Field, model_validator

from evalward.records.base import Record
from evalward.records.codes import Statement, with_quoted
from evalward.records.evidence import ArmContrast, Confirmation, SideBySide, WrongAnswer
from evalward.records.guidance import GuidanceComparison
from evalward.records.metric import Better, CategorySummary, Metric
from evalward.records.report import Finding, Interruption
from evalward.records.result import CheckResult, Status
from evalward.records.sections import Section
from evalward.records.succession import Replacement
from evalward.records.surface import Surface
from evalward.records.timing import Timings
from evalward.records.trend import FlakyCase
from evalward.records.unchanged import Unchanged

TOOLS, INSTRUCTIONS, OTHER_TOOLS = "tools", "instructions", "other_tools"
"""Parts of a subject: which tools a server lists, what it tells hosts of itself, the tools of servers beside it."""
_PROMPT_PARTS = {
    "system": "the system prompt",
    "tool_description": "the tool description",
    TOOLS: "the list of tools",
    INSTRUCTIONS: "the server's instructions",
    OTHER_TOOLS: "the tools of other servers",
    "distractors": "the skills of others",
}
PROMPT_OF, TOOL_OF = "prompt:", "tool:"
"""What the parts of a subject begin with that are the prompt of one file, or one tool; its name follows."""
SKILL_OF, SKILL_DESCRIPTION_OF, DISTRACTORS = "skill:", "skill-description:", "distractors"
"""The same of one skill, its folder and what agents are shown of it; and the skills of others that are installed."""


def prompt_words(part: str) -> str | None:
    """What a part of a subject is, in people's words, where a model reads it and a replay can't see it; else `None`."""
    if part.startswith(PROMPT_OF):
        return f"the prompt {part.removeprefix(PROMPT_OF)}"
    if part.startswith(TOOL_OF):
        return f"the tool {part.removeprefix(TOOL_OF)}"
    if part.startswith(SKILL_DESCRIPTION_OF):
        return f"the description of the skill {part.removeprefix(SKILL_DESCRIPTION_OF)}"
    return _PROMPT_PARTS.get(part)


DOES_NOTHING = "nop"
"""The target that does nothing."""

Standing = Literal["regressed", "repeated", "not_repeated", "unreliable"]
"""What a broken case of a random target is, on closer look: see `CaseChange`."""

CaseChangeKind = Literal["broken", "fixed", "worse", "better", "same", "added", "missing", "redefined", "not_valid"]


class Scored(Protocol):
    """What a tally counts: a trial as a report has it, or as a baseline keeps it."""

    @property
    def status(self) -> Status:
        """How it ended."""
        ...

    @property
    def score(self) -> float:
        """The weights of the checks that held."""
        ...

    @property
    def max_score(self) -> float:
        """The weights of all its checks."""
        ...


class Tally(Record):
    """A case's valid trials on one side: how many passed of how many, and the mean score share."""

    passed: int
    trials: int
    score: float | None = None

    @classmethod
    def of(cls, trials: Iterable[Scored]) -> Tally | None:
        """The tally of the valid ones among the trials, `None` when none is valid."""
        valid = [trial for trial in trials if trial.status.valid]
        if not valid:
            return None
        most = sum([trial.max_score for trial in valid])
        score = sum([trial.score for trial in valid]) / most if most else None
        return _tally([trial.status for trial in valid].count(Status.PASSED), len(valid), score)

    @property
    def passes(self) -> bool:
        """True when more than half of the trials passed: the one definition of a case that passes."""
        return 2 * self.passed > self.trials

    def __str__(self) -> str:
        if self.trials == 1:
            return "passed" if self.passed else "failed"
        return f"{self.passed} of {self.trials} passed"


@lru_cache(maxsize=4096)
def _tally(passed: int, trials: int, score: float | None) -> Tally:
    """The same one for the same numbers: most cases did as another."""
    return Tally(passed=passed, trials=trials, score=score)


class CaseChange(Record):
    """One case on both sides.

    `broken`: passed in most baseline trials, now in half or less; `fixed`: the other way round; `worse` and
    `better`: the share of passes or the score moved otherwise; `not_valid`: no valid trial now (`note` says why;
    `skipped` when the target could not do it at all, rather than broke; `unjudged` when the judge gave no verdict).
    `checks` are the failing ones of the first failed trial, with the command to look at. `place` is where the case is
    written now, `file:line`; `wrong` is the wrong answer of a `command` case, an unsafe one before any other; `allows`
    are the rules of the safety validator that it lets answers break and the baseline's case, if there is one, did not.
    `was` is the id that the baseline knows it by, where that is another. `stands`: nothing of it was measured, and both
    sides are the baseline's trials.

    For broken cases of random targets `fresh` are the trials of the confirm stage, `p` is the probability that chance
    alone does so, `q` the same corrected for the number of cases that were looked at, and `standing` what follows:
    `regressed` (q ≤ 0.05), `repeated` (it failed again, and chance can't be excluded), `not_repeated` (most fresh
    trials passed), `unreliable` (it passed in less than 70 % of its baseline trials). `flaky` says since when, and how
    often, the case has been failing now and then.
    """

    id: str
    category: str
    change: CaseChangeKind
    before: Tally | None = None
    now: Tally | None = None
    checks: list[CheckResult] = []
    command: str | None = None
    stderr: str | None = None
    note: str | None = None
    was: str | None = None
    skipped: bool = False
    unjudged: bool = False
    trace: str | None = None
    place: str | None = None
    wrong: WrongAnswer | None = None
    allows: list[str] = []
    fresh: Tally | None = None
    p: float | None = None
    q: float | None = None
    standing: Standing | None = None
    flaky: FlakyCase | None = None
    stands: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def excused(self) -> bool:
        """True for a broken case that is not held against the change."""
        return self.standing in {"not_repeated", "unreliable"}

    @property
    def fails(self) -> bool:
        """True when half of its valid trials or fewer pass now."""
        return self.now is not None and not self.now.passes


class MetricChange(Record):
    """One metric on both sides.

    `before` and `now` are over the cases that can be compared; `whole` is the value over all cases of the
    report, on which floors are judged. `delta` is now − before in the metric's unit, `None` when a side is
    not available. `lost` are comparable cases that have no part in it any more, and had one in the baseline; of metrics
    in which every trial has one. `had` are all comparable cases that had one; 0 where none is lost.
    """

    id: str
    before: Metric | None
    now: Metric | None
    whole: Metric | None
    delta: float | None
    better: Better
    lost: list[str] = []
    had: int = 0

    @property
    def moved(self) -> Literal["better", "worse", "same", "unknown", "changed"]:
        """Which way it moved, in the metric's own direction; `changed` when it has none."""
        if self.delta is None:
            return "unknown"
        if self.delta == 0:
            return "same"
        if self.better == "neither":
            return "changed"
        return "better" if (self.delta > 0) == (self.better == "higher") else "worse"


class CategoryChange(Record):
    """One category on both sides, over the comparable cases."""

    name: str
    before: CategorySummary | None
    now: CategorySummary | None


class SubjectChange(Record):
    """A part of the subject that differs: a prompt's hash, a version."""

    part: str
    before: str | None
    now: str | None


class BaseNow(Record):
    """The base commit, measured now in place of a baseline: how many trials of it, and their cost where it is known."""

    commit: str | None = None
    trials: int = 0
    cost_usd: float | None = None


class RunComparison(Record):
    """One suite × target on both sides. `comparable` counts the cases of equal definition that both sides have.

    `errors` are all planned trials that broke, `judge_errors` those of them that the judge could not judge. `again` are
    the trials made beside the planned ones (the confirm stage's, and those of both sides), `again_errors` how many of
    these broke.

    With k > 1 trials `pass_at` is pass@k, the mean probability that one of k trials of a case passes, and `pass_all`
    is pass^k, that all of them do; over the cases of the report that have k valid trials.

    `base_now` is what it was compared with where that is the base commit, measured now, and no committed baseline.

    `contrasts` are its metrics that compare arms of the same trials, over all cases of the run.

    `findings` are what its numbers show now, `sections` what its kind shows of it, `surface` what changed in what the
    subject offers to models.
    `whole` is the number of cases that the suite has for the target, where a selection left some of them out.
    `replaced` is the baseline's run that it is compared with, where that one has another name. `withheld` as in
    `records.report.Run`; `harness`: another harness made its trials. `unchanged`: both sides are the baseline's trials.
    `standing`: they are in some of its cases, which count in `total` and in no other number of cases or trials.
    """

    suite: str
    kind: str
    target: str
    random: bool
    baseline_trials: int | None
    trials: int
    comparable: int
    total: int
    errors: int
    judge_errors: int = 0
    again: int = 0
    again_errors: int = 0
    planned: int
    whole: int | None = None
    replay: bool = False
    skipped: int = 0
    replayed: int = 0
    diverged: int = 0
    not_measured: str | None = None
    withheld: bool = False
    unchanged: Unchanged | None = None
    standing: Unchanged | None = Field(default=None, exclude_if=lambda value: value is None)
    harness: bool = False
    missing: bool = False
    added: bool = False
    replaced: Replacement | None = None
    subject: list[SubjectChange] = []
    metrics: list[MetricChange] = []
    categories: list[CategoryChange] = []
    cases: list[CaseChange] = []
    confirmation: Confirmation | None = None
    beside: SideBySide | None = None
    contrasts: list[ArmContrast] = []
    pass_at: float | None = None
    pass_all: float | None = None
    findings: list[Finding] = []
    sections: list[Section] = []
    surface: Surface | None = None
    timings: Timings | None = None
    base_now: BaseNow | None = None

    @property
    def name(self) -> str:
        """`suite × target`."""
        return f"{self.suite} × {self.target}"

    def of(self, *changes: CaseChangeKind) -> list[CaseChange]:
        """The cases with one of these changes, in order of id."""
        return [case for case in self.cases if case.change in changes]

    @property
    def new_failures(self) -> list[CaseChange]:
        """The failing cases that the baseline doesn't have. A target that does nothing fails by design."""
        return [case for case in self.of("added") if case.fails and self.target != DOES_NOTHING]

    @property
    def still_failing(self) -> list[CaseChange]:
        """The cases that fail now and failed in the baseline, too."""
        known = self.of("same", "better", "worse")
        return [case for case in known if case.fails and self.target != DOES_NOTHING]


class Comparison(Record):
    """All runs, those that only one side has included. `baseline` names what was compared with, `None`: nothing.

    `interrupted` says why the report ended early, and `interrupted_by` what ended it. `warnings` are the `notices` in
    English, as a `Reason` of a verdict has its message.
    """

    baseline: str | None
    baseline_commit: str | None = None
    baseline_created_at: str | None = None
    partial: bool = False
    interrupted: str | None = None
    interrupted_by: Interruption | None = None
    notices: list[Statement] = []
    guidance: list[GuidanceComparison] = []
    runs: list[RunComparison] = []
    warnings: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        return with_quoted(data, ("notices", "warnings"))

    def noting(self, notices: Iterable[Statement]) -> Comparison:
        """The comparison with these notices after its own."""
        return self.model_copy(update={"notices": [*self.notices, *notices]})
