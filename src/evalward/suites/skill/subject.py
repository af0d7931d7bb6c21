"""What a pull request may change of a skill suite: skills, their descriptions, the skills beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalward.records.base import digest
from evalward.records.blocks import block_text
from evalward.records.comparison import DISTRACTORS, SKILL_DESCRIPTION_OF, SKILL_OF
from evalward.suites.skill.skill_file import Skill


@dataclass(frozen=True)
class SkillSubject:
    """The parts of a subject by name, and the texts that their hashes stand for."""

    parts: Mapping[str, str]
    texts: Mapping[str, str]


def subject_of_skills(skills: Sequence[Skill], distractors: Sequence[Skill]) -> SkillSubject:
    """Two parts for each skill, its folder and what agents are shown of it; the skills of others together are one."""
    told = list(_parts(skills, distractors))
    return SkillSubject({name: key for name, key, _ in told}, {key: text for _, key, text in told})


def _parts(skills: Sequence[Skill], distractors: Sequence[Skill]) -> Iterator[tuple[str, str, str]]:
    for skill in skills:
        yield f"{SKILL_OF}{skill.name}", skill.digest, block_text({"files": dict(skill.files), "body": skill.body})
        shown = description_text(skill)
        yield f"{SKILL_DESCRIPTION_OF}{skill.name}", digest(shown), shown
    if distractors:
        beside = {each.name: each.description for each in distractors}
        yield DISTRACTORS, digest([[each.name, each.digest] for each in distractors]), block_text(beside)


def description_text(skill: Skill) -> str:
    """What an agent is shown of a skill, as a line of its list."""
    return f"{skill.name}: {skill.description}\n"
