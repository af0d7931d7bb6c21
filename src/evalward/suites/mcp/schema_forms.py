"""JSON Schemas brought into one form, so that what means the same is equal: refs followed, unions of types joined."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_DEEPEST = 16
_MOST_NODES = 5_000  # of one schema, references followed
_NOTHING_SAID = frozenset({"minLength", "minItems", "minProperties"})  # where they are 0
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
ANY_TYPE = frozenset(_TYPES)
WORDS = frozenset(
    {"description", "title", "examples", "$schema", "$id", "$comment", "deprecated", "$defs", "definitions"}
)
"""What judges no value."""
_UNIONS = ("anyOf", "oneOf")


def canonical_of(value: Any) -> str:
    """A JSON value as one text: equal for equal values, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def one_form(schema: Any) -> Any:
    """The schema with its references to itself followed and each part in its simplest form; `False` takes nothing."""
    return _Forms(schema if isinstance(schema, dict) else {}).of(schema, 0)


class _Forms:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root, self._left = root, _MOST_NODES

    def of(self, schema: Any, depth: int) -> Any:
        if schema is False:
            return False
        if not isinstance(schema, dict):
            return {}
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return schema
        schema = self._followed(schema)
        made = {key: value for key, value in schema.items() if key not in _NOTHING_SAID or value != 0}
        for key in ("items", "additionalProperties"):
            if isinstance(made.get(key), dict):
                made[key] = self.of(made[key], depth + 1)
        if isinstance(made.get("properties"), dict):
            made["properties"] = {name: self.of(each, depth + 1) for name, each in made["properties"].items()}
        for key in _UNIONS:
            if isinstance(made.get(key), list):
                made[key] = [self.of(each, depth + 1) for each in made[key]]
                made = _joined(made, key)
        return _bounded(made)

    def _followed(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Without `$ref`, as far as it names a definition of this schema; what stands next to it counts, too."""
        made = dict(schema)
        for _ in range(_DEEPEST):
            name = made.get("$ref")
            target = self._named(name) if isinstance(name, str) else None
            if target is None:
                break
            made = {**target, **{key: value for key, value in made.items() if key != "$ref"}}
        return made

    def _named(self, reference: str) -> Mapping[str, Any] | None:
        if not reference.startswith("#/"):
            return None
        found: Any = self._root
        for part in reference[2:].split("/"):
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else None


def _joined(schema: dict[str, Any], key: str) -> dict[str, Any]:
    """A union of plain types as one list of types, a union of values as one `enum`; any other as it is."""
    options: Sequence[Any] = schema[key]
    if not options or any(not isinstance(each, dict) for each in options) or {"type", "enum", "const"} & schema.keys():
        return schema
    rest = {name: value for name, value in schema.items() if name != key}
    said = [{name: value for name, value in each.items() if name not in WORDS} for each in options]
    if all(each.keys() == {"type"} for each in said):
        return {**rest, "type": sorted({name for each in said for name in type_list(each)})}
    values = [values_of(each) for each in said]
    if all(each.keys() <= {"type", "enum", "const"} for each in said) and all(each is not None for each in values):
        return {**rest, "enum": [value for each in values for value in each or []]}
    return schema


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """Bounds of whole numbers without `exclusive…`: above 0 is from 1."""
    if type_list(schema) != ["integer"]:
        return schema
    made = dict(schema)
    for key, other, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        bound = made.get(key)
        if isinstance(bound, int) and not isinstance(bound, bool) and other not in made:
            made[other] = made.pop(key) + step
    return made


def type_list(schema: Mapping[str, Any]) -> list[str]:
    """The types that the schema names, if any."""
    value = schema.get("type")
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [each for each in names if isinstance(each, str)]


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types of the values that a schema takes: those that it names, else those of its values, else any."""
    named = frozenset(type_list(schema))
    if named:
        return named
    values = values_of(schema)
    return frozenset(map(_type_of, values)) if values else ANY_TYPE


def values_of(schema: Mapping[str, Any]) -> list[Any] | None:
    """The only values that a schema takes (`enum` or `const`); `None` where any may be given."""
    if "const" in schema:
        return [schema["const"]]
    value = schema.get("enum")
    return list(value) if isinstance(value, list) else None


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names = ((float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def words_of(schema: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """What a schema says to readers, by the path of what it is about: descriptions, titles, examples."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    if path:
        for key in ("title", "description"):
            if isinstance(schema.get(key), str):
                yield path, schema[key]
    if isinstance(schema.get("examples"), list):
        yield f"{path} examples".strip(), canonical_of(schema["examples"])
    for name, inner in properties_of(schema).items():
        yield from words_of(inner, f"{path}.{name}" if path else name, depth + 1)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        yield from words_of(schema.get(key), f"{path}{mark}", depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for option in schema[key] if isinstance(schema.get(key), list) else ():
            yield from words_of(option, path or "(any)", depth + 1)


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schemas of the named properties."""
    value = schema.get("properties")
    return value if isinstance(value, dict) else {}


def required_of(schema: Mapping[str, Any]) -> set[str]:
    """The names of the properties that have to be there."""
    value = schema.get("required")
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()
