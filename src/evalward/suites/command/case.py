"""The cases of a command suite: a request in plain language and the commands that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text
from evalward.safety import SafetyLevel
from evalward.suites.bounds import MOST_ENTRIES, CaseName, CaseText, Tags, refuse_long_paths
from evalward.suites.command.safety_rules import RuleText, wrong_rule
from evalward.suites.re2_pattern import compiled

Matching = Literal[
    "caro",
    "exact",
    "tokens",
    "pattern",
    "equivalent",
    "behaviour",
    "command_equivalence",
    "must_be_blocked",
    "must_execute",
]
"""How an answer is judged to be the command that was asked for. The last three come from one of caro's layouts."""
Rules = Literal["default", "caro"]
Layout = Literal["evalward", "wp06", "026", "022"]

WITHOUT_COMMAND = {"pattern", "must_be_blocked", "must_execute"}
BLOCKED: Literal["must_be_blocked"] = "must_be_blocked"
REFUSAL = "REFUSED"  # what the default prompt asks for, and what the oracle says
NOTHING_EXPECTED = {BLOCKED: "(a refusal)", "must_execute": "(any command that works)"}


class CommandTask(StrictRecord):
    """One case as a file of ours has it. The other layouts are turned into this.

    `safe` and `posix_compliant` are the labels of the right command; without one, that isn't judged. `allow` are rules
    of the validator by which the right command may be dangerous, because the request asks for just that.
    """

    id: CaseName
    prompt: CaseText = Field(min_length=1)
    expected_command: CaseText | None = Field(default=None, min_length=1)
    accepted: list[CaseText] = Field(default=[], max_length=MOST_ENTRIES)
    category: CaseName
    safe: bool | None = None
    posix_compliant: bool | None = None
    allow: list[RuleText] = Field(default=[], max_length=MOST_ENTRIES)
    match: Matching | None = None
    pattern: CaseText | None = Field(default=None, min_length=1)
    files: dict[str, str] = Field(default={}, max_length=MOST_ENTRIES)
    tags: Tags = []
    notes: CaseText | None = None

    @field_validator("id", "prompt", "expected_command")
    @classmethod
    def _not_blank(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("it is empty")
        return value

    @field_validator("accepted")
    @classmethod
    def _commands(cls, value: list[str]) -> list[str]:
        if not all(command.strip() for command in value):
            raise ValueError("one of the commands is empty")
        return value

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            compiled(value)
        return value

    @field_validator("allow")
    @classmethod
    def _rules(cls, value: list[str]) -> list[str]:
        for rule in value:
            wrong = wrong_rule(rule)
            if wrong is not None:
                raise ValueError(f"{wrong[0]}. {wrong[1]}")
        return value

    @field_validator("files")
    @classmethod
    def _paths(cls, value: dict[str, str]) -> dict[str, str]:
        refuse_long_paths(value)
        for path in value:
            if not path or path.endswith("/") or "\0" in path or any(p in {"", ".", ".."} for p in _parts(path)):
                raise ValueError(f"the path {path!r} isn't a plain path of a file, such as notes.txt or /data/a.csv")
        return value

    @model_validator(mode="after")
    def _answerable(self) -> CommandTask:
        if self.allow and (self.safe is False or self.match == BLOCKED):
            beside = "safe: false" if self.safe is False else f"match: {BLOCKED}"
            raise ValueError(f"`allow` can't be combined with {beside}, where nothing dangerous is right. Remove one")
        if self.pattern is not None and self.match not in {None, "pattern"}:
            raise ValueError(f"`pattern` has no effect with match: {self.match}")
        if self.match == "pattern" and self.pattern is None:
            raise ValueError("match: pattern needs the key `pattern`")
        if self.commands or self.pattern is not None or self.match in WITHOUT_COMMAND:
            return self
        raise ValueError("there is no `expected_command` and nothing in `accepted`")

    @property
    def commands(self) -> list[str]:
        """Every command that is right, the expected one first."""
        first = [self.expected_command] if self.expected_command else []
        return list(dict.fromkeys([*first, *self.accepted]))


def _parts(path: str) -> list[str]:
    return path.removeprefix("/").split("/")


def fenced(command: str) -> str:
    """The command as a block of code that nothing inside of it can end."""
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}sh\n{command.strip()}\n{fence}"


class CommandCase(Case):
    """A case with the settings of its suite and layout applied: what is asked and judged."""

    task: CommandTask
    match: Matching
    rules: Rules
    safety_level: SafetyLevel
    allow: list[str] = []
    """Rules that may find something in the right command: the case's own and the suite's."""

    @property
    def expected(self) -> str:
        """The right answer, as people are shown it."""
        if self.match == BLOCKED:
            return NOTHING_EXPECTED[BLOCKED]
        if self.task.commands:
            return self.task.commands[0]
        return NOTHING_EXPECTED.get(self.match, f"/{self.task.pattern}/")

    def reference(self) -> list[Message]:
        """The expected command; a refusal where one is expected."""
        if self.match == BLOCKED:
            return [Message(role="assistant", content=[Text(text=REFUSAL)])]
        commands = self.task.commands
        return [Message(role="assistant", content=[Text(text=fenced(commands[0]))])] if commands else []

    def solution_apart(self) -> list[str]:
        """Nothing: what is expected is what the case asks."""
        return []

    def written(self) -> dict[str, Any]:
        """The task, without what is at its default."""
        return self.task.model_dump(mode="json", exclude_defaults=True)

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """How it is matched and judged."""
        allow = {"allow": self.allow} if self.allow else {}
        return {"match": self.match, "rules": self.rules, "safety_level": self.safety_level, **allow}


def make_case(
    task: CommandTask,
    place: Place,
    match: Matching,
    rules: Rules,
    safety_level: SafetyLevel,
    *,
    allow: Sequence[str] = (),
) -> CommandCase:
    """The case of a task. `match` is for a task that doesn't choose; the definition is what is asked and how judged.

    `allow` is the suite's, for cases whose right command isn't labelled dangerous. It belongs to the definition: a
    case that allows more than it did is another case.
    """
    chosen = task.match or ("pattern" if task.pattern is not None else match)
    allowed = [] if task.safe is False or chosen == BLOCKED else sorted({*allow, *task.allow})
    asked: dict[str, Any] = {
        "prompt": task.prompt,
        "commands": task.commands,
        "match": chosen,
        "pattern": task.pattern,
        "safe": task.safe,
        "posix": task.posix_compliant,
        "files": task.files,
        "rules": rules,
        "safety_level": safety_level,
        **({"allow": allowed} if allowed else {}),  # cases without one keep the definition that baselines know
    }
    return CommandCase(
        id=task.id,
        category=task.category,
        definition=digest(asked),
        place=place,
        task=task,
        match=chosen,
        rules=rules,
        safety_level=safety_level,
        allow=allowed,
    )
