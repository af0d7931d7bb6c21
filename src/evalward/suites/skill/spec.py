"""Suites of skills, as the configuration has them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import SomeTexts, Text, TextList
from evalward.config.reading import get
from evalward.config.suite import ComparedSuite, FilesNamed, IsolatedSuite, Network
from evalward.config.targets import MODEL_FORMS, TargetForms
from evalward.config.words import Value
from evalward.suites.scenario.spec import ScenarioLimits
from evalward.suites.skill.depends import skill_folders
from evalward.suites.skill.details import UPLIFTS
from evalward.suites.target_forms import NO_FILES


class SkillSuite(IsolatedSuite, ComparedSuite):
    """A repository's skills: whether agents load them when they should, and what tasks gain by them."""

    takes: ClassVar[TargetForms] = TargetForms(
        forms=(*MODEL_FORMS, "replay:NAME", *AGENT_FORMS),
        agents=AGENT_FORMS,
        refused={
            "program:NAME": (
                "gives one answer, and skills are for agents that work",
                "Name the program under agents: and write agent:NAME.",
            ),
            **NO_FILES,
        },
    )
    file_keys: ClassVar[Sequence[str]] = (*ComparedSuite.file_keys, "skills", "distractors")
    separate_keys: ClassVar[Sequence[str]] = ("skills",)
    naming_keys: ClassVar[Sequence[str]] = ("cases", "skills", "distractors")

    kind: Literal["skill"] = Field(description="The family of evaluation")
    skills: SomeTexts = Field(description="SKILL.md files of the skills; patterns such as skills/*/SKILL.md")
    cases: TextList = Field(
        default=[],
        description="Cases in addition to those in the skills' own evals/: YAML or JSONL files, or JSON files such as "
        "evals.json",
    )
    distractors: TextList = Field(
        default=[], description="SKILL.md files of other skills that are installed as well, for queries; patterns"
    )
    without: bool = Field(default=True, description="Run each task without the skill, too, and compare")
    system: Text | None = Field(default=None, description="File with the system prompt of the built-in agent")
    timeout_s: float = Field(
        default=300, gt=0, le=14_400, allow_inf_nan=False, description="Seconds for one run of the agent"
    )
    max_turns: int | None = Field(default=None, ge=1, le=1000, description="Turns after which an agent is ended")
    network: Network = Field(
        default="open", description="What agents can reach: everything, only this machine, or nothing"
    )
    allow_unisolated: bool = Field(default=False, description="In a workflow, run agents even without full isolation")
    limits: ScenarioLimits = Field(default=ScenarioLimits(), description="What one trial may use of the machine")

    def parts_touched(self, path: str) -> Collection[str] | None:
        """The folders of skills that the file may lie in."""
        return skill_folders(path, self.skills)

    @classmethod
    def contrasted(cls, suite: Value) -> Sequence[str]:
        """The uplifts, where the arm without skills is run."""
        return () if get(suite, "without") is False else UPLIFTS

    @classmethod
    def files_named_in(cls, path: str, content: bytes) -> FilesNamed:
        """Of a SKILL.md its folder, with the skill's own evals; of other evals the files that they bring."""
        from evalward.suites.skill.named_files import files_named  # noqa: PLC0415 - a parser, for who reads a file

        return files_named(path, content)
