"""What a result of a skill trial says, beside status, checks and usage: which skills were loaded, and its arms."""

from __future__ import annotations

from typing import Any, Literal

from evalward.records.base import Cleaned, Count, Record
from evalward.records.judge import JudgeOutcome
from evalward.records.result import Details, Status
from evalward.records.trace import Usage

Asks = Literal["trigger", "task"]
"""`trigger`: a query, of which it matters which skill is loaded; `task`: work, of which it matters what comes of it."""
ArmName = Literal["with", "without"]
"""The case's own skill is installed, or none is."""
Origin = Literal["suite", "distractor", "agent", "unknown"]
"""Whose skill it is: of the suite, of others, the agent's own; `unknown` where nothing says so."""
SUITES_OWN: tuple[Origin, ...] = ("suite", "distractor")
"""Whose names a repository declares."""
UPLIFTS = ("uplift_pass_rate", "uplift_tokens", "uplift_cost_usd", "uplift_duration_ms")
"""The metrics that compare the arms of a trial."""
UNDECLARED_SKILL = "(undeclared)"
"""What stands in a baseline for the name of a skill that the repository doesn't declare."""


class LoadedSkill(Record):
    """A skill that an agent loaded: by a call that succeeded, or by reading its file."""

    name: Cleaned
    origin: Origin
    how: Literal["called", "read"]
    subagent: bool = False

    def summary(self) -> LoadedSkill:
        """Without a name that the repository doesn't declare."""
        return self if self.origin in SUITES_OWN else self.model_copy(update={"name": UNDECLARED_SKILL})


class ArmOutcome(Record):
    """What came of one arm of a trial.

    `expectations` counts checks and judged sentences, `held` those of them that hold: 0 of 0 where nothing decides.
    """

    arm: ArmName
    status: Status
    reason: str | None = None
    message: Cleaned | None = None
    expectations: Count = 0
    held: Count = 0
    usage: Usage = Usage()
    duration_ms: Count = 0
    turns: Count | None = None
    loaded: list[LoadedSkill] = []

    def summary(self) -> ArmOutcome:
        """Numbers, its cost as it is live, and the names of declared skills."""
        loaded = [each.summary() for each in self.loaded]
        return self.model_copy(update={"message": None, "loaded": loaded, "usage": self.usage.at_list_price})


class SkillDetails(Details):
    """What the metrics of a `skill` trial need, and what people look at.

    `loaded` are the skills of the arm `with`, in the order in which they were loaded. `triggered`: the case's skill is
    among them; `None` where that is unknown, as after an error or where the prompt itself named the skill. `won` is the
    first one, `correct` whether a query led to what it should; `None` for tasks. `isolation` are the words for the
    sandbox that was in force, `diverged_at` the first tool call (from 1) that a replay's tool answered otherwise,
    `artifacts` the folder beside the report, in which `without` has what that arm left.
    """

    kind: Literal["skill"] = "skill"
    asks: Asks = "task"
    skill: Cleaned = ""
    wants: Cleaned | None = None
    unwanted: list[Cleaned] = []
    loaded: list[LoadedSkill] = []
    triggered: bool | None = None
    won: Cleaned | None = None
    correct: bool | None = None
    arms: list[ArmOutcome] = []
    agent: Cleaned = ""
    isolation: Cleaned = ""
    judge: JudgeOutcome | None = None
    replayed: bool = False
    diverged_at: int | None = None
    artifacts: str | None = None

    def with_artifacts(self, path: str | None) -> SkillDetails:
        """The details with the folder of the trial's files beside the report."""
        return self.model_copy(update={"artifacts": path})

    @property
    def files_kept(self) -> str | None:
        """The folder of the trial's files."""
        return self.artifacts

    def arm(self, name: ArmName) -> ArmOutcome | None:
        """The arm of this name, `None` where it was not run."""
        return next((each for each in self.arms if each.arm == name), None)

    def summary(self) -> SkillDetails:
        """The part that a baseline keeps: numbers, and the names of skills that the repository declares."""
        declared = {each.name for each in self.loaded if each.origin in SUITES_OWN}
        update: dict[str, Any] = {
            "loaded": [each.summary() for each in self.loaded],
            "won": self.won if self.won is None or self.won in declared else UNDECLARED_SKILL,
            "arms": [each.summary() for each in self.arms],
            "agent": "",
            "isolation": "",
            "artifacts": None,
            "judge": None if self.judge is None else self.judge.summary(),
        }
        return self.model_copy(update=update)
