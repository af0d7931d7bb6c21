"""The first requests to a server: cases that load, that the oracle solves, and that say they are only a start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.starter.found import Origin
from evalward.starter.mcp_cases import MOST_CASES, case_texts
from evalward.starter.mcp_server import FoundServer
from evalward.starter.plan import CASES, FirstSuite, planned
from evalward.suites.base import kind_named
from evalward.suites.mcp.catalogue import Catalogue, CatalogueError, dump_catalogue, make_catalogue

OBJECT: dict[str, Any] = {"type": "object"}
MODEL = "anthropic/claude-haiku-4-5"


def tool(name: str = "list_orders", schema: dict[str, Any] = OBJECT, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": schema, **more}


def cases_of(catalogue: Catalogue | None, model: str | None = None) -> list[dict[str, Any]]:
    cases = yaml.safe_load(case_texts(catalogue, model)[0])
    assert isinstance(cases, list)
    return cases


def validated(folder: Path, catalogue: Catalogue, model: str | None = None) -> list[str]:
    """What `evalward validate` would say of the files, written into a folder."""
    server = FoundServer(snapshot="tools.json", catalogue=catalogue)
    (folder / "evals" / "mcp").mkdir(parents=True, exist_ok=True)
    (folder / "tools.json").write_text(dump_catalogue(catalogue), "utf-8")
    files = {file.path: file.text for file in planned(FirstSuite(Origin("mcp", server=server), model))}
    (folder / CASES).write_text(files[CASES], "utf-8")
    config = parse_config(files["evalward.yml"], "evalward.yml", folder)
    (suite,) = config.config.suites
    kind = kind_named(suite.kind)
    try:
        prepared = kind.prepare(suite, config)
    except InputError as error:
        return [str(problem) for problem in error.problems]
    return [str(problem) for problem in asyncio.run(kind.prove(prepared)).problems]


def test_each_tool_has_a_request_of_its_own_words() -> None:
    required = {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 5}, "tags": {"type": "array"}}
    schema = {**OBJECT, "properties": required, "required": list(required)}
    catalogue = make_catalogue(
        "shop", [tool("search", schema, description="Finds orders.\nNot customers."), tool("ping")]
    )
    assert cases_of(catalogue) == [
        {
            "id": "search",
            "prompt": "Finds orders. (query: example, limit: 5)",
            "expect": {"calls": [{"tool": "search", "args": {"query": "example", "limit": 5}}]},
        },
        {"id": "ping", "prompt": "Say here what the tool ping is for.", "expect": {"calls": [{"tool": "ping"}]}},
        {"id": "no-tool", "category": "none", "prompt": "Good morning!", "expect": {"none": True}},
    ]


def test_without_a_list_of_tools_there_is_one_case_and_how_others_look() -> None:
    assert [case["id"] for case in cases_of(None)] == ["no-tool"]
    origin = Origin("mcp", server=FoundServer(("python3", "a.py"), "a.py"))
    text = next(file.text for file in planned(FirstSuite(origin)) if file.path == CASES)
    shown = [line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# - ", "#   "))]
    assert [case["id"] for case in yaml.safe_load("\n".join(shown))] == ["find-tulips", "only-look"]


def test_the_cases_say_that_they_are_a_start() -> None:
    for server in (
        FoundServer(("python3", "a.py"), "a.py"),
        FoundServer(snapshot="a.json", catalogue=make_catalogue("a", [tool()])),
    ):
        text = next(file.text for file in planned(FirstSuite(Origin("mcp", server=server))) if file.path == CASES)
        assert "# A start, to be " in text


def test_a_tool_whose_arguments_only_a_person_knows_has_none() -> None:
    schema = {**OBJECT, "properties": {"id": {"type": "string", "pattern": "^O-[0-9]+$"}}, "required": ["id"]}
    catalogue = make_catalogue("shop", [tool("get_order", schema)])
    text, left = case_texts(catalogue, None)
    assert "get_order" not in text
    assert left == ("No case yet, because their arguments take an example of yours: get_order.",)


def test_a_tool_that_a_provider_refuses_has_none(tmp_path: Path) -> None:
    catalogue = make_catalogue("shop", [tool("odd", {**OBJECT, "oneOf": [{}]}), tool()])
    assert [case["id"] for case in cases_of(catalogue)] == ["odd", "list_orders", "no-tool"]
    text, left = case_texts(catalogue, MODEL)
    assert "odd" not in text
    assert left == ("No case, because the model's provider takes no such tool: odd.",)
    assert validated(tmp_path, catalogue, MODEL) == []


def test_of_very_many_tools_the_first_have_cases() -> None:
    catalogue = make_catalogue("shop", [tool(f"t{number}") for number in range(MOST_CASES + 12)])
    text, left = case_texts(catalogue, None)
    assert len(yaml.safe_load(text)) == MOST_CASES + 1
    assert left[0].endswith("t109 and 2 more.")


@pytest.mark.parametrize(
    "name",
    ["a b", "no-tool", "tool-1", 'x"\n- id: y', "é", "{a}", "a\u2028b", "a\x7fb", "\U0001f337", "# a", "null", "1"],
)
def test_any_name_stays_what_it_is(name: str, tmp_path: Path) -> None:
    catalogue = make_catalogue("shop", [tool(name, description=f'"{name}": {name} #'), tool("tool-2"), tool("b")])
    first, *_ = cases_of(catalogue)
    assert first["expect"]["calls"] == [{"tool": catalogue.tools[0].name}]
    assert validated(tmp_path, catalogue) == []


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=9), inner, max_size=3)),
    max_leaves=6,
)
SCHEMA = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b c", "ü"]), st.one_of(st.just({"type": "string"}), JSON)),
        "required": st.lists(st.sampled_from(["a", "b c", "ü"]), max_size=3),
        "additionalProperties": st.booleans(),
    },
)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=80), SCHEMA), min_size=1, max_size=4))
def test_whatever_a_server_lists_the_cases_are_valid(
    tmp_path_factory: pytest.TempPathFactory, tools: list[tuple[str, str, dict[str, Any]]]
) -> None:
    try:
        listed = [tool(name, schema, description=described) for name, described, schema in tools]
        catalogue = make_catalogue("shop", listed)
    except CatalogueError:
        return
    assert validated(tmp_path_factory.mktemp("made"), catalogue) == []
