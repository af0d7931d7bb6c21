"""A case of ours as its YAML or JSONL file has it: a query and what it should load, or a task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from evalward.records.base import StrictRecord
from evalward.suites.bounds import MOST_ENTRIES, CaseName, CaseText, Tags
from evalward.suites.scenario.gate_models import FixturePath, Gate

MOST_EXPECTATIONS = 30
"""Of one case: a judge is asked about all of them at once."""
LONGEST_SENTENCE = 2_000
Line = Annotated[CaseText, Field(min_length=1)]
Sentence = Annotated[str, Field(min_length=1, max_length=LONGEST_SENTENCE)]
_OF_TASKS = ("files", "checks", "expectations", "expected_output", "solution")


class SkillTask(StrictRecord):
    """One case as a file has it. With `should_trigger` it is a query, without it a task."""

    id: CaseName = Field(description="Unique in the suite")
    skill: Line | None = Field(
        default=None,
        description="The skill that the case is about. Default: the one that should trigger, or the only one",
    )
    prompt: CaseText = Field(min_length=1, description="What the agent is asked")
    should_trigger: bool | Line | None = Field(
        default=None, description="A query: whether the skill should be loaded, or the name of the one that should"
    )
    should_not_trigger: list[Line] = Field(
        default=[], max_length=MOST_ENTRIES, description="A query: skills that must not be loaded"
    )
    files: dict[FixturePath, Line] = Field(
        default={},
        max_length=MOST_ENTRIES,
        description="A task's files: path in the agent's folder, and the file or folder of the repository",
    )
    checks: list[Gate] = Field(
        default=[], max_length=MOST_ENTRIES, description="A task's checks, as a scenario's gates"
    )
    expectations: list[Sentence] = Field(
        default=[], max_length=MOST_EXPECTATIONS, description="Sentences that should hold; a judge decides"
    )
    expected_output: CaseText = Field(default="", description="What should come of it, in words; shown to the judge")
    solution: list[Line] = Field(
        default=[], max_length=MOST_ENTRIES, description="Shell commands that solve the task, for the target oracle"
    )
    tags: Tags = Field(default=[], description="Words to find the case by")
    notes: CaseText | None = Field(default=None, description="For people")

    @field_validator("prompt")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value

    @model_validator(mode="after")
    def _fitting(self) -> SkillTask:
        if self.should_trigger is None:
            if self.should_not_trigger:
                raise ValueError("`should_not_trigger` belongs to queries: add `should_trigger`")
            return self
        given = next((key for key in _OF_TASKS if getattr(self, key)), None)
        if given is not None:
            raise ValueError(f"a query (`should_trigger`) has no `{given}`: make two cases of it")
        return self
