"""The jsonschema library with bounds: RE2 for patterns, a limit to size, depth and steps, no reference to elsewhere.

Only `validity` loads this, when arguments are checked. Of a schema whose patterns RE2 doesn't take, or that is endless,
nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import jsonschema
import referencing
from jsonschema.exceptions import ValidationError
from referencing.exceptions import Unresolvable

from evalward.records.base import canonical, why_of
from evalward.suites.re2_pattern import compiled

MOST_PARTS = 20_000
"""Values in the arguments of one call."""
MOST_IN_SCHEMA = 5_000
"""Values in one schema: the library takes 0.2 ms for each, once."""
MOST_DEPTH = 60
"""Levels of one schema, or of the arguments of one call: each takes several calls of the library."""
MOST_STEPS = 100_000
"""Keywords of one validation that are looked at, with the values that they compare and the text that they write."""
_CHARACTERS_A_STEP = 1_000
_LONGEST = 160  # characters of a message: it may hold all that it is about
_CLASSES = (
    jsonschema.Draft202012Validator,
    jsonschema.Draft201909Validator,
    jsonschema.Draft7Validator,
    jsonschema.Draft6Validator,
    jsonschema.Draft4Validator,
)
_COMPARING = ("const", "enum", "uniqueItems")
"""Keywords that look at all of a value by themselves."""


@dataclass
class _Steps:
    """What is left of one validation, and what each error takes of it: its message holds what it is about."""

    error: int
    left: int = MOST_STEPS

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise SchemaUnusableError("the schema takes too many steps to judge")


_steps: ContextVar[_Steps] = ContextVar("_steps")


class SchemaUnusableError(Exception):
    """A schema that can't judge arguments; `why` says in words why not."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True)
class PreparedSchema:
    """A schema that may judge arguments."""

    validator: Any

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments, `None` where they fit. Raises `SchemaUnusableError`."""
        if _measure(arguments) is None:
            raise SchemaUnusableError(f"the arguments are nested too deeply or have more than {MOST_PARTS:,} parts")
        error = _first(self.validator, arguments)
        return None if error is None else _in_words(error)


def prepared(schema: Mapping[str, Any]) -> PreparedSchema:
    """The schema, ready to judge. Raises `SchemaUnusableError`."""
    if (_measure(schema) or MOST_PARTS) > MOST_IN_SCHEMA:
        raise SchemaUnusableError(f"the schema is nested too deeply or has more than {MOST_IN_SCHEMA:,} parts")
    dialect = _dialect(schema)
    if _has_key(schema, "patternProperties") and _has_key(schema, "unevaluatedProperties"):
        raise SchemaUnusableError("the schema has both patternProperties and unevaluatedProperties")
    problem = _first(_meta(dialect), schema)
    if problem is not None:
        raise SchemaUnusableError(f"the schema is not valid JSON Schema: {_in_words(problem)}")
    return PreparedSchema(_bounded(dialect)(schema, registry=referencing.Registry()))


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a schema by draft 2020-12, whatever `$schema` it names; `None` where nothing is.

    Raises `SchemaUnusableError` for one that takes too many steps to look at.
    """
    error = _first(_meta(jsonschema.Draft202012Validator), schema)
    return None if error is None else _in_words(error)


@cache
def _meta(dialect: Any) -> Any:
    """What judges schemas of a dialect."""
    return _bounded(dialect)(dialect.META_SCHEMA, registry=referencing.Registry())


def _first(validator: Any, instance: Any) -> ValidationError | None:
    """The first problem. Whatever else goes wrong lies in the schema."""
    token = _steps.set(_Steps(error=1 + len(repr(instance)) // _CHARACTERS_A_STEP))
    try:
        return next(validator.iter_errors(instance), None)
    except SchemaUnusableError:
        raise
    except Unresolvable as error:
        refers = str(error.ref)[:_LONGEST]
        raise SchemaUnusableError(f"the schema refers to {refers!r}, which it doesn't hold itself") from error
    except RecursionError as error:
        raise SchemaUnusableError("the schema is nested too deeply, or refers to itself without an end") from error
    except Exception as error:  # the library trusts schemas: an odd one may make it raise anything
        raise SchemaUnusableError(f"the schema can't be used: {why_of(error)}") from error
    finally:
        _steps.reset(token)


def _in_words(error: ValidationError) -> str:
    """The place and the problem."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    message = str(error.message)
    if len(message) > _LONGEST:
        message = f"it does not fit the schema's {error.validator}"
    return f"{path.removeprefix('.')}: {message}" if path else message


# --- what is looked at beforehand -----------------------------------------------------------------------------------


def _measure(value: Any) -> int | None:
    """How many values there are; `None` beyond the bounds."""
    parts, level = 0, [value]
    for _ in range(MOST_DEPTH + 1):
        parts += len(level)
        if parts > MOST_PARTS:
            return None
        if not level:
            return parts
        level = list(chain.from_iterable(map(_inner, level)))
    return None


def _inner(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _dialect(schema: Mapping[str, Any]) -> Any:
    named = schema.get("$schema")
    if named is None:
        return jsonschema.Draft202012Validator
    known = {_uri(each.META_SCHEMA.get("$id") or each.META_SCHEMA.get("id")): each for each in _CLASSES}
    found = known.get(_uri(named))
    if found is None:
        raise SchemaUnusableError(f"the schema is of a dialect that isn't known: {str(named)[:_LONGEST]!r}")
    return found


def _uri(name: Any) -> str:
    """The name of a dialect, as it is compared: with `https:` and `#` at the end it is the same one."""
    return str(name).removesuffix("#").removeprefix("https:").removeprefix("http:")


def _has_key(value: Any, key: str) -> bool:
    if isinstance(value, dict) and key in value:
        return True
    return any(_has_key(each, key) for each in _inner(value))


# --- the keywords ---------------------------------------------------------------------------------------------------


_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


@cache
def _bounded(dialect: Any) -> Any:
    """The library's class for a dialect, each of whose keywords counts its steps, with RE2 in place of `re`."""
    validators: Any = jsonschema.validators
    own = {name: keyword for name, keyword in _OWN.items() if name in dialect.VALIDATORS}
    keywords = {**dialect.VALIDATORS, **own}
    bounded = validators.extend(dialect, {name: _counted(name, keyword) for name, keyword in keywords.items()})
    fields = [field for field in bounded.__attrs_attrs__ if field.init]

    def evolve(self: Any, **changes: Any) -> Any:
        return bounded(**{field.alias: getattr(self, field.name) for field in fields} | changes)

    bounded.evolve = evolve  # the library's own leaves the bounds behind where a schema names its dialect
    return bounded


def _counted(name: str, keyword: _Keyword) -> _Keyword:
    compares = name in _COMPARING

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        steps = _steps.get()
        steps.take((_measure(value) or 0) + (_measure(instance) or 0) if compares else _cost(value, instance))
        for error in keyword(validator, value, instance, schema) or ():
            steps.take(steps.error)
            yield error

    return checked


def _cost(value: Any, instance: Any) -> int:
    """About how much a keyword looks at by itself: what it is made of, and what it is held against."""
    text = len(instance) // _CHARACTERS_A_STEP if isinstance(instance, str) else 0
    return 1 + len(_inner(value)) + len(_inner(instance)) + text


def _found(pattern: Any, text: str) -> bool:
    try:
        return compiled(pattern).search(text) is not None
    except ValueError as error:
        raise SchemaUnusableError(f"a pattern of the schema can't be used: {error}") from error


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in properties or any(_found(pattern, name) for pattern in patterns):
            continue
        if allowed is False:
            yield ValidationError(f"the argument {name!r} is not known")
        else:
            yield from validator.descend(value, allowed, path=name)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
    if wanted and isinstance(instance, list) and len({_key(each) for each in instance}) < len(instance):
        yield ValidationError("an item stands in the list twice")


def _key(value: Any) -> str:
    """The same for equal JSON values alone."""
    return canonical(_numbers(value))


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_OWN: Mapping[str, _Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
