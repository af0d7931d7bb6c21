"""Arguments that a tool's input schema asks for: what the target `oracle` fills expected calls up with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 8
_BY_TYPE: Mapping[str, Any] = {"string": "example", "integer": 1, "number": 1, "boolean": True, "null": None}


def filled(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with an example of each required one that they lack. It need not fit: a schema may be anything."""
    return _object(schema, schema, dict(arguments), _DEEPEST)


def _object(schema: Mapping[str, Any], whole: Mapping[str, Any], given: dict[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return given
    for name in required:
        inner = properties.get(name) if isinstance(name, str) else None
        if isinstance(name, str) and name not in given:
            given[name] = _example(inner, whole, depth - 1)
        elif isinstance(inner, dict) and isinstance(given.get(name), dict):
            given[name] = _object(_resolved(inner, whole), whole, dict(given[name]), depth - 1)
    return given


def _example(schema: Any, whole: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, dict) or depth <= 0:
        return _BY_TYPE["string"]
    schema = _resolved(schema, whole)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _example(schema[key][0], whole, depth - 1)
    return _of_type(schema, whole, depth)


def _of_type(schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or (kind is None and "properties" in schema):
        return _object(schema, whole, {}, depth)
    if kind == "array":
        least = schema.get("minItems", 0)
        return [
            _example(schema.get("items"), whole, depth - 1) for _ in range(min(least, 3) if _is_count(least) else 0)
        ]
    if kind in {"integer", "number"}:
        return next((schema[key] for key in ("minimum", "maximum") if _is_number(schema.get(key))), 1)
    if kind == "string" and _is_count(schema.get("minLength")):
        return "example".ljust(min(schema["minLength"], 1000), "e")
    return _BY_TYPE.get(kind, "example") if isinstance(kind, str) else "example"


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, or what its reference within the whole stands for."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        found: Any = whole
        for part in reference[2:].split("/"):
            found = found.get(part) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            return schema
        schema = found
    return schema


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
