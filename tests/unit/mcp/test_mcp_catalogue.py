"""Lists of tools: every form that a file has them in, what can't be used, and what is counted and hashed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.mcp.catalogue import (
    MOST_TOOLS,
    Catalogue,
    CatalogueError,
    dump_catalogue,
    make_catalogue,
    read_catalogue,
)
from support.mcp_suites import CANCEL, ORDERS, SEARCH, catalogue, write_json

LIST = [SEARCH, CANCEL]


def read(root: Path, content: Any, name: str = "orders.json") -> Catalogue:
    write_json(root, name, content)
    return read_catalogue(root, name)


@pytest.mark.parametrize(
    "content",
    [
        LIST,
        {"tools": LIST},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": LIST}},
        {"tools": LIST, "nextCursor": None, "_meta": {"x": 1}},
        [{**tool, "execution": {"taskSupport": "forbidden"}} for tool in LIST],
    ],
)
def test_every_form_of_a_list_is_read(tmp_path: Path, content: Any) -> None:
    found = read(tmp_path, content)
    assert [tool.wire for tool in found.tools] == LIST
    assert (found.server, found.instructions, found.protocol) == ("orders", None, None)
    assert found.digest == catalogue(LIST).digest


def test_what_a_file_says_of_its_server_is_read(tmp_path: Path) -> None:
    info = {"serverInfo": {"name": "shop", "version": "1"}, "instructions": "Be kind.", "protocolVersion": "2026-07-28"}
    found = read(tmp_path, {"tools": LIST, **info})
    assert (found.server, found.instructions, found.protocol) == ("shop", "Be kind.", "2026-07-28")
    assert read_catalogue(tmp_path, "orders.json", "mine").server == "mine"


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    whole = catalogue(ORDERS, "shop", instructions="Grüße\n", protocol="2025-11-25")
    assert read(tmp_path, dump_catalogue(whole)) == whole
    assert dump_catalogue(whole).endswith("\n")
    assert "Grüße" in dump_catalogue(whole)


def test_the_same_tools_have_the_same_hash__and_nothing_else_has() -> None:
    whole = catalogue()
    turned = [dict(reversed(list(tool.items()))) for tool in ORDERS]
    assert catalogue(turned, "other", protocol="x").digest == whole.digest
    changed = [
        [*reversed(ORDERS)],
        ORDERS[:2],
        [{**SEARCH, "description": "Find"}, *ORDERS[1:]],
        [{**SEARCH, "title": "Find"}, *ORDERS[1:]],
        [*ORDERS[:2], {**CANCEL, "annotations": {}}],
    ]
    found = {catalogue(tools).digest for tools in changed}
    assert len(found) == len(changed)
    assert whole.digest not in found


def test_tokens_are_a_quarter_of_the_characters_of_what_models_read() -> None:
    tool = {"name": "a", "title": "no", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    written = '{"name":"a","description":"","input_schema":{"type":"object"}}'
    assert catalogue([tool]).tokens == -(-len(written) // 4)
    assert catalogue([{**tool, "description": "ä" * 8}]).tokens == -(-(len(written) + 8) // 4)
    assert catalogue([tool, {**tool, "name": "b"}]).tokens == -(-2 * len(written) // 4)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "the snapshot is not JSON: "),
        ('{"tools": [], "tools": []}', "the key 'tools' occurs in it twice"),
        ("7", "this is not a list of tools but the number 7."),
        ({}, "this is not a list of tools: it has no key `tools`."),
        ({"tools": {}}, "this is not a list of tools: `tools` is a mapping of keys to values."),
        ({"jsonrpc": "2.0", "error": {"code": -32601}}, "this is a server's refusal: it has the key `error`."),
        ({"tools": LIST, "nextCursor": "x"}, "the list has further pages: `nextCursor` is set."),
        ([SEARCH, SEARCH], "tools[1].name: the tool 'search_orders' occurs in the list twice: tools[0] has the name"),
        ([{"name": "a"}], "tools[0].inputSchema: the key is missing."),
        ([{"inputSchema": {}}], "tools[0].name: the key is missing."),
        ([SEARCH, "x"], 'tools[1]: must be a mapping of keys to values, not the text "x".'),
        ([{"name": "", "inputSchema": {}}], "tools[0].name: is empty."),
        ([{"name": "a", "inputSchema": True}], "tools[0].inputSchema: must be a mapping of keys to values, not true."),
        ([{"name": "a" * 257, "inputSchema": {}}], "tools[0].name: is longer than 256 characters."),
    ],
)
def test_what_is_no_list_is_refused_with_the_place_and_the_remedy(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, content)
    (problem,) = error.value.problems
    assert problem.place.file == "orders.json"
    assert said in str(problem)
    assert problem.remedy


def test_every_mistake_of_a_list_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, [{"name": "a"}, SEARCH, 3])
    assert [problem.field for problem in error.value.problems] == ["tools[0].inputSchema", "tools[2]"]


@pytest.mark.parametrize("content", [{"a": [0] * 10}, "missing"])
def test_a_file_that_is_too_large__or_not_there__is_refused(
    tmp_path: Path, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalward.suites.mcp.catalogue.MOST_BYTES", 10)
    if content != "missing":
        write_json(tmp_path, "orders.json", content)
    with pytest.raises(InputError) as error:
        read_catalogue(tmp_path, "orders.json")
    assert "orders.json" in str(error.value)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write_json(tmp_path, "real.json", LIST)
    (tmp_path / "orders.json").symlink_to("real.json")
    with pytest.raises(InputError, match=r"orders\.json"):
        read_catalogue(tmp_path, "orders.json")


def test_a_server_may_list_anything() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"properties": {"a": deep}}
    with pytest.raises(CatalogueError, match=r"tools\[0\]\.inputSchema: a value is nested too deeply"):
        make_catalogue("s", [{"name": "a", "inputSchema": deep}])
    with pytest.raises(CatalogueError, match="more than 2,000"):
        make_catalogue("s", [{}] * (MOST_TOOLS + 1))
    with pytest.raises(CatalogueError, match=r"tools\[0\]\.name: is not UTF-8 text"):
        make_catalogue("s", [{"name": "\ud800", "inputSchema": {}}])
    odd = make_catalogue("s", [{"name": "a", "description": "\x1b[31m", "inputSchema": {"x": "\udfff"}}])
    assert json.dumps(odd.snapshot, ensure_ascii=False).encode()
