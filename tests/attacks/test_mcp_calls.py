"""What models send as calls, and what servers declare as schemas: a trial is judged and written down all the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalward.records.result import Result
from evalward.suites.mcp.attempts import attempted
from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool
from evalward.suites.mcp.details import LONGEST_KEPT, MOST_KEPT, McpDetails
from evalward.suites.mcp.findings import interpret
from evalward.suites.mcp.kind import MCP
from evalward.suites.mcp.validity import ArgumentSchemas
from support.hostile import EVERYTHING, SNIPPETS
from support.mcp_calls import mcp_case, mcp_result
from support.mcp_reports import mcp_run

KEYWORDS = (
    *("type", "properties", "required", "items", "enum", "const", "pattern", "patternProperties", "allOf", "anyOf"),
    *("not", "if", "then", "$ref", "$defs", "$schema", "$id", "$dynamicRef", "additionalProperties", "minLength"),
    *("unevaluatedProperties", "dependentSchemas", "uniqueItems", "multipleOf", "contains", "propertyNames", "default"),
)
texts = st.one_of(st.sampled_from([*SNIPPETS, EVERYTHING, "#", "#/", "^(a+)+$", "object", "text"]), st.text(max_size=8))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.sampled_from([10**400, -(2**70), 1e308, "\ud800"])
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
schemas = st.recursive(
    st.one_of(scalars, st.just({"type": "object"}), st.just({"$ref": "#"})),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)),
    max_leaves=15,
).filter(lambda value: isinstance(value, dict))
CASE = mcp_case({"tool": "echo", "args": {"text": "tulip"}}, "echo", forbid=["drop"], mode="run")


def catalogue_of(schema: dict[str, Any]) -> Catalogue:
    """A server with one tool, whose schema nothing has checked."""
    tool = CatalogueTool.model_construct(
        name="echo", title=None, description=None, input_schema=schema, output_schema=None, annotations=None
    )
    return Catalogue.model_construct(server="shop", tools=(tool,), instructions=None, protocol=None)


def written(result: Result) -> McpDetails:
    """The details, as a report has them and reads them again."""
    read = Result.model_validate_json(result.model_dump_json()).details
    assert isinstance(read, McpDetails)
    return read


@given(schemas, st.lists(values, max_size=3), texts)
@settings(max_examples=150)
def test_any_schema_and_any_arguments_end_in_a_verdict(schema: dict[str, Any], sent: list[Any], word: str) -> None:
    catalogue = catalogue_of(schema)
    found = catalogue.tools[0], ArgumentSchemas(catalogue)
    calls = [*(attempted("echo", each, found) for each in sent), attempted(word, sent, None)]
    assert all(call.valid is False for call, each in zip(calls, sent, strict=False) if not isinstance(each, dict))
    result = mcp_result(CASE, *calls)
    assert written(result).total == len(calls)
    shown = [MCP.evidence(result), MCP.trial_text(result), MCP.trial_sections(result, []), interpret([result])]
    assert all(part is not None for part in shown)
    assert MCP.sections(mcp_run([result]), None)


@pytest.mark.parametrize("text", ["x" * 300_000, '"' * 100_000, "\ud800" * 10_000])
def test_long_arguments_take_little_of_a_report(text: str) -> None:
    catalogue = catalogue_of({"type": "object", "properties": {"text": {"type": "string"}}})
    found = catalogue.tools[0], ArgumentSchemas(catalogue)
    calls = [attempted("echo", given, found) for given in ({"text": text}, text, {text: 1})] * 100
    result = mcp_result(CASE, *calls, *(attempted(text, {}, None) for _ in range(10)))
    kept = written(result)
    assert (kept.total, kept.unknown, len(kept.calls)) == (310, 10, MOST_KEPT)
    assert len(result.model_dump_json()) < 5 * MOST_KEPT * LONGEST_KEPT
