"""The shell as a tool: how models are told of it, and how a use of it is read. Kinds with an agent loop share it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalward.opening import read_text_inside
from evalward.records.base import digest
from evalward.records.json_text import read_json
from evalward.records.problem import wrong
from evalward.records.texts import SYSTEM, TOOL_PROMPT, tool_text
from evalward.targets.base import ToolSpec

TOOL_NAME = "bash"

TOOL_DESCRIPTION = """\
Run bash commands. You get what they printed to standard output; then, after "STDERR:", what they printed to standard \
error, if anything; then "Exit code: N" if it is not 0. "(no output)" means that they succeeded and printed nothing."""

INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"commands": {"type": "string", "description": "The bash commands to run"}},
    "required": ["commands"],
}


@dataclass(frozen=True)
class ShellTool:
    """How a use of the tool is recognised: its names, and the arguments of which the first that is there is the script.

    `passed_over` are names of tools without effects, whose recorded uses need not be done again.
    """

    names: tuple[str, ...] = (TOOL_NAME,)
    arguments: tuple[str, ...] = ("commands", "script")
    passed_over: frozenset[str] = frozenset()


BASH_TOOL = ShellTool()


@dataclass(frozen=True)
class ToolPrompting:
    """System prompt and tool of a suite, as they are sent."""

    system: str
    tool: ToolSpec

    @property
    def subject(self) -> dict[str, str]:
        """Their hashes: what a pull request that edits them changes."""
        return {
            SYSTEM: digest(self.system),
            TOOL_PROMPT: digest([self.tool.description, dict(self.tool.input_schema)]),
        }

    @property
    def texts(self) -> dict[str, str]:
        """What these hashes stand for."""
        subject = self.subject
        tool = tool_text(self.tool.description, self.tool.input_schema)
        return {subject[SYSTEM]: self.system, subject[TOOL_PROMPT]: tool}


def load_prompting(root: Path, system: str | None, tool: str | None, default: str) -> ToolPrompting:
    """`default` and our tool, or what the files say: text for both; also JSON (`description`, `input_schema`)."""
    return ToolPrompting(load_system(root, system, default), _load_tool(root, tool) if tool else _default_tool())


def load_system(root: Path, system: str | None, default: str) -> str:
    """The system prompt of a file below `root`, or `default`. Raises `InputError`."""
    return _read(root, system) if system else default


def _default_tool() -> ToolSpec:
    return ToolSpec(TOOL_NAME, TOOL_DESCRIPTION, INPUT_SCHEMA)


def _read(root: Path, name: str) -> str:
    try:
        return read_text_inside(root, name).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise wrong(name, f"can't be read: {why}", "Name a text file, relative to the config's folder.") from error


def _load_tool(root: Path, name: str) -> ToolSpec:
    text = _read(root, name)
    if not name.endswith(".json"):
        return ToolSpec(TOOL_NAME, text, INPUT_SCHEMA)
    try:
        data = read_json(text)
        description, schema = data["description"], data.get("input_schema", INPUT_SCHEMA)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise wrong(name, "no JSON object with a `description`", "Give description and input_schema.") from error
    properties = schema.get("properties") if isinstance(schema, dict) else None
    accepted = {"commands", "script"} & set(properties if isinstance(properties, dict) else {})
    if not isinstance(description, str) or not accepted:
        raise wrong(
            name, "the tool takes neither `commands` nor `script`", "Give input_schema one of these properties."
        )
    return ToolSpec(TOOL_NAME, description, schema)
