"""What the trials of a suite have in common, as they are handed it. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evalward.suites.base import Prepared
from evalward.suites.scenario.trial import Walls
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.skill_file import Skill
from evalward.suites.skill.spec import SkillSuite
from evalward.suites.tool import ToolPrompting


@dataclass(frozen=True)
class SkillContext:
    """The suite's skills, those of others that are installed with them, the walls, and what the built-in agent is told.

    `without`: tasks are also worked on with no skill installed.
    """

    skills: Sequence[Skill]
    distractors: Sequence[Skill]
    walls: Walls
    prompting: ToolPrompting
    without: bool = True

    def named(self, name: str) -> Skill:
        """The suite's skill of this name. Raises `KeyError`."""
        return {skill.name: skill for skill in self.skills}[name]

    @property
    def installed(self) -> Sequence[Skill]:
        """All that a query meets."""
        return [*self.skills, *self.distractors]


SkillPrepared: TypeAlias = Prepared[SkillSuite, SkillCase, SkillContext]
