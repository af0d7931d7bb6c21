"""Suites of scenarios: coding agents that work with a CLI tool in a copy of a fixture."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import AliasChoices, Field

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import SomeTexts, Text, TextList
from evalward.config.suite import (
    ComparedSuite,
    Disk,
    FilesNamed,
    IsolatedSuite,
    Memory,
    Network,
    Processes,
    WorkspaceLimits,
)
from evalward.config.targets import MODEL_FORMS, TargetForms
from evalward.records.base import StrictRecord
from evalward.records.deprecation import Deprecation
from evalward.suites.target_forms import NO_FILES


class SuiteTool(StrictRecord):
    """The tool that scenarios with `tool: from_config` are about."""

    binary: Text = Field(description="The tool's program, on the PATH or in the fixture")
    command_pattern: Text | None = Field(default=None, description="RE2 pattern of its commands; a group: subcommand")
    health_check: Text | None = Field(default=None, description="Command that succeeds where the tool is usable")
    env: dict[Text, str] = Field(default={}, description="Variables that agents, gates and scripts get")


class ScenarioLimits(WorkspaceLimits):
    """What one trial may use of the machine."""

    memory_mb: Memory = 2048
    processes: Processes = 256
    disk_mb: Disk = 1024


class ScenarioSuite(IsolatedSuite, ComparedSuite):
    """Tasks with a CLI tool that a coding agent solves in an isolated copy of a fixture."""

    takes: ClassVar[TargetForms] = TargetForms(
        forms=(*MODEL_FORMS, "replay:NAME", *AGENT_FORMS),
        agents=AGENT_FORMS,
        refused={
            "program:NAME": (
                "gives one answer, and scenarios are worked on",
                "Name the program under agents: and write agent:NAME.",
            ),
            **NO_FILES,
        },
    )

    deprecated: ClassVar[Mapping[str, Deprecation]] = MappingProxyType(
        {"target": Deprecation(instead="tool", since="2026-11-23", until="2027-06-01")}
    )

    kind: Literal["scenario"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="YAML files, one scenario each; patterns such as evals/scenarios/*.yaml")
    system: Text | None = Field(default=None, description="File with the system prompt of the built-in agent")
    tags: TextList = Field(default=[], description="Only scenarios with one of these tags")
    tier: int | None = Field(default=None, ge=0, le=1000, description="Only scenarios of this tier or a lower one")
    trials: int = Field(default=1, ge=1, le=100, description="Executions of each scenario by each target")
    timeout_s: float = Field(
        default=300, gt=0, le=14_400, allow_inf_nan=False, description="Seconds for one run of the agent"
    )
    max_turns: int | None = Field(default=None, ge=1, le=1000, description="Turns after which an agent is ended")
    tool: SuiteTool | None = Field(
        default=None,
        validation_alias=AliasChoices("tool", "target"),
        description="The tool of scenarios with tool: from_config",
    )
    network: Network = Field(
        default="open", description="What agents can reach: everything, only this machine, or nothing"
    )
    gates_network: Network = Field(
        default="none", description="What gates, evaluators and post scripts reach while they judge"
    )
    allow_unisolated: bool = Field(default=False, description="In a workflow, run agents even without full isolation")
    limits: ScenarioLimits = Field(default=ScenarioLimits(), description="What one trial may use of the machine")

    @classmethod
    def files_named_in(cls, path: str, content: bytes) -> FilesNamed:
        """A scenario's fixture, its rubric, and what its variants bring; nothing where it can't be read."""
        from evalward.suites.scenario.named_files import files_named  # noqa: PLC0415 - a parser, for who reads a file

        return files_named(path, content)
