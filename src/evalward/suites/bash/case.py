"""The cases of a bash suite: a YAML list of tasks, or JSONL, one task a line."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field, field_validator

from evalward.graders.source import Source, fingerprints
from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text, ToolUse
from evalward.suites.bash.checks import parse_check
from evalward.suites.bounds import LONGEST_TEXT, MOST_ENTRIES, CaseName, CaseText, Tags, refuse_long_paths


class Expectation(StrictRecord):
    """One check and its weight in the task's score."""

    check: CaseText
    weight: float = Field(default=1.0, ge=0, le=1e9, allow_inf_nan=False)

    @field_validator("check")
    @classmethod
    def _known(cls, value: str) -> str:
        parse_check(value)
        return value


class BashTask(StrictRecord):
    """One task of a case file. The first seven keys are the public format; the rest is ours."""

    id: CaseName
    category: CaseName
    description: CaseText = ""
    system: CaseText | None = None
    prompt: CaseText = Field(min_length=1)
    files: dict[str, str] = Field(default={}, max_length=MOST_ENTRIES)
    expectations: list[Expectation] = Field(min_length=1, max_length=MOST_ENTRIES)
    solution: str | list[str] | None = None
    tags: Tags = []
    max_turns: int | None = Field(default=None, ge=1, le=100)
    timeout_s: float | None = Field(default=None, gt=0, le=600)

    @field_validator("solution")
    @classmethod
    def _bounded(cls, value: str | list[str] | None) -> str | list[str] | None:
        scripts = value if isinstance(value, list) else [value or ""]
        if len(scripts) > MOST_ENTRIES:
            raise ValueError(f"it has more than {MOST_ENTRIES:,} scripts. Make fewer of them")
        if any(len(script) > LONGEST_TEXT for script in scripts):
            raise ValueError(f"a script is longer than {LONGEST_TEXT:,} characters. Make it shorter")
        return value

    @field_validator("files")
    @classmethod
    def _absolute(cls, value: dict[str, str]) -> dict[str, str]:
        refuse_long_paths(value)
        for path in value:
            whole = path if path.startswith("/") else f"/{path}"  # relative ones count from the shell's folder
            if "\0" in path or whole in {"/", "//"} or posixpath.normpath("/" + whole.lstrip("/")) != whole:
                raise ValueError(
                    f"the path {path!r} isn't a plain path of a file, such as /data/input.txt or input.txt"
                )
            inside = next((str(parent) for parent in PurePosixPath(path).parents if str(parent) in value), None)
            if inside is not None:
                raise ValueError(f"{inside!r} can't be both a file and the folder of {path!r}")
        return value


class BashCase(Case):
    """A task with the limits of its suite applied, and the graders that its checks name: what is run."""

    task: BashTask
    max_turns: int
    timeout_s: float
    graders: dict[str, Source] = {}

    def reference(self) -> list[Message]:
        """One tool call per script of the solution, then a word of goodbye."""
        scripts = self.solution_apart()
        if not scripts:
            return []
        calls = [_call(number, script) for number, script in enumerate(scripts, 1)]
        return [*calls, Message(role="assistant", content=[Text(text="Done.")])]

    def solution_apart(self) -> list[str]:
        """The scripts of the solution."""
        solution = self.task.solution
        return [solution] if isinstance(solution, str) else list(solution or [])

    def written(self) -> dict[str, Any]:
        """The task, without what is at its default."""
        return self.task.model_dump(mode="json", exclude_defaults=True)

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """Its limits, and the fingerprints of its graders."""
        return {"max_turns": self.max_turns, "timeout_s": self.timeout_s, **fingerprints(self.graders)}


def _call(number: int, script: str) -> Message:
    use = ToolUse(id=f"oracle_{number}", name="bash", input={"commands": script})
    return Message(role="assistant", content=[use])


def make_case(
    task: BashTask, place: Place, max_turns: int, timeout_s: float, graders: Sequence[Source] = ()
) -> BashCase:
    """The case of a task: its own limits before the suite's; the definition is what it asks and how it is judged."""
    turns, seconds = task.max_turns or max_turns, task.timeout_s or timeout_s
    asked: dict[str, Any] = {
        "prompt": task.prompt,
        "system": task.system,
        "files": task.files,
        "expectations": [[item.check, item.weight] for item in task.expectations],
        "max_turns": turns,
        "timeout_s": float(seconds),
    }
    if graders:
        asked["graders"] = {grader.reference: grader.fingerprint for grader in graders}
    return BashCase(
        id=task.id,
        category=task.category,
        definition=digest(asked),
        place=place,
        task=task,
        max_turns=turns,
        timeout_s=seconds,
        graders={grader.reference: grader for grader in graders},
    )
