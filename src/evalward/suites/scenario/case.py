"""The cases of a scenario suite: one YAML file, its fixture, and the settings of its suite applied.

The definition is the prompt, the tool's name, pattern and variables, the fixture without guidance and tool, setup,
gates, judge with its rubric, composite, scripts, and the limits. The subject is the guidance in the fixture and the
tool, where it lies there: what a pull request changes to make agents work better is compared, not refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalward.graders.source import Source, fingerprints
from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text, ToolUse
from evalward.suites.judge.rubric import Rubric
from evalward.suites.scenario.fixture import Fixture, told
from evalward.suites.scenario.matrix import is_meant
from evalward.suites.scenario.model import FROM_CONFIG, Scenario, ScenarioTool
from evalward.suites.scenario.patterns import CommandPattern, LinePattern, command_pattern, transcript_pattern

GENERAL = "general"
"""The category of a scenario that has neither a category nor a tag."""


class ScenarioCase(Case):
    """A scenario as it is run. `folder` is that of its file, a path from the configuration's folder `root`.

    `guidance` and `tool_files` are fingerprints of files under evaluation, by path, `fixture_rest` those of the others.

    `rubric` is the one that judges. `variant` names the guidance where it isn't the fixture's own, and `system` is the
    system prompt of the built-in agent where that isn't the suite's.
    """

    scenario: Scenario
    tool: ScenarioTool
    root: Path
    folder: str
    fixture: Path
    timeout_s: float
    max_turns: int | None = None
    guidance: dict[str, str] = {}
    tool_files: dict[str, str] = {}
    fixture_rest: dict[str, str] = {}
    rubric: Rubric | None = None
    variant: str | None = None
    system: str | None = None
    graders: dict[str, Source] = {}

    @property
    def prompt(self) -> str:
        """What the agent is asked."""
        return self.scenario.task.prompt

    @property
    def pattern(self) -> CommandPattern:
        """How the tool's commands are found in tool calls."""
        return command_pattern(self.tool.binary, self.tool.command_pattern)

    @property
    def transcript_pattern(self) -> LinePattern:
        """How they are found in a transcript."""
        return transcript_pattern(self.tool.binary, self.tool.command_pattern)

    def is_for(self, target: str) -> bool:
        """Whether its `tool_matrix`, if there is one, names the target."""
        return is_meant(self.scenario.tool_matrix, target)

    def reference(self) -> list[Message]:
        """One shell call per command of the solution, then a word of goodbye."""
        commands = self.scenario.solution
        calls = [
            Message(role="assistant", content=[ToolUse(id=f"oracle_{n}", name="bash", input={"commands": command})])
            for n, command in enumerate(commands, 1)
        ]
        return [*calls, Message(role="assistant", content=[Text(text="Done.")])] if calls else []

    def solution_apart(self) -> list[str]:
        """The commands of the solution."""
        return list(self.scenario.solution)

    def written(self) -> dict[str, Any]:
        """The scenario, without what is at its default, and the keys that every case has."""
        data = self.scenario.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        return {"id": self.id, "category": self.category, "prompt": self.prompt, **data}

    def unnamed(self) -> dict[str, Any]:
        """The scenario without its name and what is at its default."""
        return self.scenario.model_dump(mode="json", exclude_defaults=True, by_alias=True, exclude={"name", "category"})

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """Its tool and limits, the rubric that judges, and the fingerprints of fixture and graders."""
        tool = self.tool.model_dump(mode="json", exclude_defaults=True, exclude={"health_check"})
        return {
            **({"tool": tool} if self.scenario.tool == FROM_CONFIG else {}),
            "timeout_s": self.timeout_s,
            **({} if self.max_turns is None else {"max_turns": self.max_turns}),
            **({} if self.rubric is None else {"rubric": self.rubric.model_dump(mode="json", exclude_defaults=True)}),
            "fixture": {path: told(each) for path, each in sorted(self.fixture_rest.items())},
            **fingerprints(self.graders),
        }


def make_case(
    scenario: Scenario,
    place: Place,
    *,
    tool: ScenarioTool,
    root: Path,
    folder: str,
    fixture: Fixture,
    rubric: Rubric | None,
    timeout_s: float,
    max_turns: int | None,
    graders: Sequence[Source] = (),
) -> ScenarioCase:
    """The case of a scenario. `rubric` is the one that judges; the scenario's own limits go before the suite's."""
    seconds = float(scenario.run.timeout_secs or timeout_s)
    turns = scenario.run.max_turns or max_turns
    written = scenario.model_dump(
        mode="json", include={"setup", "evaluation", "scripts"}, exclude={"evaluation": {"judge": {"model"}}}
    )  # who judges is part of the subject
    asked: dict[str, Any] = {
        "prompt": scenario.task.prompt,
        "target": tool.model_dump(mode="json", exclude={"health_check"}),
        "fixture": fixture.rest,
        **written,
        "rubric": None if rubric is None else rubric.digest,
        "timeout_s": seconds,
        "max_turns": turns,
    }
    asked |= scenario.model_dump(mode="json", include={"protect", "visible"}, exclude_defaults=True)
    if graders:
        asked["graders"] = {grader.reference: grader.fingerprint for grader in graders}
    return ScenarioCase(
        id=scenario.name,
        category=scenario.category or next(iter(scenario.tags), GENERAL),
        definition=digest(asked),
        place=place,
        scenario=scenario,
        tool=tool,
        root=root,
        folder=folder,
        fixture=fixture.folder,
        timeout_s=seconds,
        max_turns=turns,
        guidance=fixture.guidance,
        tool_files=fixture.tool,
        fixture_rest=fixture.rest,
        rubric=rubric,
        graders={grader.reference: grader for grader in graders},
    )


def subject_of(cases: Sequence[ScenarioCase]) -> dict[str, str]:
    """What is under evaluation in the fixtures of a suite, by name: `guidance`, and `tool` where one lies in them."""
    guidance = {case.id: case.guidance for case in cases if case.guidance}
    tools = {case.id: case.tool_files for case in cases if case.tool_files}
    parts = {"guidance": guidance, "tool": tools}
    return {name: digest(files) for name, files in parts.items() if files}
