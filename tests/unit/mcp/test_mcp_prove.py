"""What `validate` proves of an mcp suite without a model, and the examples with which the oracle fills calls up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalward.suites.mcp.examples import filled
from evalward.suites.mcp.prove import prove_cases
from support.mcp_suites import ORDERS, SEARCH, prepared_suite


def problems(root: Path, expect: dict[str, Any], targets: list[str] | None = None, **more: Any) -> list[str]:
    tools = more.pop("tools", ORDERS)
    suite = prepared_suite(
        root, [{"id": "a", "prompt": "p", "expect": expect, **more}], tools, targets=targets or ["nop"]
    )
    return [str(problem) for problem in prove_cases(suite).problems]


def test_a_good_set_is_said_to_be_one(tmp_path: Path) -> None:
    proof = prove_cases(prepared_suite(tmp_path))
    assert proof.problems == []
    assert proof.summary.startswith("3 expected calls made as the oracle makes them, none of them executed; ")
    assert '3 tools of "orders", ≈ ' in proof.summary


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        (
            {"calls": [{"tool": "search_orders", "args": {"query": 7}}]},
            "don't fit its input schema: query: 7 is not of",
        ),
        ({"calls": [{"tool": "search_orders", "args": {"limit": 0}}]}, "don't fit its input schema: limit: 0 is less"),
        ({"calls": [{"tool": "search_orders", "args": {}, "match": "exact"}]}, "'query' is a required property"),
    ],
)
def test_expected_arguments_fit_the_tools_schema(tmp_path: Path, expect: dict[str, Any], said: str) -> None:
    found = problems(tmp_path, expect)
    assert found
    assert found[0].startswith("cases.jsonl:1: a: the arguments that are expected of 'search_orders' ")
    assert said in found[0]
    assert found[0].endswith("Fix the case's `args`, or the schema.")


def test_an_answer_that_the_solution_lacks(tmp_path: Path) -> None:
    answer = [{"contains": "7 orders"}]
    (said,) = problems(tmp_path, {"none": True}, answer=answer)
    assert "'answer contains \"7 orders\"'" in said
    assert problems(tmp_path, {"none": True}, answer=answer, solution="There are 7 orders.") == []


def test_a_tool_that_a_targets_provider_refuses(tmp_path: Path) -> None:
    odd = {**SEARCH, "inputSchema": {"type": "object", "enum": [{}]}}
    expect = {"calls": [{"tool": "search_orders"}]}
    models = ["openai/gpt-5", "openai-responses/gpt-5", "anthropic/claude-haiku-4-5"]
    found = [line for line in problems(tmp_path, expect, models, tools=[odd]) if "can't be offered" in line]
    assert found == [
        'cases.jsonl:1: a: models of OpenAI can\'t be offered the tool "search_orders": its input schema has enum at '
        "the top. Change the tool's input schema, or measure the case in a suite without models of this provider."
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"], "properties": {"a": {"type": "string"}}},
        {"required": ["a"], "properties": {"a": {"type": "string", "minLength": 30}}},
        {"required": ["a"], "properties": {"a": {"type": "integer", "minimum": 5}}},
        {"required": ["a"], "properties": {"a": {"type": "number", "maximum": -2}}},
        {"required": ["a"], "properties": {"a": {"type": "boolean"}}},
        {"required": ["a"], "properties": {"a": {"enum": ["x", "y"]}}},
        {"required": ["a"], "properties": {"a": {"const": 3}}},
        {"required": ["a"], "properties": {"a": {"type": "string", "default": "d"}}},
        {"required": ["a"], "properties": {"a": {"type": ["null", "string"]}}},
        {"required": ["a"], "properties": {"a": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}},
        {"required": ["a"], "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
        {"required": ["a"], "properties": {"a": {"type": "object", "required": ["b"], "properties": {"b": {}}}}},
        {
            "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}},
        },
    ],
)
def test_examples_fit_what_is_required(schema: dict[str, Any]) -> None:
    assert filled({}, {}) == {}
    arguments = filled({}, schema)
    assert set(arguments) == {"a"}
    Draft202012Validator(schema).validate(arguments)
    assert filled({"a": "mine"}, {**schema, "properties": {"a": {"type": "string"}}}) == {"a": "mine"}


def test_what_is_given_stays__and_is_filled_up_inside() -> None:
    inner = {"type": "object", "required": ["c", "d"], "properties": {"c": {"type": "integer"}, "d": {"const": 1}}}
    schema = {"required": ["b"], "properties": {"b": inner}}
    given = {"b": {"c": 7}}
    assert filled(given, schema) == {"b": {"c": 7, "d": 1}}
    assert given == {"b": {"c": 7}}


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"], "properties": {"a": {"$ref": "#/properties/a"}}},
        {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/nope"}}},
        {"required": ["a", 7, "b"], "properties": {"a": True}},
        {"required": "a", "properties": []},
        {"required": ["a"], "properties": {"a": {"type": "array", "minItems": 10**9, "items": {}}}},
        {"required": ["a"], "properties": {"a": {"type": "string", "minLength": 10**9}}},
        {"required": ["a"], "properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}},
        {"required": ["a"], "properties": {"a": {"type": 7, "enum": []}}},
    ],
)
def test_any_schema_ends(schema: dict[str, Any]) -> None:
    assert len(str(filled({}, schema))) < 2_000
