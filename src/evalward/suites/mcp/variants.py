"""Variants: other descriptions of the server's tools, from files. They change the subject and never the definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from evalward.config import LoadedConfig
from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.opening import read_text_inside
from evalward.records.base import digest
from evalward.records.comparison import TOOL_OF
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.words import did_you_mean, shown
from evalward.suites.mcp.call_reader import CallReader
from evalward.suites.mcp.catalogue import LONGEST_TEXT, MOST_BYTES, Catalogue, parse_catalogue
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.spec import McpSuite
from evalward.suites.mcp.subject import tool_text

_REMEDY = "Write each tool's name and its description, or a list of tools as `evalward mcp snapshot` does."


def load_variants(spec: McpSuite, config: LoadedConfig, own: Catalogue) -> dict[str, Catalogue]:
    """The server's tools with the descriptions of each variant. Raises `InputError` with the problems of all files."""
    found: dict[str, Catalogue] = {}
    problems: list[Problem] = []
    for name, file in spec.variants.items():
        try:
            found[name] = _described(own, _read(config, file), file)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def with_descriptions(prepared: McpPrepared, catalogue: Catalogue) -> McpPrepared:
    """The suite with these descriptions of its tools: a subject of its own, whose trials are of no other."""
    settings = prepared.settings
    others = settings.tools.others
    tools = OfferedTools(catalogue, others, ToolNames(catalogue, others))
    texts = {f"{TOOL_OF}{tool.name}": tool_text(tool) for tool in catalogue.tools}
    parts = {part: digest(text) for part, text in texts.items()}
    return structs.replace(
        prepared,
        subject={**prepared.subject, **parts},
        texts={**prepared.texts, **{parts[part]: text for part, text in texts.items()}},
        settings=replace(settings, tools=tools, calls=CallReader(tools), variants={}),
    )


def _described(own: Catalogue, said: Mapping[str, str | None], file: str) -> Catalogue:
    unknown = [
        Problem(
            place=Place(file=file),
            message=f"the server {shown(own.server)} lists no tool {shown(name)}",
            remedy=did_you_mean(name, own.by_name) or "Remove it: a variant changes descriptions alone.",
        )
        for name in said
        if name not in own.by_name
    ]
    if unknown:
        raise InputError(unknown)
    tools = tuple(
        tool.model_copy(update={"description": said[tool.name]}) if tool.name in said else tool for tool in own.tools
    )
    if tools == own.tools:
        raise wrong(file, "every description is the server's own", "Change one, or remove the variant.")
    return own.model_copy(update={"tools": tools})


def _read(config: LoadedConfig, file: str) -> dict[str, str | None]:
    """The descriptions of a file by the tools' names; `None` for a tool that is to have none."""
    try:
        text = read_text_inside(config.root, file, MOST_BYTES, "utf-8-sig")
    except OSError as error:
        message = f"the variant can't be read: {error.strerror}"
        raise wrong(file, message, "Name a file, from the config's folder.") from error
    except UnicodeDecodeError as error:
        raise wrong(file, "the variant is not UTF-8 text", "Save it as UTF-8.") from error
    value = _value(text, file)
    if isinstance(value, list) or (isinstance(value, dict) and _is_snapshot(value)):
        return {tool.name: tool.description for tool in parse_catalogue(text, file).tools}
    if not isinstance(value, dict) or not value:
        raise wrong(file, "this is not a map of tools' names to descriptions", _REMEDY)
    return dict(_descriptions(value, file))


def _is_snapshot(value: Mapping[Any, Any]) -> bool:
    return isinstance(value.get("tools"), list) or isinstance(value.get("result"), dict)


def _value(text: str, file: str) -> Any:
    try:
        return read_json(text, once=True) if file.endswith(".json") else read_yaml(text).value
    except NoJsonError as error:
        raise wrong(file, f"the variant is not JSON: {error}", _REMEDY, line=error.line) from error
    except YamlError as error:
        raise wrong(file, f"the variant is not YAML: {error}", _REMEDY) from error


def _descriptions(value: Mapping[Any, Any], file: str) -> Iterator[tuple[str, str | None]]:
    for name, description in value.items():
        if not isinstance(name, str) or not (description is None or isinstance(description, str)):
            raise wrong(file, f"the description of {shown(str(name))} is not a text", _REMEDY)
        if description is not None and len(description) > LONGEST_TEXT:
            message = f"the description of {shown(name)} is longer than {LONGEST_TEXT:,} characters"
            raise wrong(file, message, "Write a shorter one.")
        yield name, description.strip() if description is not None else None
