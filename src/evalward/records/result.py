"""The outcome of one trial, and what is written down of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from evalward.records.base import Amount, Cleaned, Count, Record
from evalward.records.by_kind import ByKind
from evalward.records.sharing import share_alike
from evalward.records.trace import Trace, Usage

NOT_RUN = "not_run"
"""The reason of trials that an early end of the run left out; the report says once why it ended."""

UNREADABLE = "unreadable_result"
"""The reason of trials whose target made them impossible to read or to judge: its own failure."""

GRADER_ERROR = "grader_error"
"""The reason of trials whose grader gave no answer: the suite's mistake, counted as an error."""

TRIAL_SCHEMA: Literal["evalward.trial/1"] = "evalward.trial/1"


class Status(StrEnum):
    """How a trial ended. `error` is the harness's or the provider's fault, never the target's."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def valid(self) -> bool:
        """True when a trial that ended so says something about the target: it passed or failed."""
        return self in _VALID


_VALID = (Status.PASSED, Status.FAILED)  # a tuple compares by identity first; hashing an enum's member is slow


class CheckResult(Record):
    """One expectation of a case: did it hold, and what was there instead."""

    check: Cleaned
    passed: bool
    detail: Cleaned
    weight: Amount = 1.0


class Details(Record):
    """What a result of one kind says beside status, score and usage: a kind's record of it begins here.

    Reading takes the record of the kind that the value names: nobody who reads loads another one. What is of no kind
    that is installed is kept as it is, as `OtherDetails`.
    """

    kind: str = ""

    def summary(self) -> Details:
        """The part that a baseline keeps: numbers, no text of anybody's. Without more said, none of it."""
        return type(self)(kind=self.kind)

    def with_artifacts(self, path: str | None) -> Details:  # noqa: ARG002 - for kinds that keep files for people
        """The details with the path of the folder of files beside the report, for kinds that have one."""
        return self

    @property
    def requests(self) -> int | None:
        """How often the target's model was asked, as far as these details say; `None` where they don't."""
        return None

    @property
    def files_kept(self) -> str | None:
        """The path of that folder; `None` where there is none."""
        return None


class OtherDetails(Details):
    """Details of a kind that this version has no record for; kept as they are."""

    model_config = ConfigDict(extra="allow")


AnyDetails = Annotated[Details, ByKind(OtherDetails)]
"""The details of any kind, each read by its own record."""


class Result(Record):
    """One trial of one case by one target.

    `reason` says why a trial is not `passed`, in a word of its kind or of the failure table. `score` and
    `max_score` are sums of check weights. `trace` is the path of the trial file beside the report, `place` where the
    case is written, `file:line`, counted from the config's folder; it belongs to no hash and to no baseline.
    `begun`: an agent had begun its work when the trial broke, so that what broke it may be its doing.
    `usage` is the target's alone; what a judge has used stands apart in `judge_usage`, `None` when none was asked.
    """

    id: str
    category: str
    definition: str
    trial: int = Field(default=1, ge=1)
    status: Status
    score: Amount = 0.0
    max_score: Amount = 0.0
    checks: list[CheckResult] = []
    usage: Usage = Usage()
    judge_usage: Usage | None = None
    duration_ms: Count = 0
    reason: str | None = None
    message: Cleaned | None = None
    begun: bool = False
    details: AnyDetails = OtherDetails()
    trace: str | None = None
    place: str | None = None

    @model_validator(mode="after")
    def _share(self) -> Self:
        share_alike(self, self.usage, self.details, *self.checks)
        return self

    @property
    def valid(self) -> bool:
        """True when the trial says something about the target: it passed or failed."""
        return self.status in _VALID

    @property
    def usages(self) -> list[Usage]:
        """What the target used, and what a judge did."""
        return [self.usage, *([self.judge_usage] if self.judge_usage is not None else [])]

    @property
    def unsettled(self) -> bool:
        """It failed, broke, or was left out by an early end: what people look at, and try again."""
        return self.status in _UNSETTLED or self.reason == NOT_RUN


_UNSETTLED = (Status.FAILED, Status.ERROR)


def by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of each case, in their order."""
    grouped: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        grouped[result.id].append(result)
    return dict(grouped)


class Trial(Record):
    """The file of one trial: result and trace, with what identifies it. Also one entry of a recording.

    `case` is the case as its file has it, so that a recording says by itself what was asked.
    """

    schema_: Literal["evalward.trial/1"] = Field(default=TRIAL_SCHEMA, alias="schema")
    suite: str
    kind: str
    target: str
    subject: str
    case: dict[str, Any] | None = None
    result: Result
    trace: Trace
