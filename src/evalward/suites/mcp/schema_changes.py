"""From one JSON Schema of a tool's arguments, or of its result, to another: what breaks, and what doesn't.

A change of the arguments breaks when calls that were valid before may not be valid now; a change of the result, when
something that a caller could rely on isn't promised any more. Words that aren't understood here are named, not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from evalward.records.base import clean_text
from evalward.suites.mcp.schema_forms import (
    ANY_TYPE,
    WORDS,
    canonical_of,
    one_form,
    properties_of,
    required_of,
    types_of,
    values_of,
)

_DEEPEST = 12
_LONGEST_VALUE = 60  # characters of a value that is quoted
_LOWEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_HIGHEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_COMPARED = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", "default", "pattern", "format"}
)
_UNDERSTOOD = WORDS | _LOWEST | _HIGHEST | _COMPARED

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class SchemaChange:
    """One difference in words, and whether it breaks."""

    text: str
    breaks: bool = False


def argument_changes(before: Any, now: Any) -> Iterator[SchemaChange]:
    """What differs in the schema of a tool's arguments."""
    yield from _part(one_form(before), one_form(now), "", 0)


def result_changes(before: Any, now: Any) -> Iterator[SchemaChange]:
    """What differs in the schema of a tool's result; `None` where a side promises none."""
    if before is None or now is None:
        if before is not None:
            yield SchemaChange("the form of the result isn't promised any more (no output schema)", breaks=True)
        elif now is not None:
            yield SchemaChange("the form of the result is promised now (output schema)")
        return
    old, new = one_form(before), one_form(now)
    promised, kept = (dict(_promised(each, "", 0)) for each in (old, new))
    broken = [path for path in sorted(promised) if path not in kept or not kept[path] <= promised[path]]
    for path in broken:
        if path in kept:
            text = (
                f"{_code(path)} of the result is {_alternatives(kept[path])} now, not {_alternatives(promised[path])}"
            )
        else:
            text = f"the result has {_code(path)} no longer, or not always"
        yield SchemaChange(text, breaks=True)
    if not broken and _asserted(old) != _asserted(new):
        yield SchemaChange("the output schema changed otherwise; whether callers break isn't known")


def _promised(schema: Any, path: str, depth: int) -> Iterator[tuple[str, frozenset[str]]]:
    """The paths of what every result has, with their types."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    for name in required_of(schema):
        inner = properties_of(schema).get(name, {})
        yield _join(path, name), types_of(inner) if isinstance(inner, dict) and not _opaque(inner) else ANY_TYPE
        yield from _promised(inner, _join(path, name), depth + 1)
    yield from _promised(schema.get("items"), f"{path}[]", depth + 1)


def _part(before: Any, now: Any, path: str, depth: int) -> Iterator[SchemaChange]:
    """One part of both sides, in one form."""
    if _asserted(before) == _asserted(now):
        return
    if before is False or now is False:
        taken = "is not taken any more" if now is False else "is taken now"
        yield SchemaChange(f"{_what(path)} {taken}", breaks=now is False)
    elif depth > _DEEPEST or _opaque(before) or _opaque(now):
        yield SchemaChange(f"{_what(path)} changed{_by(before, now)}; whether calls break isn't known")
    else:
        yield from _values(before, now, path)
        yield from _bounds(before, now, path)
        yield from _texts(before, now, path)
        yield from _arguments(before, now, path, depth)
        if "items" in before or "items" in now:
            yield from _part(before.get("items", {}), now.get("items", {}), f"{path}[]", depth + 1)


def _opaque(schema: Schema) -> bool:
    """Whether a part uses words that are not compared one by one."""
    return not schema.keys() <= _UNDERSTOOD or isinstance(schema.get("items"), list)


def _by(before: Schema, now: Schema) -> str:
    """In which words, where these are few."""
    differ = [
        key
        for key in sorted((before.keys() | now.keys()) - WORDS)
        if canonical_of(before.get(key)) != canonical_of(now.get(key))
    ]
    return f" ({', '.join(_code(key) for key in differ)})" if 0 < len(differ) <= 3 else ""


def _arguments(before: Schema, now: Schema, path: str, depth: int) -> Iterator[SchemaChange]:
    old, new = properties_of(before), properties_of(now)
    was_needed, needed = required_of(before), required_of(now)
    for name in sorted(old.keys() - new.keys()):
        yield SchemaChange(f"the argument {_code(_join(path, name))} is gone", breaks=True)
    for name in sorted(new.keys() - old.keys()):
        must = name in needed
        yield SchemaChange(
            f"{'required' if must else 'optional'} argument {_code(_join(path, name))} is new",
            breaks=must and name not in was_needed,
        )
    for name in sorted((needed ^ was_needed) - (old.keys() ^ new.keys())):
        must = name in needed
        yield SchemaChange(f"{_code(_join(path, name))} is {'required' if must else 'optional'} now", breaks=must)
    for name in sorted(old.keys() & new.keys()):
        yield from _part(old[name], new[name], _join(path, name), depth + 1)
    yield from _other_arguments(before, now, path, depth)


def _other_arguments(before: Schema, now: Schema, path: str, depth: int) -> Iterator[SchemaChange]:
    """Arguments that no property names: none, any, or those that fit a schema."""
    old, new = (_others_of(each) for each in (before, now))
    if old is False or new is False:
        if old is not new:
            what = "no" if new is False else "any" if new == {} else "certain"
            yield SchemaChange(f"{_what(path)} takes {what} other arguments now", breaks=new is False)
    elif old == {} and _asserted(new) != _asserted({}):
        yield SchemaChange(f"other arguments of {_what(path)} must fit a schema now", breaks=True)
    elif new == {} and _asserted(old) != _asserted({}):
        yield SchemaChange(f"other arguments of {_what(path)} may be anything now")
    else:
        yield from _part(old, new, _join(path, "*"), depth + 1)


def _others_of(schema: Schema) -> Any:
    value = schema.get("additionalProperties", {})
    return value if value is False or isinstance(value, dict) else {}


def _values(before: Schema, now: Schema, path: str) -> Iterator[SchemaChange]:
    """Types and values that are taken."""
    was, are = (None if each is None else list(map(canonical_of, each)) for each in map(values_of, (before, now)))
    if was == are:
        yield from _types(before, now, path)
    elif are is None:
        yield from list(_types(before, now, path, widened=False)) or [
            SchemaChange(f"{_what(path)} isn't limited to certain values any more")
        ]
    elif was is None:
        yield SchemaChange(f"{_what(path)} takes only {_listed(are)} now", breaks=True)
    else:
        if gone := [value for value in was if value not in are]:
            yield SchemaChange(f"{_what(path)} no longer takes {_listed(gone)}", breaks=True)
        if come := [value for value in are if value not in was]:
            yield SchemaChange(f"{_what(path)} also takes {_listed(come)}")


def _types(before: Schema, now: Schema, path: str, *, widened: bool = True) -> Iterator[SchemaChange]:
    """Types that are taken no longer; `widened`: also those that are taken now."""
    old, new = types_of(before), types_of(now)
    lost = sorted(old - new - ({"integer"} if "number" in new else set()))
    if lost:
        said = "any value" if old == ANY_TYPE else " and ".join(lost)
        yield SchemaChange(f"{_what(path)} takes {_alternatives(new)} now, not {said}", breaks=True)
    elif widened and old != new:
        yield SchemaChange(f"{_what(path)} takes {_alternatives(new)} now, before {_alternatives(old)}")


def _bounds(before: Schema, now: Schema, path: str) -> Iterator[SchemaChange]:
    for key in sorted((_LOWEST | _HIGHEST) & (before.keys() | now.keys())):
        old, new = before.get(key), now.get(key)
        if _is_number(old) and _is_number(new):
            if old != new:
                tighter = new > old if key in _LOWEST else new < old
                yield SchemaChange(f"{_code(key)} of {_what(path)}: {_value(old)} → {_value(new)}", breaks=tighter)
        elif old != new:
            said = "is new" if old is None else "is gone" if new is None else f"{_value(old)} → {_value(new)}"
            yield SchemaChange(f"{_code(key)} of {_what(path)}: {said}", breaks=new is not None)


def _texts(before: Schema, now: Schema, path: str) -> Iterator[SchemaChange]:
    """Patterns, formats and defaults."""
    for key in ("pattern", "format"):
        if before.get(key) != now.get(key):
            said = "is gone" if key not in now else "is new" if key not in before else "is another now"
            yield SchemaChange(f"{_code(key)} of {_what(path)} {said}", breaks=key in now)
    if canonical_of(before.get("default")) != canonical_of(now.get("default")):
        moved = f"{_value(before.get('default'))} → {_value(now.get('default'))}"
        yield SchemaChange(f"the default of {_what(path)}: {moved}")


def _asserted(schema: Any) -> str:
    """What a schema in one form says of values, as text: equal for equal schemas."""
    return canonical_of(_without_words(schema, 0))


def _without_words(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > 2 * _DEEPEST:
        return schema
    made = {key: value for key, value in schema.items() if key not in WORDS}
    for key in ("items", "additionalProperties"):
        made = {**made, key: _without_words(made[key], depth + 1)} if key in made else made
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: _without_words(each, depth + 1) for name, each in made["properties"].items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(made.get(key), list):
            made[key] = [_without_words(each, depth + 1) for each in made[key]]
    if isinstance(made.get("required"), list):
        made["required"] = sorted(map(str, made["required"]))
    return made


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alternatives(names: frozenset[str]) -> str:
    return "any value" if names == ANY_TYPE else " or ".join(sorted(names))


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
