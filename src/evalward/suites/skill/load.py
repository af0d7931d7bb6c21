"""Loading a skill suite: its skills, those beside them, and the cases of both; every problem of every file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import near_or_known, shown
from evalward.suites.files import case_files
from evalward.suites.lines import read_cases
from evalward.suites.skill.case import SkillAsk, SkillCase, make_skill_case
from evalward.suites.skill.skill_file import Skill, read_skill
from evalward.suites.skill.spec import SkillSuite
from evalward.suites.skill.task import SkillTask

_ALIKE = ("id", "prompt", "files", "checks", "expectations", "expected_output", "solution", "tags")


@dataclass(frozen=True)
class LoadedSkills:
    """The suite's skills and those of others, its cases, and what is odd about them and no mistake."""

    skills: Sequence[Skill]
    distractors: Sequence[Skill]
    cases: Sequence[SkillCase]
    warnings: Sequence[str]


def load_skills(spec: SkillSuite, config: LoadedConfig) -> LoadedSkills:
    """All that a suite names. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    skills = _skills(spec, config, "skills", problems)
    distractors = _skills(spec, config, "distractors", problems)
    if problems:
        raise InputError(problems)

    def made(task: SkillTask, place: Place) -> SkillCase:
        return _own_case(task, place, spec, config, skills)

    cases = read_cases(spec, config, SkillTask, made) if spec.cases else []
    return LoadedSkills(skills, distractors, cases, [])


def _skills(spec: SkillSuite, config: LoadedConfig, key: str, problems: list[Problem]) -> list[Skill]:
    found: list[Skill] = []
    for file in case_files(spec.name, getattr(spec, key), config, problems, key):
        try:
            found.append(read_skill(config.root, file))
        except InputError as error:
            problems += error.problems
    return found


def _own_case(
    task: SkillTask, place: Place, spec: SkillSuite, config: LoadedConfig, skills: Sequence[Skill]
) -> SkillCase:
    names = [skill.name for skill in skills]
    asked = task.should_trigger
    skill = task.skill or (asked if isinstance(asked, str) else names[0] if len(names) == 1 else None)
    if skill is None:
        raise wrong(place.file, "the case doesn't say which skill it is about", "Add skill: NAME.", line=place.line)
    if skill not in names:
        remedy = near_or_known(skill, names, "The suite has")
        raise wrong(place.file, f"the suite has no skill {shown(skill)}", remedy, line=place.line)
    wants = asked if isinstance(asked, str) else skill if asked else None
    unwanted = task.should_not_trigger if wants or asked is None else [skill, *task.should_not_trigger]
    ask = SkillAsk(
        asks="task" if asked is None else "trigger",
        skill=skill,
        wants=wants,
        unwanted=sorted(set(unwanted)),
        **{key: getattr(task, key) for key in _ALIKE},
    )
    return make_skill_case(ask, place, root=config.root, timeout_s=spec.timeout_s, max_turns=spec.max_turns)
