"""What a suite's trials have in common: its skills and cases, walls and prompt. Only who runs cases loads this."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.sandbox.process import available
from evalward.suites.base import Prepared
from evalward.suites.isolation import sandbox_limits, shortcomings
from evalward.suites.judge.who import JudgeNeeds
from evalward.suites.scenario.builtin import SYSTEM
from evalward.suites.scenario.kind import is_talked_with
from evalward.suites.scenario.trial import Walls
from evalward.suites.skill.context import SkillContext, SkillPrepared
from evalward.suites.skill.depends import with_dependence
from evalward.suites.skill.load import load_skills
from evalward.suites.skill.spec import SkillSuite
from evalward.suites.skill.subject import subject_of_skills
from evalward.suites.tool import load_prompting


def prepare(spec: SkillSuite, config: LoadedConfig) -> SkillPrepared:
    """Skills, cases and walls of a suite. Raises `InputError` with every problem of every file."""
    prompting = load_prompting(config.root, spec.system, None, SYSTEM)
    loaded = load_skills(spec, config)
    limits = sandbox_limits(spec.limits)
    walls = Walls(limits, spec.network, spec.allow_unisolated)
    found = available()
    told = prompting if any(map(is_talked_with, spec.targets)) else None
    subject = subject_of_skills(loaded.skills, loaded.distractors)
    parts = {**(told.subject if told else {}), **subject.parts, "isolation": found.level}
    warnings = [*loaded.warnings, *shortcomings(spec, found, "agents")]
    judging = JudgeNeeds(default=True) if any(case.judged for case in loaded.cases) else None
    settings = SkillContext(loaded.skills, loaded.distractors, walls, prompting, spec.without)
    texts = {**prompting.texts, **subject.texts}
    cases = [with_dependence(case, spec.skills, loaded.skills) for case in loaded.cases]
    return Prepared(spec, cases, parts, settings, warnings, judging, texts=texts)
