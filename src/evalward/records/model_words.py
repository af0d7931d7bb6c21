"""pydantic's errors about what people wrote, or a program left, in people's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evalward.records.problem import Place, Problem
from evalward.records.words import near_or_known, shown

_TEXT, _LIST, _NUMBER, _WHOLE, _BOOL, _RECORD = (
    "text",
    "a list",
    "a number",
    "a whole number",
    "true or false",
    "a mapping of keys to values",
)
_WANTED = {
    "string": _TEXT,
    "list": _LIST,
    "tuple": _LIST,
    "set": _LIST,
    "int": _WHOLE,
    "float": _NUMBER,
    "decimal": _NUMBER,
    "bool": _BOOL,
    "dict": _RECORD,
    "model": _RECORD,
    "dataclass": _RECORD,
}
_WRONG_TYPE = re.compile(r"([a-z]+)_(?:attributes_)?(?:type|parsing|from_float|exact_type)")
_CHOICES = frozenset({"literal_error", "enum", "union_tag_invalid"})
_WITHOUT_VALUE = {
    "missing": "the key is missing",
    "extra_forbidden": "unknown key",
    "string_pattern_mismatch": "has a character that isn't allowed here",
}
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


MOST_PROBLEMS = 20


def problems_of(error: ValidationError, place: Place, remedy: str, *, values: bool = True) -> list[Problem]:
    """The first problems of a record that a program wrote, all with the same remedy.

    Without `values`, none of what stands in it is repeated: for what strangers hand in.
    """
    found = error.errors(include_url=False, include_input=values)[:MOST_PROBLEMS]
    return [
        Problem(place=place, field=".".join(map(str, item["loc"])), message=in_words(item)[0], remedy=remedy)
        for item in found
    ]


def in_words(error: ErrorDetails, keys: Iterable[str] = ()) -> tuple[str, str]:
    """What is wrong and what to do. `keys` are those that can stand where the error is."""
    if "input" not in error:
        return _without_value(error), ""
    kind, value = error["type"], error["input"]
    context: dict[str, Any] = error.get("ctx", {})
    if kind == "missing":
        return "the key is missing", "Add it."
    if kind == "extra_forbidden":
        return "unknown key", near_or_known(str(error["loc"][-1]), keys, "Known keys")
    wrong_type = _WRONG_TYPE.fullmatch(kind)
    if wrong_type and wrong_type[1] in _WANTED:
        return of_type(_WANTED[wrong_type[1]], value, list(keys))
    if kind in _CHOICES:
        known = _choices(context)
        return f"unknown value {_short(value)}", near_or_known(str(value), known, "Known")
    return _bounds(kind, value, context) or _own(error)


def _without_value(error: ErrorDetails) -> str:
    """What is wrong, without the value."""
    kind: str = error["type"]
    context: dict[str, Any] = error.get("ctx", {})
    if kind in _WITHOUT_VALUE:
        return _WITHOUT_VALUE[kind]
    wrong_type = _WRONG_TYPE.fullmatch(kind)
    if wrong_type and wrong_type[1] in _WANTED:
        return f"must be {_WANTED[wrong_type[1]]}"
    if kind in _CHOICES:
        return f"must be one of: {', '.join(_choices(context))}"
    bound = next((key for key in _BOUNDS if key in context), None)
    if bound is not None:
        return f"must be {_BOUNDS[bound]} {context[bound]:g}"
    return (_bounds(kind, None, context) or _own(error))[0]


def _choices(context: dict[str, Any]) -> list[str]:
    """The words of which one may stand here."""
    return re.findall(r"'([^']*)'", str(context.get("expected", context.get("expected_tags", ""))))


def of_type(wanted: str, value: Any, keys: Sequence[str] = ()) -> tuple[str, str]:
    """For a value of another type than is wanted."""
    if value is None:
        return f"must be {wanted} and has no value", "Give it one, or remove the key."
    return f"must be {wanted}, not {described(value)}", _remedy(wanted, value, keys)


def described(value: Any) -> str:
    """A value that somebody wrote: `the number 42`, `the text "yep"`, `a list`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value!r:.30}"
        case str():
            return f"the text {shown(value)}"
        case list() | tuple():
            return "a list"
        case _:
            return "a mapping of keys to values"


def _remedy(wanted: str, value: Any, keys: Sequence[str]) -> str:
    if wanted == _TEXT:
        return _as_text(value)
    if wanted == _LIST:
        return f"Write [{_short(value)}]." if isinstance(value, str | int | float) else "Write a list."
    if wanted == _RECORD:
        return f"Write its keys: {', '.join(keys)}." if keys else "Write keys and values."
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9.]+", value):
        return f"Remove the quotes: {value}."
    return f"Write {wanted}."


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return "Put quotes around text that begins with [."
    if isinstance(value, dict):
        return "Put quotes around text that begins with { or has a colon in it."
    return f"Put it in quotes: {shown(str(value).lower() if isinstance(value, bool) else str(value))}."


def _bounds(kind: str, value: Any, context: dict[str, Any]) -> tuple[str, str] | None:
    bound = next((key for key in _BOUNDS if key in context), None)
    if bound is not None:
        return f"must be {_BOUNDS[bound]} {context[bound]:g}, not {_short(value)}", "Change the number."
    if kind in {"too_short", "string_too_short"}:
        return "is empty", "Name at least one." if kind == "too_short" else "Add a value, or remove the key."
    if kind in {"too_long", "string_too_long"}:
        most = context.get("max_length", 0)
        if kind == "too_long":
            return f"has more than {most:,} entries", "Leave some out."
        return f"is longer than {most:,} characters", "Make it shorter."
    if kind == "string_pattern_mismatch":
        return f"{_short(value)} has a character that isn't allowed here", "Use letters, digits and . _ -."
    return _OTHERS.get(kind)


_OTHERS = {
    "finite_number": ("must be a finite number", "Change the number."),
    "int_parsing_size": ("is a number that is too long", "Change the number."),
    "none_required": ("can have no value here", "Write null, or remove the key."),
    "union_tag_not_found": ("a key that says what it is, is missing", "Add it."),
    "string_unicode": ("is not UTF-8 text", "Write other characters."),
}


def _own(error: ErrorDetails) -> tuple[str, str]:
    """A sentence of ours, which a check of a record raised."""
    message = error["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:], ""


def _short(value: Any) -> str:
    return shown(value) if isinstance(value, str) else described(value).removeprefix("the number ")
