"""What providers refuse of tools: what is sent otherwise, what is left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.provider_rules import Offer, offer, refusal, rules_of
from support.mcp_suites import catalogue

CLAUDE, CHAT, RESPONSES = "anthropic/claude-haiku-4-5", "openai/gpt-5", "openai-responses/gpt-5"
NO_KEY = "has a name that isn't of 1 to 64 letters"
OBJECT: Mapping[str, Any] = {"type": "object"}


def offered(target: str, *schemas: Mapping[str, Any], others: int = 0) -> Offer:
    own = catalogue([{"name": f"t{number}", "inputSchema": dict(each)} for number, each in enumerate(schemas)])
    beside = [catalogue([{"name": f"o{n}", "inputSchema": dict(OBJECT)} for n in range(others)], "z")] if others else []
    return offer(ToolNames(own, beside).tools, rules_of(target))


@pytest.mark.parametrize("target", ["oracle", "nop", "replay:x", "program:y", "else/model", "odd"])
def test_what_is_no_model_refuses_nothing(target: str) -> None:
    assert rules_of(target) is None
    found = offered(target, {"anyOf": []}, {"type": 7})
    assert [tool.name for tool in found.tools] == ["t0", "t1"]
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("schema", "refused_by", "why"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "", ""),
        ({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, "", ""),
        ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"x": {}}}, "", ""),
        ({"type": "object", "properties": {"p": {"type": "string", "pattern": "\\p{L}+"}}}, "", ""),
        ({"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}, "both", "has anyOf at the top"),
        ({"type": "object", "allOf": []}, "both", "has allOf at the top"),
        ({"type": "object", "oneOf": [{}]}, "both", "has oneOf at the top"),
        ({"type": "object", "not": {"required": ["a"]}}, "OpenAI", "has not at the top"),
        ({"type": "object", "enum": [{}]}, "OpenAI", "has enum at the top"),
        ({}, "both", 'has no "type": "object"'),
        ({"type": "string"}, "both", 'has no "type": "object"'),
        ({"type": "object", "properties": {"a b": {}, "x" * 65: {}}, "required": ["a b"]}, "", ""),
        ({"type": "object", "properties": {"a b": {}, "c": {"$ref": "#/properties/a b"}}}, "Anthropic", NO_KEY),
        ({"type": "object", "properties": {"x" * 65: {}}, "dependentRequired": {}}, "Anthropic", NO_KEY),
        ({"type": "object", "properties": {"é": {}}, "if": {"required": ["é"]}}, "Anthropic", NO_KEY),
        ({"type": "object", "properties": {"a": {"type": "array", "items": [{}]}}}, "both", "properties.a.items"),
        ({"type": "object", "properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, "both", "exclusiveMinimum"),
        ({"type": "object", "properties": {"a": "string"}}, "both", "properties.a: "),
        ({"type": "object", "properties": []}, "both", "properties: "),
        ({"type": "object", "required": "a"}, "both", "required: "),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "both", "properties.a"),
    ],
)
def test_the_rules_that_providers_have(schema: dict[str, Any], refused_by: str, why: str) -> None:
    for target, maker in ((CLAUDE, "Anthropic"), (CHAT, "OpenAI"), (RESPONSES, "OpenAI")):
        rules = rules_of(target)
        assert rules is not None
        said = refusal(schema, rules)
        if refused_by in {maker, "both"}:
            assert said is not None
            assert why in said
        else:
            assert said is None


def test_one_wrong_tool_is_left_out__and_the_others_are_sent() -> None:
    found = offered(CLAUDE, OBJECT, {"type": "object", "anyOf": []}, OBJECT)
    assert [tool.name for tool in found.tools] == ["t0", "t2"]
    (left,) = found.left_out
    assert (left.named.tool.name, left.maker) == ("t1", "Anthropic")
    assert found.lacks("t1") is left
    assert found.lacks("t0") is None
    assert found.lacks("t9") is None


def test_arrays_that_say_nothing_of_their_items_get_any__for_those_who_want_it() -> None:
    bare = {"type": "array"}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "items": bare,
            "b": {"type": ["array", "null"]},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": bare}}},
            "e": {"anyOf": [bare, {"type": "string"}]},
            "f": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"g": bare},
        "default": {"type": "array"},
    }
    (sent,) = offered(CHAT, schema).tools
    wide = {"type": "array", "items": {}}
    assert sent.input_schema == {
        "type": "object",
        "properties": {
            "items": wide,
            "b": {"type": ["array", "null"], "items": {}},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": wide}}},
            "e": {"anyOf": [wide, {"type": "string"}]},
            "f": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"g": wide},
        "default": {"type": "array"},
    }
    (kept,) = offered(CLAUDE, schema).tools
    assert kept.input_schema == schema


def test_openai_takes_128_tools__those_of_other_servers_go_first() -> None:
    found = offered(CHAT, *[OBJECT] * 100, others=50)
    assert len(found.tools) == 128
    assert [left.named.tool.name for left in found.left_out] == [f"o{number}" for number in range(28, 50)]
    assert "no more than 128 tools" in found.left_out[0].why
    many = offered(CHAT, *[OBJECT] * 130)
    assert [left.named.tool.name for left in many.left_out] == ["t128", "t129"]
    assert len(offered(CLAUDE, *[OBJECT] * 130).tools) == 130


def test_what_is_nested_beyond_reason_is_left_out() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(45):
        schema = {"type": "object", "properties": {"a": schema}}
    for target in (CLAUDE, CHAT):
        found = offered(target, schema, OBJECT)
        assert "t1" in [tool.name for tool in found.tools]
        assert len(found.tools) + len(found.left_out) == 2


def test_a_title_stands_for_a_description_that_is_missing() -> None:
    own = catalogue([{"name": "a", "title": "Find it", "inputSchema": {"type": "object"}}])
    assert offer(ToolNames(own).tools, None).tools[0].description == "Find it"


def test_arguments_whose_names_are_not_taken_have_others__which_are_read_back() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a b": {"type": "string"}, "a_b": {}, "ok.key": {}, "$filter": {}, "x" * 70: {}},
        "required": ["a b", "ok.key"],
        "additionalProperties": False,
    }
    found = offered(CLAUDE, schema)
    (tool,) = found.tools
    sent = list(tool.input_schema["properties"])
    assert sent[1:4] == ["a_b", "ok.key", "_filter"]
    assert sent[0].startswith("a_b_")
    assert len(set(sent)) == 5
    assert all(len(key) <= 64 for key in sent)
    assert tool.input_schema["required"] == [sent[0], "ok.key"]
    assert tool.input_schema["additionalProperties"] is False
    given = {key: number for number, key in enumerate(sent)}
    assert found.own_keys("t0", {**given, "other": 7}) == {
        "a b": 0, "a_b": 1, "ok.key": 2, "$filter": 3, "x" * 70: 4, "other": 7,
    }  # fmt: skip
    assert found.own_keys("t0", "text") == "text"
    assert found.own_keys("t1", {"a_b": 1}) == {"a_b": 1}
    assert list(offered(CHAT, schema).tools[0].input_schema["properties"]) == list(schema["properties"])
    assert offered(CHAT, schema).keys == {}
