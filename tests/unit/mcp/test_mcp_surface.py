"""What a change does to a server's tools: which came, went or have another name, what breaks, which words differ."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from evalward.decide.changes import part_texts
from evalward.records.report import Subject
from evalward.records.surface import MOST_FACTS, MOST_PIECES, PartTexts, PieceChange, Surface
from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool, make_catalogue
from evalward.suites.mcp.schema_changes import argument_changes, result_changes
from evalward.suites.mcp.subject import read_tool_text, subject_of, tool_text
from evalward.suites.mcp.surface import surface_change

TEXT = {"type": "string"}
LIMIT = {"type": "integer", "minimum": 1, "maximum": 50}
LIMIT_OF_NONE = {"type": "integer"}
NULL_TOO = ["`a` takes null or string now, before string"]
UNKNOWN_REF = ["the tool changed (`$ref`); whether calls break isn't known"]
ORDERS = {
    "name": "search_orders",
    "description": "Finds orders by words. Newest first.",
    "inputSchema": {"type": "object", "properties": {"query": TEXT, "limit": LIMIT}, "required": ["query"]},
}
STOCK = {
    "name": "get_stock",
    "description": "Says how many of an article there are.",
    "inputSchema": {"type": "object"},
}


def tool(**changes: Any) -> dict[str, Any]:
    """`search_orders` with these keys changed."""
    return {**ORDERS, **changes}


def with_properties(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def with_others(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {}, "additionalProperties": schema}


def parts(*tools: Mapping[str, Any]) -> PartTexts:
    """The subject of a server with these tools."""
    made = subject_of(make_catalogue("shop", tools), [], "Be brief.", None)
    return part_texts(Subject(hash="h", **made.parts), made.texts)


def changed(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> Surface:
    found = surface_change(parts(*before), parts(*now))
    assert found is not None
    return found


def only(before: dict[str, Any], now: dict[str, Any]) -> PieceChange:
    """The one tool that changed."""
    (change,) = changed([before], [now]).changes
    return change


def catalogue(*tools: Mapping[str, Any]) -> Catalogue:
    return make_catalogue("shop", tools)


def test_nothing_changed__is_no_surface() -> None:
    assert surface_change(parts(ORDERS, STOCK), parts(ORDERS, STOCK)) is None


def test_another_order__is_a_note() -> None:
    found = changed([ORDERS, STOCK], [STOCK, ORDERS])
    assert (found.total, found.notes) == (0, ["the tools are listed in another order"])


@pytest.mark.parametrize(
    ("before", "now", "note"),
    [
        ("Be quick.", "Be slow.", "the server's instructions differ"),
        (None, "Be slow.", "the server's instructions are new"),
        ("Be quick.", None, "the server's instructions are gone"),
    ],
)
def test_instructions__are_a_note(before: str | None, now: str | None, note: str) -> None:
    old, new = (subject_of(catalogue(ORDERS), [], "Be brief.", each) for each in (before, now))
    found = surface_change(*(part_texts(Subject(hash="h", **each.parts), each.texts) for each in (old, new)))
    assert found is not None
    assert (found.total, found.notes) == (0, [note])


def test_a_title_that_models_read__is_shown() -> None:
    change = only(tool(title="List orders", description=None), tool(title="DELETE everything", description=None))
    assert (change.before, change.now) == ("List orders", "DELETE everything")


def test_what_changes_in_a_definition__is_shown() -> None:
    def defined(text: str) -> dict[str, Any]:
        kind = {"type": "string", "description": text}
        return {**with_properties(a={"$ref": "#/$defs/Kind"}), "$defs": {"Kind": kind}}

    change = only(tool(inputSchema=defined("Of the order")), tool(inputSchema=defined("Of the customer")))
    assert (change.breaks, change.now.endswith("a: Of the customer")) == ([], True)


def test_a_subject_without_tools__has_no_surface() -> None:
    assert surface_change({}, parts(ORDERS)) is None
    assert surface_change(parts(ORDERS), {}) is None


def test_added_and_removed() -> None:
    found = changed([ORDERS], [STOCK])

    assert [(each.how, each.name, each.breaking) for each in found.changes] == [
        ("removed", "search_orders", True),
        ("added", "get_stock", False),
    ]
    assert (found.total, found.breaking) == (2, 1)


def test_tokens__are_those_of_the_catalogues() -> None:
    found = changed([ORDERS], [ORDERS, STOCK])

    assert (found.tokens_before, found.tokens_now) == (catalogue(ORDERS).tokens, catalogue(ORDERS, STOCK).tokens)


def test_renamed__where_arguments_and_words_are_much_the_same() -> None:
    change = only(ORDERS, tool(name="find_orders", description="Finds orders by words. Oldest first."))

    assert (change.how, change.was, change.name, change.breaking) == ("renamed", "search_orders", "find_orders", True)
    assert change.before != change.now


def test_another_tool__is_no_new_name() -> None:
    other = tool(name="find_orders", description="Deletes whatever is older than a year, without asking again.")

    assert {each.how for each in changed([ORDERS], [other]).changes} == {"added", "removed"}
    fewer = tool(name="find_orders", inputSchema=with_properties(query=TEXT))
    assert {each.how for each in changed([ORDERS], [fewer]).changes} == {"added", "removed"}


def test_a_description__breaks_nothing_and_is_shown() -> None:
    change = only(ORDERS, tool(description="Finds orders by words or customer. Newest first."))

    assert (change.how, change.breaks) == ("changed", [])
    assert change.other == ["the description differs (36 → 48 characters)"]
    assert (change.before, change.now) == (
        "Finds orders by words. Newest first.",
        "Finds orders by words or customer. Newest first.",
    )


def test_descriptions_of_arguments__are_words_too() -> None:
    described = with_properties(["query"], query={**TEXT, "description": "Words of the order"}, limit=LIMIT)
    change = only(ORDERS, tool(inputSchema=described))

    assert change.breaks == []
    assert change.other == ["words about its arguments differ"]
    assert change.now.endswith("\nquery: Words of the order")


def test_hints__are_said_and_break_nothing() -> None:
    change = only(tool(annotations={"readOnlyHint": True}), tool(annotations={"readOnlyHint": False}))

    assert change.other == ["the annotation `readOnlyHint`: `true` → `false`"]
    assert not change.breaking


@pytest.mark.parametrize(
    ("before", "now", "breaks", "other"),
    [
        (with_properties(a=TEXT), with_properties(), ["the argument `a` is gone"], []),
        (with_properties(), with_properties(a=TEXT), [], ["optional argument `a` is new"]),
        (with_properties(), with_properties(["a"], a=TEXT), ["required argument `a` is new"], []),
        (with_properties(a=TEXT), with_properties(["a"], a=TEXT), ["`a` is required now"], []),
        (with_properties(["a"], a=TEXT), with_properties(a=TEXT), [], ["`a` is optional now"]),
        (
            with_properties(a={"type": "number"}),
            with_properties(a={"type": "integer"}),
            ["`a` takes integer now, not number"],
            [],
        ),
        (
            with_properties(a={"type": "integer"}),
            with_properties(a={"type": "number"}),
            [],
            ["`a` takes number now, before integer"],
        ),
        (
            with_properties(a=TEXT),
            with_properties(a={"type": ["string", "null"]}),
            [],
            ["`a` takes null or string now, before string"],
        ),
        (with_properties(a={}), with_properties(a=TEXT), ["`a` takes string now, not any value"], []),
        (
            with_properties(a={"enum": ["x", "y"]}),
            with_properties(a={"enum": ["y", "z"]}),
            ['`a` no longer takes `"x"`'],
            ['`a` also takes `"z"`'],
        ),
        (with_properties(a={}), with_properties(a={"const": 1}), ["`a` takes only `1` now"], []),
        (with_properties(a={"enum": [1]}), with_properties(a={}), [], ["`a` isn't limited to certain values any more"]),
        (
            with_properties(a={"maximum": 50}),
            with_properties(a={"maximum": 10}),
            ["`maximum` of `a`: `50` → `10`"],
            [],
        ),
        (
            with_properties(a={"minLength": 3}),
            with_properties(a={"minLength": 1}),
            [],
            ["`minLength` of `a`: `3` → `1`"],
        ),
        (with_properties(a={}), with_properties(a={"maxItems": 3}), ["`maxItems` of `a`: is new"], []),
        (with_properties(a={"maxItems": 3}), with_properties(a={}), [], ["`maxItems` of `a`: is gone"]),
        (
            with_properties(),
            {**with_properties(), "additionalProperties": False},
            ["the tool takes no other arguments now"],
            [],
        ),
        (
            with_properties(a={"pattern": "^a"}),
            with_properties(a={"pattern": "^b"}),
            ["`pattern` of `a` is another now"],
            [],
        ),
        (
            with_properties(a={"anyOf": [{**TEXT, "minLength": 1}, {"type": "null"}]}),
            with_properties(a={"anyOf": [LIMIT, {"type": "null"}]}),
            [],
            ["`a` changed (`anyOf`); whether calls break isn't known"],
        ),
        (with_properties(a={"default": 1}), with_properties(a={"default": 2}), [], ["the default of `a`: `1` → `2`"]),
        (
            with_properties(a={"items": {"properties": {"b": TEXT}}}),
            with_properties(a={"items": {"properties": {"b": LIMIT}}}),
            [
                "`a[].b` takes integer now, not string",
                "`maximum` of `a[].b`: is new",
                "`minimum` of `a[].b`: is new",
            ],
            [],
        ),
        (with_properties(a={"description": "x"}), with_properties(a={"description": "y"}), [], []),
        # as the generators of several SDKs write the same
        (
            with_properties(a=TEXT),
            with_properties(a={"anyOf": [TEXT, {"type": "null"}], "default": None}),
            [],
            NULL_TOO,
        ),
        (
            with_properties(a={"anyOf": [TEXT, {"type": "null"}]}),
            with_properties(a={"type": ["string", "null"]}),
            [],
            [],
        ),
        (
            with_properties(a={"oneOf": [{"const": "x"}, {"const": "y"}]}),
            with_properties(a={"enum": ["x", "y"]}),
            [],
            [],
        ),
        (with_properties(a={"enum": ["x"]}), with_properties(a={"enum": ["x"], "type": "string"}), [], []),
        (with_properties(a={}), with_properties(a={"minLength": 0}), [], []),
        (
            with_properties(a={"type": "integer", "minimum": 1}),
            with_properties(a={"type": "integer", "exclusiveMinimum": 0}),
            [],
            [],
        ),
        (
            with_properties(a=TEXT),
            {**with_properties(a={"$ref": "#/$defs/Kind"}), "$defs": {"Kind": {"type": "string", "enum": ["x", "y"]}}},
            ['`a` takes only `"x"`, `"y"` now'],
            [],
        ),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, {"$ref": "#/$defs/B"}, [], UNKNOWN_REF),
        # arguments that no property names
        (with_others(TEXT), with_others(LIMIT_OF_NONE), ["`*` takes integer now, not string"], []),
        (with_properties(), with_others(TEXT), ["other arguments of the tool must fit a schema now"], []),
        (with_others(True), with_others(TEXT), ["other arguments of the tool must fit a schema now"], []),
        (with_others(TEXT), with_properties(), [], ["other arguments of the tool may be anything now"]),
        (with_properties(), with_properties(["x"]), ["`x` is required now"], []),
        (with_properties(a=TEXT), with_properties(a=False), ["`a` is not taken any more"], []),
        (
            with_properties(a={"items": [TEXT]}),
            with_properties(a={"items": [TEXT, TEXT]}),
            [],
            ["`a` changed (`items`); whether calls break isn't known"],
        ),
    ],
)
def test_arguments(before: dict[str, Any], now: dict[str, Any], breaks: list[str], other: list[str]) -> None:
    found = list(argument_changes(before, now))

    assert [each.text for each in found if each.breaks] == breaks
    assert [each.text for each in found if not each.breaks] == other


@pytest.mark.parametrize(
    ("before", "now", "breaks"),
    [
        (None, with_properties(a=TEXT), False),
        (with_properties(a=TEXT), None, True),
        (with_properties(["a"], a=TEXT), with_properties(), True),
        (with_properties(["a"], a=TEXT), with_properties(a=TEXT), True),
        (with_properties(a=TEXT), with_properties(["a"], a=TEXT), False),
        (with_properties(["a"], a=TEXT), with_properties(["a", "b"], a=TEXT, b=TEXT), False),
        (with_properties(["a"], a=TEXT), with_properties(["a"], a={"type": "integer"}), True),
        (with_properties(["a"], a=LIMIT_OF_NONE), with_properties(["a"], a={"type": "number"}), True),
        (
            with_properties(["a"], a={"type": "array", "items": with_properties(["id"], id=TEXT)}),
            with_properties(["a"], a={"type": "array", "items": with_properties()}),
            True,
        ),
    ],
)
def test_results(before: Any, now: Any, *, breaks: bool) -> None:
    (change,) = result_changes(before, now)

    assert change.breaks is breaks


def test_results__of_the_same_form_are_no_change() -> None:
    assert not list(result_changes(with_properties(a=TEXT), {**with_properties(a=TEXT), "title": "Answer"}))


@pytest.mark.parametrize("odd", [True, False, None, 3, "x", [], {"properties": 1, "required": "a", "type": 7}])
def test_what_is_no_schema__is_compared_all_the_same(odd: Any) -> None:
    for each in [*argument_changes(odd, ORDERS["inputSchema"]), *argument_changes(ORDERS["inputSchema"], odd)]:
        assert each.text
    assert not list(argument_changes(odd, odd))


def test_a_schema_that_is_nested_deeply__ends() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}}

    assert [each.text for each in argument_changes(deep, {})]


def test_a_name_that_holds_marks__ends_no_code() -> None:
    (change,) = argument_changes({"type": "object", "properties": {"a`<b>\u0000": TEXT}}, with_properties())

    assert change.text.count("`") == 2


@pytest.mark.parametrize(
    "description",
    [
        None,
        "Plain.",
        'It says\n\nInput schema:\n{"type": "object"}\n\nand more',
        "Two\n\n\n\nparagraphs\n",
        "[12 more characters]",
    ],
)
def test_a_tool_as_text__can_be_read_again(description: str | None) -> None:
    tool = CatalogueTool.model_validate(
        {
            **ORDERS,
            "description": description,
            "title": "Orders",
            "outputSchema": with_properties(a=TEXT),
            "annotations": {"readOnlyHint": True, "note": "a\n\nb"},
        }
    )

    assert read_tool_text(tool.name, tool_text(tool)) == tool


@pytest.mark.parametrize("text", ["", "words", "x\n\nInput schema:\n{", "x\n\nInput schema:\n{}\n\nOther:\n1\n"])
def test_another_text__is_no_tool(text: str) -> None:
    assert read_tool_text("a", text) is None


def test_a_text_that_isnt_kept__is_unread_and_not_unchanged() -> None:
    before, now = dict(parts(ORDERS, STOCK)), parts(tool(description="Another."), STOCK)
    before["tool:search_orders"] = before["tool:search_orders"]._replace(text=None)

    found = surface_change(before, now)

    assert found is not None
    (change,) = found.changes
    assert (change.how, change.unread, change.breaks) == ("changed", True, [])
    assert found.tokens_before is None
    assert found.tokens_now is not None


def test_a_text_that_isnt_that_of_its_hash__is_dropped() -> None:
    made = subject_of(catalogue(ORDERS), [], "Be brief.", None)
    forged = dict.fromkeys(made.texts, tool_text(CatalogueTool.model_validate(STOCK)))

    assert {each.text for each in part_texts(Subject(hash="h", **made.parts), forged).values()} == {None}


def test_very_many_changes__are_counted_and_bounded() -> None:
    many = [tool(name=f"tool_{number}") for number in range(300)]
    found = changed(many, [{**each, "description": f"{number}"} for number, each in enumerate(many)])

    assert (found.total, len(found.changes)) == (300, MOST_PIECES)

    wide = {"type": "object", "properties": {f"a{number}": TEXT for number in range(500)}}
    change = only(tool(inputSchema=wide), tool(inputSchema=with_properties()))
    assert len(change.breaks) == MOST_FACTS
    assert change.breaks[-1] == f"and {500 - MOST_FACTS + 1} more"


def test_the_order_of_tools__changes_nothing_of_what_is_said() -> None:
    before = [ORDERS, STOCK, tool(name="a"), tool(name="b", description="Another one")]
    now = [tool(name="c"), STOCK, tool(name="search_orders", description="Words"), tool(name="d")]
    first = changed(before, now)
    dice = random.Random(7)
    for _ in range(5):
        dice.shuffle(before)
        dice.shuffle(now)
        assert changed(before, now) == first
