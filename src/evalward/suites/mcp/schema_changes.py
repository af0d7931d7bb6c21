"""From one JSON Schema of a tool's arguments, or of its result, to another: what breaks, and what doesn't.

A change of the arguments breaks when calls that were valid before may not be valid now; a change of the result, when
something that a caller could rely on isn't promised any more. Words that aren't understood here are named, not judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from evalward.records.base import clean_text

_DEEPEST = 12
_LONGEST_VALUE = 60  # characters of a value that is quoted
_WORDS_ONLY = frozenset({"description", "title", "examples", "$schema", "$id", "$comment", "deprecated"})
_HANDLED = frozenset({"type", "enum", "const", "properties", "required", "additionalProperties", "items", "default"})
_LOWEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_HIGHEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


@dataclass(frozen=True)
class SchemaChange:
    """One difference in words, and whether it breaks."""

    text: str
    breaks: bool = False


def argument_changes(before: Any, now: Any) -> Iterator[SchemaChange]:
    """What differs in the schema of a tool's arguments."""
    yield from _changes(_schema(before), _schema(now), "", 0)


def result_changes(before: Any, now: Any) -> Iterator[SchemaChange]:
    """What differs in the schema of a tool's result; `None` where a side promises none."""
    if before is None or now is None:
        if before is not None:
            yield SchemaChange("the form of the result isn't promised any more (no output schema)", breaks=True)
        elif now is not None:
            yield SchemaChange("the form of the result is promised now (output schema)")
        return
    old, new = _schema(before), _schema(now)
    gone = sorted(_promised(old) - _promised(new))
    for path in gone:
        yield SchemaChange(f"the result has {_code(path)} no longer, or not always", breaks=True)
    if not gone and _asserted(old) != _asserted(new):
        yield SchemaChange("the output schema changed otherwise")


def _promised(schema: Mapping[str, Any], path: str = "", depth: int = 0) -> set[str]:
    """The paths of what every result has."""
    properties = _properties(schema)
    found: set[str] = set()
    for name in _required(schema) & properties.keys():
        inner = _join(path, name)
        found.add(inner)
        if depth < _DEEPEST:
            found |= _promised(_schema(properties[name]), inner, depth + 1)
    return found


def _changes(before: Mapping[str, Any], now: Mapping[str, Any], path: str, depth: int) -> Iterator[SchemaChange]:
    yield from _types(before, now, path)
    yield from _choices(before, now, path)
    yield from _bounds(before, now, path)
    yield from _others(before, now, path)
    if depth >= _DEEPEST:
        if _asserted(before) != _asserted(now):
            yield SchemaChange(f"{_what(path)} changed, deeper than is compared here")
        return
    yield from _arguments(before, now, path, depth)
    if "items" in before or "items" in now:
        yield from _changes(_schema(before.get("items")), _schema(now.get("items")), f"{path}[]", depth + 1)


def _arguments(before: Mapping[str, Any], now: Mapping[str, Any], path: str, depth: int) -> Iterator[SchemaChange]:
    old, new = _properties(before), _properties(now)
    was_needed, needed = _required(before), _required(now)
    for name in sorted(old.keys() - new.keys()):
        yield SchemaChange(f"the argument {_code(_join(path, name))} is gone", breaks=True)
    for name in sorted(new.keys() - old.keys()):
        must = name in needed
        yield SchemaChange(
            f"{'required' if must else 'optional'} argument {_code(_join(path, name))} is new", breaks=must
        )
    for name in sorted(old.keys() & new.keys()):
        inner = _join(path, name)
        if (name in needed) != (name in was_needed):
            yield SchemaChange(
                f"{_code(inner)} is {'required' if name in needed else 'optional'} now", breaks=name in needed
            )
        yield from _changes(_schema(old[name]), _schema(new[name]), inner, depth + 1)
    closed, was_closed = (side.get("additionalProperties") is False for side in (now, before))
    if closed != was_closed:
        yield SchemaChange(f"{_what(path)} takes {'no' if closed else 'any'} other arguments now", breaks=closed)


def _types(before: Mapping[str, Any], now: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    old, new = _type_names(before), _type_names(now)
    if old == new:
        return
    lost = sorted(old - new - ({"integer"} if "number" in new else set()))
    if lost:
        said = "any value" if old == set(_TYPES) else " and ".join(lost)
        yield SchemaChange(f"{_what(path)} takes {_alternatives(new)} now, not {said}", breaks=True)
    else:
        yield SchemaChange(f"{_what(path)} takes {_alternatives(new)} now, before {_alternatives(old)}")


def _choices(before: Mapping[str, Any], now: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    old, new = _values(before), _values(now)
    if old == new:
        return
    if new is None:
        yield SchemaChange(f"{_what(path)} isn't limited to certain values any more")
    elif old is None:
        yield SchemaChange(f"{_what(path)} takes only {_listed(new)} now", breaks=True)
    else:
        if gone := [value for value in old if value not in new]:
            yield SchemaChange(f"{_what(path)} no longer takes {_listed(gone)}", breaks=True)
        if come := [value for value in new if value not in old]:
            yield SchemaChange(f"{_what(path)} also takes {_listed(come)}")


def _bounds(before: Mapping[str, Any], now: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    for key in sorted((_LOWEST | _HIGHEST) & (before.keys() | now.keys())):
        old, new = before.get(key), now.get(key)
        if _is_number(old) and _is_number(new):
            if old != new:
                tighter = new > old if key in _LOWEST else new < old
                yield SchemaChange(f"{_code(key)} of {_what(path)}: {_value(old)} → {_value(new)}", breaks=tighter)
        elif old != new:
            said = "is new" if old is None else "is gone" if new is None else f"{_value(old)} → {_value(new)}"
            yield SchemaChange(f"{_code(key)} of {_what(path)}: {said}", breaks=new is not None)


def _others(before: Mapping[str, Any], now: Mapping[str, Any], path: str) -> Iterator[SchemaChange]:
    """Words of the schema that are not compared in detail: whether calls break is not known."""
    known = _WORDS_ONLY | _HANDLED | _LOWEST | _HIGHEST
    differ = [key for key in sorted({*before, *now} - known) if canonical_of(before.get(key)) != _text(now, key)]
    for key in differ:
        if key in {"pattern", "format"} and key in now:
            yield SchemaChange(f"{_code(key)} of {_what(path)} is another now, or new", breaks=True)
        else:
            yield SchemaChange(f"{_code(key)} of {_what(path)} changed; whether calls break isn't known")
    if "default" in before.keys() | now.keys() and canonical_of(before.get("default")) != _text(now, "default"):
        yield SchemaChange(
            f"the default of {_what(path)}: {_value(before.get('default'))} → {_value(now.get('default'))}"
        )


def canonical_of(value: Any) -> str:
    """A JSON value as one text: equal for equal values, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _text(schema: Mapping[str, Any], key: str) -> str:
    return canonical_of(schema.get(key))


def _asserted(schema: Mapping[str, Any]) -> str:
    return canonical_of({key: value for key, value in schema.items() if key not in _WORDS_ONLY})


def _schema(value: Any) -> Mapping[str, Any]:
    """A schema as a mapping: `false` takes nothing, `true` and what isn't a schema say nothing."""
    if value is False:
        return {"enum": []}
    return value if isinstance(value, dict) else {}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    value = schema.get("properties")
    return value if isinstance(value, dict) else {}


def _required(schema: Mapping[str, Any]) -> set[str]:
    value = schema.get("required")
    return {each for each in value if isinstance(each, str)} if isinstance(value, list) else set()


def _type_names(schema: Mapping[str, Any]) -> set[str]:
    value = schema.get("type")
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    known = {each for each in names if isinstance(each, str)}
    return known or set(_TYPES)


def _values(schema: Mapping[str, Any]) -> list[str] | None:
    """The values of an `enum` or `const`, each as JSON; `None` where any may be given."""
    if "const" in schema:
        return [canonical_of(schema["const"])]
    value = schema.get("enum")
    return [canonical_of(each) for each in value] if isinstance(value, list) else None


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alternatives(names: set[str]) -> str:
    return "any value" if names == set(_TYPES) else " or ".join(sorted(names))


def _listed(values: list[str]) -> str:
    shown = [_code(_short(value)) for value in values[:5]]
    more = f" and {len(values) - 5} more" if len(values) > len(shown) else ""
    return ", ".join(shown) + more if shown else "nothing"


def _value(value: Any) -> str:
    return "none" if value is None else _code(_short(canonical_of(value)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _join(path: str, name: str) -> str:
    name = _short(clean_text(name))
    return f"{path}.{name}" if path else name


def _what(path: str) -> str:
    return _code(path) if path else "the tool"


def _code(text: str) -> str:
    """The text in backticks, which sentences show as code; its own can't end them."""
    return f"`{text.replace('`', chr(39))}`"
