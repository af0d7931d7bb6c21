"""Schemas of answers, as both services want them: closed objects that require all their properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BOUNDS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "maxLength")
)


def schema_problem(schema: Any, forbidden: frozenset[str] = frozenset(), place: str = "()") -> str | None:
    """What is wrong with a schema first, `None` when nothing is. `forbidden`: keywords that the service has not."""
    if not isinstance(schema, Mapping):
        return f"In context={place}, schema must be an object."
    found = sorted(forbidden & set(schema))
    if found:
        return f"In context={place}, property '{found[0]}' is not supported."
    properties = schema.get("properties", {})
    if schema.get("type") == "object" or properties:
        if schema.get("additionalProperties") is not False:
            return f"In context={place}, 'additionalProperties' is required to be supplied and to be false."
        if set(properties) != set(schema.get("required", [])):
            return f"In context={place}, 'required' is required to be an array including every key in properties."
    inner = [*properties.values(), *([schema["items"]] if "items" in schema else [])]
    problems = (schema_problem(item, forbidden, f"{place}.{number}") for number, item in enumerate(inner))
    return next((problem for problem in problems if problem), None)
