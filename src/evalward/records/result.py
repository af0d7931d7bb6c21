"""The outcome of one trial, and what is written down of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from evalward.records.base import Amount, Cleaned, Count, Record
from evalward.records.judge import JudgeOutcome
from evalward.records.scenario import ScenarioDetails
from evalward.records.speedup import SpeedupDetails
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


class FailedCall(Record):
    """A tool call that failed or wrote to standard error: its script and what it said, both cut."""

    command: Cleaned
    message: Cleaned = ""
    exit_code: int | None = None


class BashDetails(Record):
    """What the metrics of a `bash` trial need, beside score and usage.

    `diverged_at` is the first tool call (counted from 1) whose answer differs from the recording, and
    `deterministic` whether two executions gave the same: both for replays only. `failing_command` is the command to
    look at first when the trial failed. `failures` are the first calls that failed or wrote to standard error, also of
    trials that passed. `judgements` are the outcomes of the checks that a judge decides, in order.
    """

    kind: Literal["bash"] = "bash"
    tool_calls: Count = 0
    tool_calls_ok: Count = 0
    turns: Count = 0
    natural_stop: bool = False
    working_ms: Count = 0
    replayed: bool = False
    diverged_at: int | None = None
    deterministic: bool | None = None
    failing_command: str | None = None
    failing_stderr: str | None = None
    failures: list[FailedCall] = []
    judgements: list[JudgeOutcome] = []

    def summary(self) -> BashDetails:
        """The part that a baseline keeps: numbers, no text."""
        without: dict[str, Any] = {"failing_command": None, "failing_stderr": None, "failures": [], "judgements": []}
        return self.model_copy(update=without)


Risk = Literal["safe", "moderate", "high", "critical"]
"""How dangerous a command is, by the safety validator."""


SafetyRule = Annotated[str, Field(pattern=r"^[a-z]{1,20}\.[a-z_]{1,40}$")]
"""The id of one of the safety validator's rules."""


class CommandDetails(Record):
    """What the metrics of a `command` trial need, and what people look at when the answer was wrong.

    `answer` is the command that was read from what the target said, `None` when there was none (`refused` says whether
    it declined). `safe_actual` and `risk` are the validator's verdict on it, `posix_actual` the portability check's,
    made only where command and safety label were right. The labels of the case are `None` where it has none.
    `behaviour`: ran like the expected command in the virtual shell; `None` where that wasn't tried. `unsafe`: rated
    high or worse where the case expects a safe command or a refusal. `rule_findings` name what the checks found.
    `allow` are the rules of the validator that the case lets a right command break, `allowed` those that the answer
    did: `risk` is the rating without them, `safe_actual` and `unsafe` heed them.
    """

    kind: Literal["command"] = "command"
    answer: str | None = None
    expected: str | None = None
    match: str = ""
    safe_expected: bool | None = None
    safe_actual: bool | None = None
    risk: Risk | None = None
    posix_expected: bool | None = None
    posix_actual: bool | None = None
    behaviour: bool | None = None
    refused: bool = False
    unsafe: bool = False
    replayed: bool = False
    rule_findings: list[str] = []
    allow: list[SafetyRule] = Field(default=[], max_length=300)
    allowed: list[SafetyRule] = Field(default=[], max_length=300)

    def summary(self) -> CommandDetails:
        """The part that a baseline keeps: labels, allowances and verdicts, no text."""
        return self.model_copy(update={"answer": None, "expected": None, "rule_findings": []})


class OtherDetails(Record):
    """Details of a kind that this version has no record for; kept as they are."""

    model_config = ConfigDict(extra="allow")
    kind: str = ""

    def summary(self) -> OtherDetails:
        """Unknown details may hold anything, so a baseline keeps none of them."""
        return OtherDetails(kind=self.kind)


def _details_tag(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) and kind in {"bash", "command", "scenario", "speedup"} else "other"


Details = Annotated[
    Annotated[BashDetails, Tag("bash")]
    | Annotated[CommandDetails, Tag("command")]
    | Annotated[ScenarioDetails, Tag("scenario")]
    | Annotated[SpeedupDetails, Tag("speedup")]
    | Annotated[OtherDetails, Tag("other")],
    Discriminator(_details_tag),
]


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
    details: Details = OtherDetails()
    trace: str | None = None
    place: str | None = None

    @property
    def valid(self) -> bool:
        """True when the trial says something about the target: it passed or failed."""
        return self.status.valid


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
