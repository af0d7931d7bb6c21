"""Suites of scenarios: coding agents that work with a CLI tool in a copy of a fixture."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.config.fields import COMPARED_WITH, ComparedWith, Name, SomeTexts, Text, TextList
from evalward.config.targets import SCENARIO_TARGETS, SomeScenarioTargets, ids_of
from evalward.records.base import StrictRecord


class ScenarioTarget(StrictRecord):
    """The tool that scenarios with `target: from_config` are about."""

    binary: Text = Field(description="The tool's program, on the PATH or in the fixture")
    command_pattern: Text | None = Field(default=None, description="RE2 pattern of its commands; a group: subcommand")
    health_check: Text | None = Field(default=None, description="Command that succeeds where the tool is usable")
    env: dict[Text, str] = Field(default={}, description="Variables that agents, gates and scripts get")


class ScenarioLimits(StrictRecord):
    """What one trial may use of the machine."""

    memory_mb: int = Field(default=2048, ge=64, le=1_000_000, description="Memory in MB")
    processes: int = Field(default=256, ge=8, le=100_000, description="Processes at once")
    disk_mb: int = Field(default=1024, ge=1, le=1_000_000, description="Disk in MB")


class ScenarioSuite(StrictRecord):
    """Tasks with a CLI tool that a coding agent solves in an isolated copy of a fixture."""

    name: Name = Field(description="Name of the suite, unique in the file")
    kind: Literal["scenario"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="YAML files, one scenario each; patterns such as evals/scenarios/*.yaml")
    listed: SomeScenarioTargets = Field(alias="targets", description="Who is evaluated: " + ", ".join(SCENARIO_TARGETS))
    replaces: Name | None = Field(
        default=None, description="A suite of another name whose place it takes, and whose baseline it is compared with"
    )
    system: Text | None = Field(default=None, description="File with the system prompt of the built-in agent")
    tags: TextList = Field(default=[], description="Only scenarios with one of these tags")
    tier: int | None = Field(default=None, ge=0, le=1000, description="Only scenarios of this tier or a lower one")
    trials: int = Field(default=1, ge=1, le=100, description="Executions of each scenario by each target")
    compare_with: ComparedWith = Field(default="baseline", description=COMPARED_WITH)
    timeout_s: float = Field(
        default=300, gt=0, le=14_400, allow_inf_nan=False, description="Seconds for one run of the agent"
    )
    max_turns: int | None = Field(default=None, ge=1, le=1000, description="Turns after which an agent is ended")
    target: ScenarioTarget | None = Field(default=None, description="The tool of scenarios with target: from_config")
    network: Literal["open", "loopback", "none"] = Field(
        default="open", description="What agents reach: everything, this machine only, nothing"
    )
    gates_network: Literal["open", "loopback", "none"] = Field(
        default="none", description="What gates, evaluators and post scripts reach while they judge"
    )
    allow_unisolated: bool = Field(
        default=False, description="In a workflow, run agents also where isolation is less than full"
    )
    limits: ScenarioLimits = Field(default=ScenarioLimits(), description="What one trial may use of the machine")

    @property
    def targets(self) -> list[str]:
        """The targets' ids."""
        return ids_of(self.listed)
