"""A scenario as its YAML file has it: shapes and bounds.

Its gates are in `gate_models`; what has to fit the fixture is in `checks`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Discriminator, Field, Tag, field_validator, model_validator

from evalward.records.base import Record
from evalward.suites.bounds import MOST_ENTRIES, CaseName, CaseText, Tags
from evalward.suites.re2_pattern import compiled
from evalward.suites.scenario.gate_models import Gate, ScriptSeconds, Text, contained, not_blank

POST_SECONDS = 30.0
EVALUATOR_SECONDS = 60.0
MOST_RUN_SECONDS = 14_400.0
FROM_CONFIG: Literal["from_config"] = "from_config"

Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ScenarioTool(Record):
    """The tool that the scenario is about."""

    binary: Text
    command_pattern: str | None = None
    health_check: str | None = None
    env: dict[str, str] = {}

    @field_validator("command_pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None and value.strip():
            compiled(value)
            return value
        return None

    @field_validator("binary")
    @classmethod
    def _named(cls, value: str) -> str:
        return not_blank(value)

    @field_validator("env")
    @classmethod
    def _names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name[:40]!r} can't be the name of an environment variable")
            if "\0" in text:
                raise ValueError(f"the value of {name} has a NUL in it")
        return value


def _written(value: Any) -> str:
    return "named" if isinstance(value, str) else "written"


WrittenTool = Annotated[
    Annotated[ScenarioTool, Tag("written")] | Annotated[Literal["from_config"], Tag("named")], Discriminator(_written)
]


class Task(Record):
    """What the agent is asked."""

    prompt: Text

    @field_validator("prompt")
    @classmethod
    def _asks(cls, value: str) -> str:
        return not_blank(value)


class JudgeLayer(Record):
    """Layer 3: the rubric's file, counted from the scenario's folder, and the score that passes.

    `model` is the scenario's own choice of a judge; a pull request can't make it.
    """

    enabled: bool
    rubric: Text | None = None
    model: Text | None = None
    pass_threshold: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _complete(self) -> JudgeLayer:
        if self.enabled and (self.rubric is None or self.pass_threshold is None):
            raise ValueError("a judge that is enabled needs `rubric` and `pass_threshold`")
        return self


class Composite(Record):
    """The weights of the composite score."""

    judge_weight: Weight = 0.55
    gate_weight: Weight = 0.35
    interaction_weight: Weight = 0.10


class Evaluation(Record):
    """Layers 2 and 3, and whether there is one number for all."""

    gates: list[Gate] = Field(default=[], max_length=MOST_ENTRIES)
    judge: JudgeLayer | None = None
    composite: Composite | None = None


class Setup(Record):
    """Commands that prepare the copy of the fixture."""

    commands: list[Text] = Field(default=[], max_length=MOST_ENTRIES)


class RunSettings(Record):
    """Limits of the agent's work; the suite's hold where these say nothing."""

    timeout_secs: float | None = Field(default=None, gt=0, le=MOST_RUN_SECONDS, allow_inf_nan=False)
    max_turns: int | None = Field(default=None, ge=1, le=1000)


class PostScript(Record):
    """A command that runs after the agent."""

    command: Text
    timeout_secs: ScriptSeconds = POST_SECONDS


class Evaluator(Record):
    """A command that gives numbers of its own."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    command: Text
    timeout_secs: ScriptSeconds = EVALUATOR_SECONDS


class Scripts(Record):
    """The scenario's own programs."""

    post: list[PostScript] = Field(default=[], max_length=MOST_ENTRIES)
    evaluators: list[Evaluator] = Field(default=[], max_length=MOST_ENTRIES)

    @field_validator("evaluators")
    @classmethod
    def _distinct(cls, value: list[Evaluator]) -> list[Evaluator]:
        names = [evaluator.name for evaluator in value]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two evaluators are called {twice!r}")
        return value


class ToolModels(Record):
    """One entry of the matrix: an agent and its models."""

    tool: Text
    models: list[Text] = []

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each agent with each model; without models, its default one."""
        return [(self.tool, model) for model in self.models or ["default"]]


class Cost(Record):
    """What a trial may cost."""

    max_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    cache: bool | None = None


class Variant(Record):
    """Another guidance for the same task. Files count from the scenario's folder.

    `files`: path in the fixture → file with its content, `null` for none. `system`: file with the system prompt of the
    built-in agent.
    """

    files: dict[str, Text | None] = Field(default={}, max_length=MOST_ENTRIES)
    system: Text | None = None

    @field_validator("files")
    @classmethod
    def _inside(cls, value: dict[str, str | None]) -> dict[str, str | None]:
        for path in value:
            contained(path)
        return value

    @model_validator(mode="after")
    def _differs(self) -> Variant:
        if not self.files and self.system is None:
            raise ValueError("a variant names `files` or `system`")
        return self


VariantName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]


class Scenario(Record):
    """The whole file. The keys from `category` on are ours.

    `under_test`: patterns of fixture files that are under evaluation, beside the binary and what agents read anyway.
    `solution`: shell commands that solve the task, for the target `oracle`. `variants` are other guidances, by name.
    `protect`: patterns of files that are put back before anything is judged, in place of those that are found by
    themselves. `visible`: patterns of files that agents see although they judge.
    """

    name: CaseName
    description: CaseText = ""
    template_folder: Text
    tool: WrittenTool = Field(validation_alias=AliasChoices("tool", "target"), serialization_alias="target")
    task: Task
    evaluation: Evaluation = Evaluation()
    tier: int = Field(default=0, ge=0, le=1000)
    tags: Tags = []
    tool_matrix: list[ToolModels] = Field(default=[], max_length=MOST_ENTRIES)
    setup: Setup = Setup()
    run: RunSettings = RunSettings()
    scripts: Scripts = Scripts()
    cost: Cost | None = None
    category: CaseName | None = None
    under_test: list[Text] = Field(default=[], max_length=MOST_ENTRIES)
    protect: list[Text] | None = Field(default=None, max_length=MOST_ENTRIES)
    visible: list[Text] = Field(default=[], max_length=MOST_ENTRIES)
    solution: list[Text] = Field(default=[], max_length=MOST_ENTRIES)
    variants: dict[VariantName, Variant] = Field(default={}, max_length=MOST_ENTRIES)

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        return not_blank(value).strip()

    @property
    def judged(self) -> bool:
        """A judge has a say in the outcome."""
        return self.evaluation.judge is not None and self.evaluation.judge.enabled

    @property
    def asserts_nothing(self) -> bool:
        """Neither gates nor a judge: every run would pass."""
        return not self.evaluation.gates and not self.judged
