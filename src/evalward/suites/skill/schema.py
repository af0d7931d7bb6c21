"""What editors know of YAML files of cases: a list of them. A line of JSONL is one, by the schema `skill-case`."""

from __future__ import annotations

from pydantic import TypeAdapter

from evalward.suites.skill.task import SkillTask

CASES: TypeAdapter[list[SkillTask]] = TypeAdapter(list[SkillTask])
