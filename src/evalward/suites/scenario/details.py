"""The details of a scenario trial: its three layers, as they were measured."""

from __future__ import annotations

from typing import Literal

from evalward.records.base import Cleaned, Count, Record
from evalward.records.judge import JudgeOutcome
from evalward.records.result import Details


class SubcommandStats(Record):
    """The commands of one subcommand (identity): counts, and whether the first of them succeeded.

    `retries` are repetitions (total − 1); `retries_after_failure` those whose predecessor failed.
    """

    total: Count = 0
    errors: Count = 0
    retries: Count = 0
    retries_after_failure: Count = 0
    first_try: bool | None = None


class FailedCommand(Record):
    """A command that failed, as evidence: cut, and hostile like everything that an agent wrote.

    `worked` is the next command of the same identity that succeeded: what should have been written.
    """

    subcommand: Cleaned
    command: Cleaned
    exit_code: int | None = None
    said: Cleaned = ""
    worked: Cleaned | None = None


class Interaction(Record):
    """Layer 1: how the agent used the target tool. Counts are kept, rates follow from them.

    `retry_count` is total − unique. `unknown_count` are the commands whose own exit code is unknown; they are in the
    total and neither errors nor successes. `first_try_count` are the identities whose first command exited 0. Those,
    `unique_commands` and `retries_after_failure` are `None` where they can't be known, as where the pattern captures no
    subcommand. `commands_per_unique` is the value that the upstream program calls iteration ratio. `per_subcommand` is
    empty where the pattern captures none. `failed` are the first commands that failed.
    """

    total_commands: Count = 0
    unique_commands: Count | None = 0
    error_count: Count = 0
    retry_count: Count | None = 0
    help_invocations: Count = 0
    unknown_count: Count = 0
    first_try_count: Count | None = None
    retries_after_failure: Count | None = None
    completed: bool | None = None
    per_subcommand: dict[str, SubcommandStats] = {}
    failed: list[FailedCommand] = []

    @property
    def exit_codes_known(self) -> bool:
        """False when there are commands and not one exit code among them is known."""
        return self.unknown_count < self.total_commands or self.total_commands == 0

    @property
    def error_rate(self) -> float | None:
        """Failed / total; `None` without commands, or without any known exit code."""
        return _share(self.error_count, self.total_commands) if self.exit_codes_known else None

    @property
    def retry_rate(self) -> float | None:
        """(total − unique) / total; `None` without commands or subcommands."""
        return _share(self.retry_count, self.total_commands)

    @property
    def first_try_success_rate(self) -> float | None:
        """Identities whose first command exited 0, over all commands; `None` without commands or when unknown."""
        return _share(self.first_try_count, self.total_commands)

    @property
    def first_tries(self) -> tuple[int, int] | None:
        """Of how many subcommands the first use is known to have succeeded, and of how many its end is known."""
        if self.first_try_count is None or not self.total_commands:
            return None
        if not self.per_subcommand:
            return self.first_try_count, self.unique_commands or 0
        known = [one.first_try for one in self.per_subcommand.values() if one.first_try is not None]
        return sum(known), len(known)

    @property
    def iteration_ratio(self) -> float | None:
        """Unique / total; `None` without commands or subcommands."""
        return _share(self.unique_commands, self.total_commands)

    @property
    def commands_per_unique(self) -> float | None:
        """Total / unique; `None` without commands or subcommands."""
        return _share(self.total_commands, self.unique_commands)

    @property
    def succeeded(self) -> int:
        """The commands that are known to have succeeded."""
        return max(0, self.total_commands - self.error_count - self.unknown_count)

    def rates(self) -> dict[str, float | None]:
        """The rates by the names of their metrics, for whoever writes them down."""
        return {
            "error_rate": self.error_rate,
            "retry_rate": self.retry_rate,
            "first_try_success_rate": self.first_try_success_rate,
            "iteration_ratio": self.iteration_ratio,
            "commands_per_unique": self.commands_per_unique,
        }

    def summary(self) -> Interaction:
        """The numbers without the evidence."""
        return self.model_copy(update={"per_subcommand": {}, "failed": []})


def _share(part: int | None, whole: int | None) -> float | None:
    return part / whole if whole and part is not None else None


class GateResult(Record):
    """Layer 2: one gate, and in its message what was there."""

    gate_type: str
    passed: bool
    message: Cleaned = ""


class EvaluatorResult(Record):
    """What an evaluator script gave: numbers of its own, a score, words; `error` says what was wrong with it."""

    name: str
    metrics: dict[str, float] = {}
    score: float | None = None
    summary: Cleaned = ""
    error: Cleaned | None = None


class ScenarioDetails(Details):
    """What the metrics of a `scenario` trial need, and what people look at.

    Layer 3: `judge_passed` is `None` where no judge was asked, `judge_error` says why one that was asked gave nothing,
    and `judge` is all that was said: scores by criterion, issues, highlights, votes.
    `completed`: the agent ended by itself with exit code 0; `None` only where another tool's file doesn't tell it.
    `approximate`: the interaction was read from a transcript, where exit codes are guessed. `isolation` are the words
    for the sandbox that was in force, `diverged_at` the first tool call (from 1) that a replay's tool answered
    otherwise, `artifacts` the folder beside the report, `agent` who worked, `claims` what the agent itself says of its
    cost: told, never counted. `skipped_events` are lines of the events that can't be read. `put_back` are files that
    judge and that the agent had changed: its versions were not used.
    """

    kind: Literal["scenario"] = "scenario"
    interaction: Interaction = Interaction()
    gates: list[GateResult] = []
    gates_passed: Count = 0
    gates_total: Count = 0
    judge_score: float | None = None
    judge_passed: bool | None = None
    judge_error: str | None = None
    judge: JudgeOutcome | None = None
    composite_score: float | None = None
    evaluators: list[EvaluatorResult] = []
    completed: bool | None = None
    approximate: bool = False
    replayed: bool = False
    diverged_at: int | None = None
    skipped_events: Count = 0
    isolation: str = ""
    artifacts: str | None = None
    agent: str = ""
    claims: dict[str, float | str] = {}
    put_back: list[str] = []

    def with_artifacts(self, path: str | None) -> ScenarioDetails:
        """The details with the folder of the trial's files beside the report."""
        return self.model_copy(update={"artifacts": path})

    @property
    def files_kept(self) -> str | None:
        """The folder of the trial's files."""
        return self.artifacts

    def summary(self) -> ScenarioDetails:
        """The part that a baseline keeps: numbers, which gates held, no text of anybody's."""
        return self.model_copy(
            update={
                "interaction": self.interaction.summary(),
                "gates": [gate.model_copy(update={"message": ""}) for gate in self.gates],
                "evaluators": [EvaluatorResult(name=e.name, metrics=e.metrics, score=e.score) for e in self.evaluators],
                "judge": None,
                "judge_error": None if self.judge_error is None else "",
                "isolation": "",
                "artifacts": None,
                "agent": "",
                "claims": {},
                "put_back": [],
            }
        )
