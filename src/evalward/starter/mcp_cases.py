"""The first cases of an MCP server's tools: a request for each, made of its description, for a person to correct."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalward.records.words import one_line
from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool
from evalward.suites.mcp.examples import filled
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.validity import ArgumentSchemas

MOST_CASES = 100
"""Tools that get a case; a person corrects each of them."""
LONGEST_REQUEST, LONGEST_VALUE, MOST_ARGUMENTS = 200, 60, 5
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_OURS = re.compile(r"no-tool|tool-[0-9]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_NO_TOOL = """\
- id: no-tool
  category: none
  prompt: Good morning!
  expect: {none: true}
"""


def case_texts(catalogue: Catalogue | None, model: str | None) -> tuple[str, tuple[str, ...]]:
    """The cases as YAML, and what has to be said of tools that have none: a line for each reason.

    `model` is the one that will be asked: tools that its provider refuses get no case.
    """
    if catalogue is None:
        return _NO_TOOL, ()
    offered = OfferedTools(catalogue, (), ToolNames(catalogue)).to(model or "oracle")
    schemas = ArgumentSchemas(catalogue)
    cases: list[str] = []
    hard: list[str] = []
    refused: list[str] = []
    for tool in catalogue.tools[:MOST_CASES]:
        solution = filled({}, tool.input_schema)
        if offered.lacks(tool.name) is not None:
            refused.append(tool.name)
        elif schemas.check(tool.name, solution).valid is False:
            hard.append(tool.name)
        else:
            cases.append(_case(tool, len(cases) + 1, _told(solution)))
    rest = [tool.name for tool in catalogue.tools[MOST_CASES:]]
    return "\n".join([*cases, _NO_TOOL]), tuple(_left(hard, refused, rest))


def _left(hard: Sequence[str], refused: Sequence[str], rest: Sequence[str]) -> Iterator[str]:
    reasons = (
        ("No case yet, because their arguments take an example of yours", hard),
        ("No case, because the model's provider takes no such tool", refused),
        (f"No case yet, after the first {MOST_CASES}", rest),
    )
    for why, names in reasons:
        if names:
            shown = ", ".join(one_line(name) for name in names[:10])
            yield f"{why}: {shown}{f' and {len(names) - 10} more' if len(names) > 10 else ''}."


def _told(solution: Mapping[str, Any]) -> dict[str, Any]:
    """The required arguments that a request can say in words, with the examples that the oracle takes, too."""
    plain = {name: value for name, value in solution.items() if isinstance(value, str | int | float)}
    short = [(name, value) for name, value in plain.items() if len(str(value)) <= LONGEST_VALUE >= len(name)]
    return dict(short[:MOST_ARGUMENTS])


def _case(tool: CatalogueTool, number: int, arguments: Mapping[str, Any]) -> str:
    name = tool.name if _ID.fullmatch(tool.name) and not _OURS.fullmatch(tool.name) else f"tool-{number}"
    call: dict[str, Any] = {"tool": tool.name} | ({"args": dict(arguments)} if arguments else {})
    lines = [
        f"- id: {_quoted(name)}",
        f"  prompt: {_quoted(_request(tool, arguments))}",
        f"  expect: {{calls: [{_quoted(call)}]}}",
    ]
    return "\n".join(lines) + "\n"


def _request(tool: CatalogueTool, arguments: Mapping[str, Any]) -> str:
    """The first sentence of the description, and the arguments: a model finds the tool by these words too easily."""
    described = (tool.description or tool.title or "").strip()
    sentence = " ".join(_SENTENCE_END.split(described, 1)[0].split())
    said = one_line(sentence, LONGEST_REQUEST) if sentence else f"Say here what the tool {one_line(tool.name)} is for."
    given = ", ".join(f"{one_line(name)}: {one_line(str(value))}" for name, value in arguments.items())
    return f"{said} ({given})" if given else said


def _quoted(value: Any) -> str:
    """JSON that YAML reads as the same value: it knows no pairs of surrogates, and takes no invisible characters."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in text)
