"""The gates of a scenario as its YAML file has them: shapes and bounds. What they mean is in `gates`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from evalward.graders.source import parse_reference
from evalward.records.base import Record
from evalward.suites.scenario.assertion import parse_assertion, parse_path
from evalward.suites.scenario.patterns import compiled

GATE_SECONDS = 30.0
MOST_SCRIPT_SECONDS = 3600.0

Text = Annotated[str, Field(min_length=1)]
ScriptSeconds = Annotated[float, Field(gt=0, le=MOST_SCRIPT_SECONDS, allow_inf_nan=False)]


def not_blank(value: str) -> str:
    """A text with something in it. Raises `ValueError`."""
    if not value.strip():
        raise ValueError("it is empty")
    return value


def contained(value: str) -> str:
    """A path of the fixture. Raises `ValueError` for one that leaves it."""
    not_blank(value)
    if value.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", value):
        raise ValueError(f"the path {value[:80]!r} is absolute, and must be one of the fixture")
    if ".." in re.split(r"[/\\]", value):
        raise ValueError(f"the path {value[:80]!r} leaves the fixture")
    if "\0" in value:
        raise ValueError("the path has a NUL in it")
    return value


class CommandGate(Record):
    """A gate that runs a command."""

    command: Text
    timeout_secs: ScriptSeconds = GATE_SECONDS

    @field_validator("command")
    @classmethod
    def _runs(cls, value: str) -> str:
        return not_blank(value)


class CommandSucceeds(CommandGate):
    """The command ends with exit code 0."""

    type: Literal["command_succeeds"]


class CommandOutputContains(CommandGate):
    """The command ends with exit code 0, and its stdout contains the text."""

    type: Literal["command_output_contains"]
    substring: Text


class CommandOutputMatches(CommandGate):
    """The command ends with exit code 0, and its stdout matches the pattern."""

    type: Literal["command_output_matches"]
    pattern: Text

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        compiled(value)
        return value


class CommandJsonPath(CommandGate):
    """The command ends with exit code 0 and prints JSON, and the assertion holds of the value at the path."""

    type: Literal["command_json_path"]
    path: Text
    assertion: Text

    @field_validator("path")
    @classmethod
    def _leads(cls, value: str) -> str:
        parse_path(value)
        return value

    @field_validator("assertion")
    @classmethod
    def _asserts(cls, value: str) -> str:
        parse_assertion(value)
        return value


class _FileGate(Record):
    path: Text

    @field_validator("path")
    @classmethod
    def _inside(cls, value: str) -> str:
        return contained(value)


class FileExists(_FileGate):
    """There is a file or a folder at the path."""

    type: Literal["file_exists"]


class FileContains(_FileGate):
    """The file's text contains the text."""

    type: Literal["file_contains"]
    substring: Text


class FileMatches(_FileGate):
    """The file's text matches the pattern."""

    type: Literal["file_matches"]
    pattern: Text

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        compiled(value)
        return value


class NoTranscriptErrors(Record):
    """No command of the tool failed."""

    type: Literal["no_transcript_errors"]


class ScriptGate(CommandGate):
    """The script ends with exit code 0, or says by JSON whether the gate passes."""

    type: Literal["script"]
    description: Text


class GraderGate(Record):
    """A check of the repository's own passes: `package.module:function`, or the path of a script."""

    type: Literal["grader"]
    check: Text
    timeout_secs: ScriptSeconds = GATE_SECONDS

    @field_validator("check")
    @classmethod
    def _names(cls, value: str) -> str:
        parse_reference(value)
        return value


Gate = Annotated[
    CommandSucceeds
    | CommandOutputContains
    | CommandOutputMatches
    | CommandJsonPath
    | FileExists
    | FileContains
    | FileMatches
    | NoTranscriptErrors
    | ScriptGate
    | GraderGate,
    Field(discriminator="type"),
]
GATES: dict[str, type[Record]] = {
    "command_succeeds": CommandSucceeds,
    "command_output_contains": CommandOutputContains,
    "command_output_matches": CommandOutputMatches,
    "command_json_path": CommandJsonPath,
    "file_exists": FileExists,
    "file_contains": FileContains,
    "file_matches": FileMatches,
    "no_transcript_errors": NoTranscriptErrors,
    "script": ScriptGate,
    "grader": GraderGate,
}
