"""Suites of an MCP server's tools, as the configuration has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evalward.config.fields import Name, SomeTexts, Text, TextList
from evalward.config.harness_words import split_words
from evalward.config.providers import UrlText
from evalward.config.reading import get
from evalward.config.suite import ComparedSuite, Disk, IsolatedSuite, Memory, Processes, WorkspaceLimits
from evalward.config.targets import TargetForms
from evalward.config.words import KeyPath, Value
from evalward.records.base import StrictRecord
from evalward.records.words import shown
from evalward.suites.target_forms import talked_with

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake

CURRENT = "current"
"""What no variant may be called."""
_PLACES = ("command", "url", "snapshot")
_ELSEWHERE = {
    "command": "its server is a program of this checkout, and the base's is not built here",
    "url": "its server is at an address, and is the same for both sides",
}
"""Why a server is not one that the base commit's files make."""
_BELONGS: Mapping[str, str] = {"env": "command", "cwd": "command", "headers": "url"}
"""Which of the places a key belongs to."""


def _words(value: Any) -> Any:
    """A command's text as its words; one whose quotes don't end is its only word, and no program is called so."""
    if not isinstance(value, str):
        return value
    try:
        return split_words(value)
    except ValueError:
        return [value]


CommandWords = Annotated[
    list[Text],
    Field(min_length=1),
    BeforeValidator(_words, json_schema_input_type=Text | Annotated[list[Text], Field(min_length=1)]),
]
"""A program and its arguments: one text that is split at its spaces, quotes kept together, or a list of words."""


class McpServerSettings(StrictRecord):
    """Where a server is: a program that is started, an address, or a file with the tools that it lists.

    Exactly one of `command`, `url` and `snapshot` is set.
    """

    command: CommandWords | None = Field(
        default=None, description="The program that is the server, and its arguments (stdio)"
    )
    env: dict[Text, str] = Field(default={}, description="Variables that the program gets")
    cwd: Text | None = Field(default=None, description="The folder of the repository in which it starts")
    url: UrlText | None = Field(default=None, description="The server's address (streamable HTTP)")
    headers: dict[Text, str] = Field(default={}, description="HTTP headers for the address")
    snapshot: Text | None = Field(default=None, description="File with what the server answers to tools/list")
    name: Name | None = Field(
        default=None, description="What models call the server when there are others; default: its own name"
    )


class McpLimits(WorkspaceLimits):
    """What one server may use of the machine."""

    memory_mb: Memory = 1024
    processes: Processes = 128
    disk_mb: Disk = 512


class McpSuite(IsolatedSuite, ComparedSuite):
    """Requests that should lead to calls of an MCP server's tools: the right ones, with the right arguments."""

    takes: ClassVar[TargetForms] = talked_with(
        "mcp",
        {
            "program:NAME": (
                "can't use tools, which suites of kind mcp are about",
                "Programs answer suites of kind command.",
            )
        },
    )
    file_keys: ClassVar[Sequence[str]] = (*ComparedSuite.file_keys, "server.snapshot", "distractors", "variants.*")

    kind: Literal["mcp"] = Field(description="The family of evaluation")
    server: McpServerSettings = Field(description="The server: command, url or snapshot")
    mode: Literal["select", "run"] = Field(
        default="select",
        description="select: one model turn, nothing is executed; run: the calls are executed by the server",
    )
    cases: SomeTexts = Field(description="YAML or JSONL files with the cases; patterns such as evals/mcp/*.yaml")
    distractors: TextList = Field(
        default=[], description="Snapshots of other servers, whose tools models see as well; patterns"
    )
    variants: dict[Name, Text] = Field(
        default={},
        description="Other descriptions of the tools, by a name: files with a description per tool, or snapshots. "
        "evalward guidance compares them",
    )
    instructions: bool = Field(
        default=True, description="Models read the server's instructions, as many hosts show them"
    )
    scope: Literal["trial", "shared"] = Field(
        default="trial", description="Mode run: a server of its own for each trial, or one for all"
    )
    max_turns: int = Field(default=10, ge=1, le=100, description="Mode run: turns after which a trial is ended")
    timeout_s: float = Field(
        default=60, gt=0, le=3600, allow_inf_nan=False, description="Seconds for one answer, or one call of a tool"
    )
    limits: McpLimits = Field(default=McpLimits(), description="What one server may use of the machine")

    @property
    def extra(self) -> str | None:
        """The SDK that speaks to a server; a snapshot is only read."""
        return "mcp" if self.server.snapshot is None else None

    @property
    def elsewhere(self) -> str | None:
        """A server that runs isn't the base commit's."""
        return next((why for place, why in _ELSEWHERE.items() if getattr(self.server, place) is not None), None)

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """One server in one place, and nothing to run where there is only a list of its tools."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        if isinstance(variants := get(suite, "variants"), dict) and CURRENT in variants:
            message = f"{CURRENT} is how the server's own descriptions are called"
            yield Mistake((*path, "variants", CURRENT), message, "Give the variant another name.")
        server = get(suite, "server")
        if not isinstance(server, dict):
            return
        given = [key for key in _PLACES if server.get(key) is not None]
        if not given and not server.keys() <= McpServerSettings.model_fields.keys():
            return  # what is misspelt is said as such
        if len(given) != 1:
            what = f"{' and '.join(given)} stand side by side" if given else "it is not said where the server is"
            yield Mistake((*path, "server"), what, f"Give it exactly one of {', '.join(_PLACES)}.")
            return
        for key, place in _BELONGS.items():
            if server.get(key) and place not in given:
                yield Mistake(
                    (*path, "server", key), f"{shown(key)} belongs to {place}, not to {given[0]}", "Remove it."
                )
        if given == ["snapshot"] and get(suite, "mode") == "run":
            message = "a snapshot can't be run: it has the server's tools, not the server"
            yield Mistake((*path, "mode"), message, "Name the server's command or url, or write mode: select.")
        url = server.get("url")
        if isinstance(url, str) and not re.match("https?://.", url):
            remedy = "Write http:// or https:// and where the server listens."
            yield Mistake((*path, "server", "url"), f"{shown(url)} is not the address of a server", remedy)
        yield from _of_base(suite, given[0], path)


def _of_base(suite: Value, place: str, path: KeyPath) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415

    if place in _ELSEWHERE and get(suite, "compare_with") == "base":
        message = f"this server can't be compared with the base commit's: {_ELSEWHERE[place]}"
        yield Mistake((*path, "compare_with"), message, "Remove the key, or measure snapshots of the server.")
