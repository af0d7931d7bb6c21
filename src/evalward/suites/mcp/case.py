"""The cases of an mcp suite: a request, and the tool calls that it should lead to."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.records.trace import Message, Text, ToolUse
from evalward.suites.bounds import MOST_ENTRIES, Arguments, CaseName, CaseText, Tags, refuse_long_paths
from evalward.suites.re2_pattern import compiled

Mode = Literal["select", "run"]
"""`select`: one model turn with all tools, nothing is executed; `run`: the loop against the server."""
ArgumentMatch = Literal["partial", "exact", "schema"]
"""How the arguments of a call are compared: expected keys are there and equal, no others too, or only valid."""
CallOrder = Literal["any", "in_order", "exact"]

GENERAL = "general"
"""The category of a case that names none."""
NO_CALL = "No tool is needed."
MOST_CALLS = 100
ToolName = Annotated[str, Field(min_length=1, max_length=256)]


class ExpectedCall(StrictRecord):
    """A call that the request should lead to. Without `args` any arguments are right."""

    tool: ToolName = Field(description="The tool, as the server calls it")
    args: Arguments | None = Field(default=None, description="Its arguments, or some of them")
    match: ArgumentMatch = Field(
        default="partial",
        description="partial: these arguments are there and equal, others may be, too; exact: these and no others; "
        "schema: any that fit the tool's input schema",
    )

    @model_validator(mode="after")
    def _compared(self) -> ExpectedCall:
        if self.match == "exact" and self.args is None:
            raise ValueError("match: exact needs the key `args`: write args: {} for a call without arguments")
        if self.match == "schema" and self.args is not None:
            raise ValueError("match: schema doesn't look at `args`. Remove one of the two")
        return self


class ForbiddenCall(StrictRecord):
    """A call that must not be tried: of a tool, or of a tool with these arguments among others."""

    tool: ToolName = Field(description="The tool, as the server calls it")
    args: Arguments | None = Field(default=None, description="Only calls with these arguments")


def _forbidden(value: Any) -> Any:
    return {"tool": value} if isinstance(value, str) else value


Forbidden = Annotated[ForbiddenCall, BeforeValidator(_forbidden, json_schema_input_type=ToolName | ForbiddenCall)]
"""A bare text is the name of the tool."""


class McpExpectation(StrictRecord):
    """Which calls are right, and which are wrong whatever else happens."""

    calls: list[ExpectedCall] = Field(default=[], max_length=MOST_CALLS, description="The calls that are expected")
    order: CallOrder = Field(
        default="any",
        description="any; in_order: others may stand between them; exact: these calls, one after the other",
    )
    forbid: list[Forbidden] = Field(
        default=[], max_length=MOST_CALLS, description="Calls that must not be tried: tools, or tools with arguments"
    )
    none: bool = Field(default=False, description="No tool should be called")
    allow: list[ToolName] = Field(
        default=[], max_length=MOST_CALLS, description="Tools whose calls don't count, neither for nor against"
    )
    max_extra: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="Calls in addition to the expected ones. Default: 0 in mode select, any number in mode run",
    )

    @model_validator(mode="after")
    def _fitting(self) -> McpExpectation:
        if self.none and self.calls:
            raise ValueError("`none: true` and `calls` exclude each other. Remove one of them")
        if self.none and self.max_extra is not None:
            raise ValueError(
                "`none: true` and `max_extra` exclude each other. Use `allow` for tools that may be called"
            )
        if not (self.none or self.calls or self.forbid):
            raise ValueError("nothing is expected: write `calls`, `forbid` or `none: true`")
        wanted = {call.tool for call in self.calls}
        twice = next((each.tool for each in self.forbid if each.args is None and each.tool in wanted), None)
        if twice is not None:
            raise ValueError(f"the tool {twice!r} is both expected and forbidden. Remove one of the two")
        ignored = next((name for name in self.allow if name in wanted), None)
        if ignored is not None:
            raise ValueError(f"the tool {ignored!r} is both in `calls` and in `allow`. Remove it from `allow`")
        return self


class AnswerCheck(StrictRecord):
    """What the final answer has to say: exactly one of the keys. Case counts; `matches` is an RE2 pattern."""

    contains: CaseText | None = Field(default=None, min_length=1, description="Text that stands in the answer")
    lacks: CaseText | None = Field(default=None, min_length=1, description="Text that doesn't stand in the answer")
    equals: CaseText | None = Field(default=None, description="The whole answer, without blanks around it")
    matches: CaseText | None = Field(default=None, min_length=1, description="RE2 pattern that is found in the answer")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            compiled(value)
        return value

    @model_validator(mode="after")
    def _one(self) -> AnswerCheck:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("a check has exactly one of the keys contains, lacks, equals and matches")
        return self


class McpTask(StrictRecord):
    """One case as a file has it."""

    id: CaseName = Field(description="Unique in the suite")
    category: CaseName = Field(default=GENERAL, description="What cases of one kind have in common")
    prompt: CaseText = Field(min_length=1, description="What the model is asked")
    expect: McpExpectation = Field(description="The calls that the request should lead to")
    answer: list[AnswerCheck] = Field(default=[], max_length=MOST_CALLS, description="Checks on the final answer")
    solution: CaseText | None = Field(
        default=None, min_length=1, description="An answer that passes, given by the target oracle"
    )
    files: dict[str, str] = Field(
        default={}, max_length=MOST_ENTRIES, description="Mode run: files in the server's folder at the start, by path"
    )
    state: CaseText | None = Field(
        default=None,
        min_length=1,
        description="Mode run: shell script in the server's folder; it succeeds if all is well",
    )
    tags: Tags = Field(default=[], description="Words to find the case by")
    notes: CaseText | None = Field(default=None, description="For people")

    @field_validator("prompt")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value

    @field_validator("files")
    @classmethod
    def _plain(cls, value: dict[str, str]) -> dict[str, str]:
        refuse_long_paths(value)
        for path in value:
            inside = posixpath.normpath(path) == path and not path.startswith(("/", "../"))
            if not inside or "\0" in path or path in {".", ".."}:
                raise ValueError(f"the path {path!r} isn't a plain path below the server's folder, such as notes/a.txt")
            folder = next((str(parent) for parent in PurePosixPath(path).parents if str(parent) in value), None)
            if folder is not None:
                raise ValueError(f"{folder!r} can't be both a file and the folder of {path!r}")
        return value


class McpCase(Case):
    """A case with the mode of its suite: what is asked and judged.

    `calls` are the arguments of a solution, one for each expected call: those that are expected, and examples of what
    the tool requires beyond them.
    """

    task: McpTask
    mode: Mode
    calls: list[dict[str, Any]] = []

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return self.task.prompt

    @property
    def expect(self) -> McpExpectation:
        """Which calls are right."""
        return self.task.expect

    @property
    def max_extra(self) -> int | None:
        """How many calls may stand beside the expected ones; `None` for any number."""
        if self.expect.max_extra is not None or self.mode == "run":
            return self.expect.max_extra
        return 0

    def reference(self) -> list[Message]:
        """The expected calls, under the server's names: in one turn, or one a turn and then the answer."""
        given = self.calls or [call.args or {} for call in self.expect.calls]
        uses = [
            ToolUse(id=f"oracle_{number}", name=call.tool, input=arguments)
            for number, (call, arguments) in enumerate(zip(self.expect.calls, given, strict=True), 1)
        ]
        words = Text(text=self.task.solution or ("Done." if uses else NO_CALL))
        if self.mode == "select":
            said = [words] if self.task.solution or not uses else []
            return [Message(role="assistant", content=[*said, *uses])]
        return [*(Message(role="assistant", content=[use]) for use in uses), Message(role="assistant", content=[words])]

    def written(self) -> dict[str, Any]:
        """The case as its file has it, without what is at its default."""
        return {"id": self.id, "category": self.category, **self.task.model_dump(mode="json", exclude_defaults=True)}

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """The mode of its suite."""
        return {"mode": self.mode}


def make_case(task: McpTask, place: Place, mode: Mode) -> McpCase:
    """The case of a task. Its definition is what it asks and how it is judged; tools and texts are the subject."""
    asked = task.model_dump(mode="json", exclude_defaults=True, exclude={"id", "category", "solution", "tags", "notes"})
    definition = digest({**asked, "mode": mode})
    return McpCase(id=task.id, category=task.category, definition=definition, place=place, task=task, mode=mode)
