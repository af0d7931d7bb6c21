"""Whether arguments fit an input schema, and that no schema can make that last."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from evalward.suites.mcp.attempts import NO_OBJECT, NO_SUCH_TOOL, attempted
from evalward.suites.mcp.details import kept_calls
from evalward.suites.mcp.json_schema import (
    MOST_DEPTH,
    MOST_IN_SCHEMA,
    MOST_PARTS,
    SchemaUnusableError,
    schema_problem,
)
from evalward.suites.mcp.validity import ArgumentSchemas, ArgumentVerdict, invented_arguments
from support.mcp_calls import SERVER, object_schema, shop


def verdict(schema: dict[str, Any], arguments: dict[str, Any]) -> ArgumentVerdict:
    return ArgumentSchemas(shop({"echo": schema})).check("echo", arguments)


def of_a(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


TEXT = object_schema("text", text={"type": "string"})


def test_arguments_that_fit_and_that_do_not() -> None:
    assert verdict(TEXT, {"text": "tulip"}) == ArgumentVerdict(True)
    assert verdict(TEXT, {"text": 5}) == ArgumentVerdict(False, "text: 5 is not of type 'string'")
    assert verdict(TEXT, {}) == ArgumentVerdict(False, "'text' is a required property")


def test_nothing_is_coerced_and_formats_are_not_asserted() -> None:
    assert verdict(of_a({"type": "integer"}), {"a": "5"}).valid is False
    assert verdict(of_a({"type": "integer"}), {"a": True}).valid is False
    assert verdict(of_a({"type": "integer"}), {"a": 5.0}).valid is True
    assert verdict(of_a({"type": "string", "format": "date"}), {"a": "tomorrow"}).valid is True
    assert verdict(of_a({"const": 1}), {"a": True}).valid is False


def test_unknown_keys_are_valid_unless_the_schema_says_otherwise() -> None:
    assert verdict(TEXT, {"text": "a", "loud": True}).valid is True
    closed = {**TEXT, "additionalProperties": False}
    assert verdict(closed, {"text": "a", "loud": True}) == ArgumentVerdict(False, "the argument 'loud' is not known")
    typed = {**TEXT, "additionalProperties": {"type": "integer"}}
    assert verdict(typed, {"text": "a", "loud": 1}).valid is True
    assert verdict(typed, {"text": "a", "loud": "b"}).valid is False


@pytest.mark.parametrize(
    ("dialect", "valid"),
    [
        ("http://json-schema.org/draft-04/schema#", False),
        ("http://json-schema.org/draft-07/schema#", None),
        ("https://json-schema.org/draft-07/schema", None),
        ("https://json-schema.org/draft/2020-12/schema", None),
        (None, None),
    ],
)
def test_a_schema_is_read_in_its_own_dialect(dialect: str | None, valid: bool | None) -> None:
    """`exclusiveMinimum: true` is draft 4's: in later drafts it has to be a number, and the schema is none."""
    schema = of_a({"minimum": 1, "exclusiveMinimum": True})
    assert verdict({**schema, **({"$schema": dialect} if dialect else {})}, {"a": 1}).valid is valid


def test_items_of_a_list_are_those_of_the_dialect() -> None:
    """A list of schemas is that of tuples in draft 7, and no schema in 2020-12."""
    schema = of_a({"items": [{"type": "string"}]})
    assert verdict({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, {"a": [1]}).valid is False
    assert verdict(schema, {"a": [1]}).valid is None


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (of_a({"type": "strin"}), "the schema is no JSON Schema: properties.a.type"),
        ({"properties": [1]}, "the schema is no JSON Schema: properties"),
        ({"$schema": "https://example.org/mine"}, "the schema is of a dialect that isn't known"),
        ({"$schema": 7}, "the schema is of a dialect that isn't known"),
        (of_a({"pattern": "(?=a)"}), "a pattern of the schema can't be used"),
        (of_a({"pattern": "("}), "a pattern of the schema can't be used"),
        ({"$ref": "#"}, "nested too deeply, or refers to itself without an end"),
        (of_a({"$ref": "#/$defs/none"}), "which it doesn't hold itself"),
        (of_a({"enum": list(range(MOST_IN_SCHEMA))}), "nested too deeply or has more than 5,000 parts"),
        ({"patternProperties": {"^a": {}}, "unevaluatedProperties": False}, "both patternProperties and uneval"),
    ],
)
def test_a_schema_that_is_none_judges_nobody_and_says_why(schema: dict[str, Any], why: str) -> None:
    found = verdict(schema, {"a": "text"})
    assert found.valid is None
    assert why in found.why


@pytest.mark.parametrize(
    "place", ["http://127.0.0.1:{port}/schema.json", "https://127.0.0.1:{port}/s", "file:///etc/passwd"]
)
def test_no_reference_is_ever_fetched(place: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        found = verdict(of_a({"$ref": place.format(port=server.getsockname()[1])}), {"a": "text"})
        with pytest.raises(BlockingIOError):
            server.accept()
    assert found.valid is None
    assert "which it doesn't hold itself" in found.why


def test_references_within_a_schema_are_followed() -> None:
    schema = {**of_a({"$ref": "#/$defs/size"}), "$defs": {"size": {"enum": ["S", "M"]}}}
    assert verdict(schema, {"a": "M"}).valid is True
    assert verdict(schema, {"a": "XL"}).valid is False


# --- bounds ---------------------------------------------------------------------------------------------------------

EXPONENTIAL = "^(a+)+$"


@pytest.mark.parametrize(
    "schema",
    [
        of_a({"pattern": EXPONENTIAL}),
        of_a({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": EXPONENTIAL}),
        of_a({"allOf": [{"$schema": "https://json-schema.org/draft/2019-09/schema", "pattern": EXPONENTIAL}]}),
        of_a({"patternProperties": {EXPONENTIAL: True}, "additionalProperties": False}),
        of_a({"propertyNames": {"pattern": EXPONENTIAL}, "not": {"type": "string"}}),
    ],
    ids=["plain", "dialect within", "dialect deeper within", "pattern of names", "names"],
)
def test_a_pattern_takes_time_that_is_linear_in_the_text(schema: dict[str, Any]) -> None:
    """Python's own expressions would try 2**4000 ways."""
    text = "a" * 4000 + "!"
    value = {text: 1} if "propertyNames" in schema["properties"]["a"] or "patternProperties" in str(schema) else text
    assert verdict(schema, {"a": value}).valid is False


def doubling(levels: int) -> dict[str, Any]:
    """A small schema that asks the same question 2**levels times."""
    chain = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**chain, f"a{levels}": {"type": "object"}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubling(60), 1),
        (of_a({"items": {"anyOf": [*([{"type": "string"}] * 1000), {}]}}), list(range(5000))),
        (of_a({"anyOf": [{"type": "integer"}] * 1500}), "x" * 1_000_000),
        (of_a({"allOf": [{"uniqueItems": True}] * 1000}), [[at] for at in range(5000)]),
        (of_a({"items": {"enum": [[at] * 50 for at in range(80)]}}), [[0] * 50 for _ in range(300)]),
        ({**doubling(40), "unevaluatedProperties": False}, 1),
    ],
    ids=["doubling", "alternatives", "long messages", "unique", "enum", "unevaluated"],
)
def test_a_validation_has_a_limited_number_of_steps(schema: dict[str, Any], value: Any) -> None:
    found = verdict(schema, {"a": value})
    assert found == ArgumentVerdict(None, "the schema takes too many steps to judge")


def nested(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = of_a(inner)
    return inner


def nested_value(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def test_deep_schemas_and_arguments_end_in_a_verdict() -> None:
    assert verdict(nested(12, {"type": "string"}), nested_value(12)).valid is True
    assert verdict(nested(12, {"type": "integer"}), nested_value(12)).valid is False
    assert verdict(nested(45, {"type": "string"}), nested_value(45)).valid is None
    deep = verdict(TEXT, {"text": nested_value(MOST_DEPTH + 1)})
    wide = verdict(TEXT, {"text": [0] * MOST_PARTS})
    assert (deep.valid, wide.valid) == (None, None)
    assert deep.why == wide.why == "the arguments are nested too deeply or have more than 20,000 parts"


def test_many_items_are_compared_quickly() -> None:
    unlike = [*({"x": at} for at in range(5000)), True, 1, 1.5, None, "1", False, 0]
    assert verdict(of_a({"uniqueItems": True}), {"a": unlike}).valid is True
    assert verdict(of_a({"uniqueItems": True}), {"a": [*unlike, {"x": 7.0}]}).valid is False


def test_the_schema_itself_is_looked_at_in_a_limited_number_of_steps() -> None:
    """The library would compare each of 4,000 types with each other one."""
    odd = of_a({"type": [{"x": at} if at % 2 else f"t{at}" for at in range(2000)] * 2})
    found = verdict({**odd, "$schema": "https://json-schema.org/draft/2020-12/schema"}, {"a": 1})
    assert found.valid is None
    with pytest.raises(SchemaUnusableError):
        schema_problem(of_a({"anyOf": [{"type": ["string", {}] * 500}] * 400}))


def test_what_is_wrong_is_said_briefly() -> None:
    found = verdict(TEXT, {"text": ["x" * 100_000]})
    assert found == ArgumentVerdict(False, "text: it does not fit the schema's type")


# --- invented arguments ---------------------------------------------------------------------------------------------


def invented(schema: dict[str, Any], *names: str) -> list[str]:
    return invented_arguments(shop({"echo": schema}).by_name["echo"], dict.fromkeys(names, 1))


def test_arguments_that_the_schema_does_not_name() -> None:
    assert invented(TEXT, "text", "loud") == ["loud"]
    assert invented({**TEXT, "additionalProperties": False}, "loud") == ["loud"]
    assert invented({**TEXT, "additionalProperties": True}, "loud") == []
    assert invented({**TEXT, "additionalProperties": {"type": "string"}}, "loud") == []
    assert invented({**TEXT, "patternProperties": {"^l": {}}}, "loud") == []
    assert invented({**TEXT, "anyOf": [{"properties": {"loud": {}}}]}, "loud") == []
    assert invented({"type": "object"}, "loud") == []
    assert len(invented(TEXT, *(f"made_up_{at}" for at in range(50)))) == 10


# --- calls as models try them ---------------------------------------------------------------------------------------


def test_an_attempted_call_is_held_against_its_schema() -> None:
    catalogue = shop({"echo": TEXT})
    found = catalogue.by_name["echo"], ArgumentSchemas(catalogue)
    good = attempted("mcp_echo", {"text": "tulip"}, found)
    assert (good.server, good.tool, good.known, good.valid, good.executed) == (SERVER, "echo", True, True, False)
    bad = attempted("mcp_echo", {"txt": "tulip"}, found)
    assert (bad.valid, bad.why, bad.invented) == (False, "'text' is a required property", ["txt"])


@pytest.mark.parametrize("given", ['{"text": "tul', ["tulip"], None, 5, nested_value(500), {"a": {1, 2}}])
def test_arguments_that_are_no_object_are_invalid(given: Any) -> None:
    catalogue = shop({"echo": TEXT})
    found = attempted("echo", given, (catalogue.by_name["echo"], ArgumentSchemas(catalogue)))
    assert (found.arguments, found.valid, found.why) == (None, False, NO_OBJECT)
    assert kept_calls([found])[0].model_dump_json()


def test_a_name_of_no_tool_is_the_models_own_word() -> None:
    found = attempted("nope\x1b[31m", {"a": 1}, None)
    assert (found.server, found.tool, found.known, found.valid) == ("", "nope\x1b[31m", False, None)
    assert found.why == NO_SUCH_TOOL


def test_a_result_keeps_the_beginning_of_what_is_long() -> None:
    catalogue = shop({"echo": TEXT})
    found = attempted("echo", {"text": "x" * 50_000}, (catalogue.by_name["echo"], ArgumentSchemas(catalogue)))
    assert found.valid is True
    kept = kept_calls([found] * 80)
    assert len(kept) == 50
    assert kept[0].arguments is None
    assert kept[0].raw == '{"text": "' + "x" * 1990 + "…"
