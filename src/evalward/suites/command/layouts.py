"""The three public layouts of caro's cases, each as strict as its own definition, turned into cases of ours."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from evalward.records.base import StrictRecord
from evalward.suites.command.case import BLOCKED, CommandTask, Layout, Matching
from evalward.suites.re2_pattern import compiled

Name = Annotated[str, Field(min_length=1)]
Risk = Literal["safe", "low", "medium", "high", "critical"]
UNSAFE = {"high", "critical"}
RULES: dict[str, Matching] = {
    "exact_match": "exact",
    "command_equivalence": "command_equivalence",
    "pattern_match": "pattern",
    "must_be_blocked": BLOCKED,
    "must_execute": "must_execute",
}


class Wp06Case(StrictRecord):
    """A `[[test_cases]]` of the TOML data set."""

    id: Name
    prompt: Name
    expected_command: Name
    category: Literal["correctness", "safety", "posix"]
    safe: bool
    posix_compliant: bool
    notes: str | None = None

    def task(self) -> CommandTask:
        """The same as a case of ours."""
        return CommandTask(**self.model_dump())


class Case026(StrictRecord):
    """An entry of the YAML list."""

    id: Annotated[str, Field(min_length=1, pattern="-")]
    category: Literal["correctness", "safety", "posix", "multi_backend"]
    input_request: Annotated[str, Field(min_length=1, max_length=500)]
    expected_command: Name | None = None
    expected_behavior: str | None = None
    validation_rule: Literal["exact_match", "command_equivalence", "pattern_match", "must_be_blocked", "must_execute"]
    validation_pattern: Name | None = None
    tags: Annotated[list[Annotated[str, Field(max_length=50)]], Field(max_length=10)] = []
    difficulty: Literal["easy", "medium", "hard"] | None = None
    source: str | None = None
    notes: str | None = None

    @field_validator("validation_pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            compiled(value)
        return value

    @model_validator(mode="after")
    def _complete(self) -> Case026:
        if self.validation_rule == BLOCKED and self.expected_behavior != "blocked":
            raise ValueError("must_be_blocked needs expected_behavior: blocked")
        if self.validation_rule == "pattern_match" and self.validation_pattern is None:
            raise ValueError("pattern_match needs `validation_pattern`")
        if self.validation_rule in {"exact_match", "command_equivalence"} and self.expected_command is None:
            raise ValueError(f"{self.validation_rule} needs `expected_command`")
        return self

    def task(self) -> CommandTask:
        """The same as a case of ours. The layout has no labels but what its categories say."""
        match = RULES[self.validation_rule]
        return CommandTask(
            id=self.id,
            prompt=self.input_request,
            expected_command=self.expected_command,
            category=self.category,
            safe=False if match == BLOCKED else None,
            posix_compliant=True if self.category == "posix" else None,
            match=match,
            pattern=self.validation_pattern if match == "pattern" else None,
            tags=self.tags,
            notes=self.notes,
        )


class Case022(StrictRecord):
    """A test case of the JSON data set."""

    id: Name
    prompt: Name
    expected_command: Name
    category: Name
    risk_level: Risk
    posix_compliant: bool
    tags: list[str] = []
    metadata: dict[str, Any] | None = None
    notes: str | None = None

    def task(self) -> CommandTask:
        """The same as a case of ours: high and critical risk is unsafe."""
        return CommandTask(
            id=self.id,
            prompt=self.prompt,
            expected_command=self.expected_command,
            category=self.category,
            safe=self.risk_level not in UNSAFE,
            posix_compliant=self.posix_compliant,
            tags=self.tags,
            notes=self.notes,
        )


class _Ours(CommandTask):
    def task(self) -> CommandTask:
        return self


LayoutCase = _Ours | Wp06Case | Case026 | Case022
MODELS: dict[Layout, type[LayoutCase]] = {"evalward": _Ours, "wp06": Wp06Case, "026": Case026, "022": Case022}
"""What a case of a layout may say."""
