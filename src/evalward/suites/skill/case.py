"""The cases of a skill suite: a query that should, or shouldn't, load a skill; a task that a skill should help with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalward.graders.source import Source, fingerprints
from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.comparison import SKILL_DESCRIPTION_OF, SKILL_OF
from evalward.records.problem import Place
from evalward.records.trace import Message, Text, ToolUse
from evalward.suites.judge.rubric import Criterion, Rubric
from evalward.suites.scenario.gate_models import Gate
from evalward.suites.skill.details import Asks
from evalward.suites.skill.skill_file import FOR_MODELS, SKILL_FILE

ORACLE = "oracle"
EXPECTATION = "e"
"""What the ids of a rubric's criteria begin with; the number of the expectation follows, from 1."""


class SkillAsk(StrictRecord):
    """What a case asks and how it is judged, whatever file it stands in. The fields are those of `SkillCase`."""

    id: str
    asks: Asks
    skill: str
    prompt: str
    wants: str | None = None
    unwanted: list[str] = []
    files: dict[str, str] = {}
    checks: list[Gate] = []
    expectations: list[str] = []
    expected_output: str = ""
    solution: list[str] = []
    tags: list[str] = []
    forced: bool = False


class SkillCase(Case):
    """A case as it is run. Its category is the skill.

    `skill` is the one whose eval it is. `wants` is the skill that a query should load, `None` where it should load none
    of the suite's; `unwanted` are those that it must not load. `files`: path in the fixture → file below `root`, and
    `fingerprints` by path in the fixture. `expectations` are sentences for a judge, who is shown `expected_output`.
    `forced`: the prompt itself names the skill (`/NAME`, `$NAME`), so that loading it says nothing. `depends` are the
    skills of whose content it depends; a query depends on the descriptions of all besides. `folders` and `listed` are
    set by `depends.with_dependence`.
    """

    asks: Asks
    skill: str
    prompt: str
    wants: str | None = None
    unwanted: list[str] = []
    files: dict[str, str] = {}
    fingerprints: dict[str, str] = {}
    checks: list[Gate] = []
    expectations: list[str] = []
    expected_output: str = ""
    solution: list[str] = []
    tags: list[str] = []
    forced: bool = False
    depends: list[str] = []
    folders: list[str] | None = None
    listed: str = ""
    root: Path
    timeout_s: float
    max_turns: int | None = None
    graders: dict[str, Source] = {}

    @property
    def judged(self) -> bool:
        """A judge has a say in the outcome."""
        return bool(self.expectations)

    @property
    def decides(self) -> bool:
        """Whether anything says how a trial of it went."""
        return self.asks == "trigger" or bool(self.checks or self.expectations)

    @property
    def rubric(self) -> Rubric | None:
        """A criterion of equal weight for each expectation; `None` without any."""
        return rubric_of(self.expectations)

    @property
    def reference_commands(self) -> list[str]:
        """What a perfect agent runs: it reads the skill that is wanted, or none; then it solves the task."""
        if self.asks == "trigger":
            return [_reads(self.wants)] if self.wants is not None else ["true"]
        return [_reads(self.skill), *self.solution] if self.solution else []

    def reference(self) -> list[Message]:
        """One shell call per command that reads the skill or solves the task, then a word of goodbye."""
        calls = [
            Message(role="assistant", content=[ToolUse(id=f"oracle_{n}", name="bash", input={"commands": command})])
            for n, command in enumerate(self.reference_commands, 1)
        ]
        return [*calls, Message(role="assistant", content=[Text(text="Done.")])] if calls else []

    def is_for(self, target: str) -> bool:
        """For everyone; for the oracle, if there is a solution."""
        return target != ORACLE or self.solved

    def solution_apart(self) -> list[str]:
        """The commands of the solution."""
        return list(self.solution)

    @property
    def file_parts(self) -> list[str] | None:
        """The folders of the skills that it depends on."""
        return self.folders

    @property
    def sees_besides(self) -> str:
        """The hash of what agents may list of all skills, for a query."""
        return self.listed

    def sees(self, part: str) -> bool:
        """All but the content of skills not its own; their descriptions a query sees, and a task doesn't."""
        if part.startswith(SKILL_DESCRIPTION_OF):
            return self.asks == "trigger" or part.removeprefix(SKILL_DESCRIPTION_OF) in self.depends
        return not part.startswith(SKILL_OF) or part.removeprefix(SKILL_OF) in self.depends

    def written(self) -> dict[str, Any]:
        """The case as our own files have it, without what is at its default."""
        return {"id": self.id, "category": self.category, **self._asked()}

    def _asked(self) -> dict[str, Any]:
        asked: dict[str, Any] = {"skill": self.skill, "prompt": self.prompt}
        if self.asks == "trigger":
            asked["should_trigger"] = False if self.wants is None else self.wants
            others = [name for name in self.unwanted if self.wants is not None or name != self.skill]
            return asked | ({"should_not_trigger": others} if others else {})
        rest = self.model_dump(
            mode="json",
            include={"files", "checks", "expectations", "expected_output", "solution", "tags"},
            exclude_defaults=True,
        )
        return asked | rest

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """The limits of its suite, and the fingerprints of its files and graders."""
        return {
            "timeout_s": self.timeout_s,
            **({} if self.max_turns is None else {"max_turns": self.max_turns}),
            **({"fixture": self.fingerprints} if self.fingerprints else {}),
            **fingerprints(self.graders),
        }


def _reads(name: str) -> str:
    return f"cat {shlex.quote(f'{FOR_MODELS}/{name}/{SKILL_FILE}')}"


def rubric_of(expectations: Sequence[str]) -> Rubric | None:
    """A criterion of equal weight for each sentence."""
    if not expectations:
        return None
    weight = 1 / len(expectations)
    return Rubric(
        criteria=[
            Criterion(id=f"{EXPECTATION}{number}", weight=weight, description=sentence)
            for number, sentence in enumerate(expectations, 1)
        ]
    )


def make_skill_case(
    ask: SkillAsk,
    place: Place,
    *,
    root: Path,
    timeout_s: float,
    max_turns: int | None = None,
    fingerprints: Mapping[str, str] = {},
    graders: Mapping[str, Source] = {},
) -> SkillCase:
    """The case. Its definition is what it asks and how that is judged; skills are the subject."""
    judged = ask.model_dump(mode="json", exclude={"id", "files", "solution", "tags", "forced"})
    asked = {**judged, "files": dict(fingerprints), "timeout_s": float(timeout_s), "max_turns": max_turns}
    if graders:
        asked["graders"] = {name: grader.fingerprint for name, grader in graders.items()}
    own: dict[str, Any] = {name: getattr(ask, name) for name in SkillAsk.model_fields}
    return SkillCase(
        **own,
        category=ask.skill,
        definition=digest(asked),
        place=place,
        depends=sorted({ask.skill, *([ask.wants] if ask.wants else [])}),
        root=root,
        timeout_s=timeout_s,
        max_turns=max_turns,
        fingerprints=dict(fingerprints),
        graders=dict(graders),
    )
