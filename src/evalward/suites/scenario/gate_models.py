"""The gates of a scenario as its YAML file has them: shapes and bounds. What they mean is in `gates`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from evalward.graders.source import parse_reference
from evalward.records.base import Record
from evalward.suites.bounds import CaseText, refuse_long
from evalward.suites.re2_pattern import compiled
from evalward.suites.scenario.assertion import parse_assertion, parse_path

GATE_SECONDS = 30.0
MOST_SCRIPT_SECONDS = 3600.0

Text = Annotated[CaseText, Field(min_length=1)]
ScriptSeconds = Annotated[float, Field(gt=0, le=MOST_SCRIPT_SECONDS, allow_inf_nan=False)]


def not_blank(value: str) -> str:
    """A text with something in it. Raises `ValueError`."""
    if not value.strip():
        raise ValueError("it is empty")
    return value


def contained(value: str) -> str:
    """A path of the fixture. Raises `ValueError` for one that leaves it."""
    not_blank(value)
    refuse_long(value)
    if value.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", value):
        raise ValueError(f"the path {value[:80]!r} is absolute, and must be one of the fixture")
    if ".." in re.split(r"[/\\]", value):
        raise ValueError(f"the path {value[:80]!r} leaves the fixture")
    if "\0" in value:
        raise ValueError("the path has a NUL in it")
    return value


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """A text stays as it is, where `check` raises no `ValueError`."""

    def checked(value: str) -> str:
        check(value)
        return value

    return AfterValidator(checked)


CommandText = Annotated[Text, _checked(not_blank)]
PatternText = Annotated[Text, _checked(compiled)]
FixturePath = Annotated[Text, _checked(contained)]
JsonPath = Annotated[Text, _checked(parse_path)]
AssertionText = Annotated[Text, _checked(parse_assertion)]
GraderName = Annotated[Text, _checked(parse_reference)]


class CommandGate(Record):
    """A gate that runs a command."""

    command: CommandText
    timeout_secs: ScriptSeconds = GATE_SECONDS


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
    pattern: PatternText


class CommandJsonPath(CommandGate):
    """The command ends with exit code 0 and prints JSON, and the assertion holds of the value at the path."""

    type: Literal["command_json_path"]
    path: JsonPath
    assertion: AssertionText


class _FileGate(Record):
    path: FixturePath


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
    pattern: PatternText


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
    check: GraderName
    timeout_secs: ScriptSeconds = GATE_SECONDS


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
