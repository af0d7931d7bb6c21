"""What a pull request may change of an mcp suite: tools, instructions, system prompt. Hashes, and the texts behind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evalward.records.base import digest
from evalward.records.blocks import block_text
from evalward.records.comparison import INSTRUCTIONS, OTHER_TOOLS, TOOL_OF, TOOLS
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.texts import SYSTEM, is_altered
from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool

_SECTIONS = (
    ("Input schema", "inputSchema"),
    ("Output schema", "outputSchema"),
    ("Annotations", "annotations"),
    ("Title", "title"),
)
_HEADS = dict(_SECTIONS)
_FIRST = f"\n\n{_SECTIONS[0][0]}:\n"
"""What every tool has. The last one in a text is no part of the description: JSON has no empty line in it."""
_NO_DESCRIPTION = "(no description)"


@dataclass(frozen=True)
class McpSubject:
    """The parts of a subject by name, and the texts that their hashes stand for."""

    parts: Mapping[str, str]
    texts: Mapping[str, str]


def subject_of(own: Catalogue, others: Sequence[Catalogue], system: str, instructions: str | None) -> McpSubject:
    """A part for each tool of the server, so that a change names it; the others together are one."""
    told = [(SYSTEM, digest(system), system), *_parts(own, others, instructions)]
    return McpSubject({name: key for name, key, _ in told}, {key: text for _, key, text in told})


def _parts(own: Catalogue, others: Sequence[Catalogue], instructions: str | None) -> Iterator[tuple[str, str, str]]:
    listed = "".join(f"{tool.name}\n" for tool in own.tools)
    yield TOOLS, digest([tool.name for tool in own.tools]), listed
    for tool in own.tools:
        text = tool_text(tool)
        yield f"{TOOL_OF}{tool.name}", digest(text), text
    if instructions:
        yield INSTRUCTIONS, digest(instructions), instructions
    if others:
        text = block_text({each.server: [tool.wire for tool in each.tools] for each in others})
        yield OTHER_TOOLS, digest([[each.server, each.digest] for each in others]), text


def tool_text(tool: CatalogueTool) -> str:
    """A tool as people read it: its description, then all else that the server says of it."""
    wire = tool.wire
    sections = [
        f"\n\n{title}:\n{json.dumps(wire[key], indent=2, ensure_ascii=False)}"
        for title, key in _SECTIONS
        if key in wire
    ]
    return "".join([tool.description or _NO_DESCRIPTION, *sections, "\n"])


def read_tool_text(name: str, text: str) -> CatalogueTool | None:
    """The tool that `tool_text` wrote; `None` for any other text, such as one whose end was cut."""
    description, first, rest = text.rpartition(_FIRST)
    if not first or is_altered(text):
        return None
    wire: dict[str, Any] = {"name": name}
    if description != _NO_DESCRIPTION:
        wire["description"] = description
    for section in f"{first}{rest}".removesuffix("\n").split("\n\n")[1:]:
        title, _, body = section.partition(":\n")
        try:
            wire[_HEADS[title]] = read_json(body)
        except (KeyError, NoJsonError):
            return None
    try:
        return CatalogueTool.model_validate(wire)
    except ValidationError:
        return None
