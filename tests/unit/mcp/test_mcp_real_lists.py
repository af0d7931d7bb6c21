"""What servers of the ecosystem list is taken as it is: by providers, the schema check, the diff of the surface."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.surface import PartText
from evalward.suites.mcp.catalogue import Catalogue, dump_catalogue, parse_catalogue, read_catalogue
from evalward.suites.mcp.examples import filled
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.offered import refused_tools
from evalward.suites.mcp.subject import subject_of
from evalward.suites.mcp.surface import surface_change
from evalward.suites.mcp.validity import ArgumentSchemas

LISTS = Path(__file__).parents[2] / "data" / "mcp"
TOOLS = {"everything": 13, "filesystem": 14, "git": 12, "memory": 9, "time": 2}


def listed(name: str) -> Catalogue:
    return read_catalogue(LISTS, f"{name}.json")


def parts(catalogue: Catalogue) -> dict[str, PartText]:
    subject = subject_of(catalogue, (), "", None)
    return {part: PartText(hash, subject.texts.get(hash)) for part, hash in subject.parts.items()}


@pytest.mark.parametrize("name", TOOLS)
def test_a_list_is_read_whole_and_no_provider_refuses_a_tool(name: str) -> None:
    found = listed(name)
    assert len(found.tools) == TOOLS[name]
    assert refused_tools(found) == []
    assert parse_catalogue(dump_catalogue(found), "again.json") == found


@pytest.mark.parametrize("name", TOOLS)
def test_every_schema_judges_arguments(name: str) -> None:
    found = listed(name)
    schemas = ArgumentSchemas(found)
    for tool in found.tools:
        given = filled({}, tool.input_schema)
        assert schemas.check(tool.name, given).valid, tool.name
        required = tool.input_schema.get("required")
        if required:
            assert schemas.check(tool.name, {}).valid is False, tool.name


def test_names_of_all_of_them_at_once_can_be_told_apart_and_mapped_back() -> None:
    own, *others = map(listed, TOOLS)
    names = ToolNames(own, others)
    assert len({each.sent for each in names.tools}) == len(names.tools) == sum(TOOLS.values())
    for each in names.tools:
        found = names.find(each.sent)
        assert found is not None
        assert (found.server, found.tool.name) == (each.server, each.tool.name)


@pytest.mark.parametrize("name", TOOLS)
def test_the_surface_reads_every_schema(name: str) -> None:
    """Nothing differs from itself; an argument that is required now breaks, whatever draft the schema is of."""
    before = listed(name)
    assert surface_change(parts(before), parts(before)) is None
    stricter = [
        tool.model_copy(
            update={
                "input_schema": {
                    **tool.input_schema,
                    "properties": {**tool.input_schema.get("properties", {}), "reason": {"type": "string"}},
                    "required": [*tool.input_schema.get("required", []), "reason"],
                }
            }
        )
        for tool in before.tools
    ]
    change = surface_change(parts(before), parts(before.model_copy(update={"tools": tuple(stricter)})))
    assert change is not None
    assert {piece.name: len(piece.breaks) for piece in change.changes} == {tool.name: 1 for tool in before.tools}
