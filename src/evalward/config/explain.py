"""pydantic's errors in people's words: what is wrong, with the value as it was written, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic_core import ErrorDetails

from evalward.config.checks import as_share
from evalward.config.kinds import spec_at
from evalward.config.model import Config
from evalward.config.provider_checks import is_key_name
from evalward.config.suite import Suite
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake, YamlTree
from evalward.records.words import did_you_mean, near_or_known, one_line, shown


def explain(error: ErrorDetails, tree: YamlTree) -> Mistake:
    """One error of pydantic's as a mistake at its key path."""
    path, value = _place(error, tree.value)
    message, remedy = _WORDS.get(error["type"], _other)(_Case(error, path, value, tree))
    return Mistake(path, message, remedy)


class _Case:
    """One error with what its explanation needs."""

    def __init__(self, error: ErrorDetails, path: KeyPath, value: Value, tree: YamlTree) -> None:
        self.type = error["type"]
        self.message = error["msg"]
        self.context: dict[str, Any] = error.get("ctx", {})
        self.is_key = "[key]" in error["loc"]  # pydantic's way to say that it means the key, not the value
        self.path = path
        self.value = value
        self.tree = tree
        self.written = tree.written.get(path, "") if not isinstance(value, str) else value

    @property
    def key(self) -> str:
        return str(self.path[-1]) if self.path else ""


def _place(error: ErrorDetails, config: Value) -> tuple[KeyPath, Value]:
    """The key path of an error and the value there. pydantic's own parts (names of union members) are left out."""
    path: list[str | int] = []
    here = config
    for part in error["loc"]:
        below = _step(here, part)
        if below is not None:
            here = below[0]
            path.append(part)
    if error["type"] == "missing":
        return (*path, error["loc"][-1]), None
    if error["type"].startswith("union_tag"):  # pydantic places it at the record around the tag
        tag = str(error.get("ctx", {}).get("discriminator", "")).strip("'")
        return (*path, tag), here.get(tag) if isinstance(here, dict) else None
    return tuple(path), here


def _step(value: Value, part: str | int) -> tuple[Value] | None:
    if isinstance(value, dict):
        return (value[part],) if isinstance(part, str) and part in value else None
    if isinstance(value, list):
        return (value[part],) if isinstance(part, int) and part < len(value) else None
    return None


# ------------------------------------------------------------------------------------------- the words


def _missing(case: _Case) -> tuple[str, str]:
    if case.path == ("version",):
        return "the key is missing", "Write version: 1 at the top of the file."
    description = _description(case.path, case.tree.value)
    return "the key is missing", f"Add it: {description[:1].lower()}{description[1:]}." if description else "Add it."


def _extra(case: _Case) -> tuple[str, str]:
    models = models_at(case.path[:-1], case.tree.value)
    new = _old_names(models).get(case.key)
    if new is not None:
        return f"{new} is also there under its old name", f"Keep {new}: only."
    known = list(_fields(models))
    near = did_you_mean(case.key, known)
    if not near and is_key_name(case.key) and isinstance(case.value, str) and case.value:
        remedy = (
            "Remove it and, if the file was ever committed or shared, revoke the key. Put the new one into an "
            "environment variable; providers.NAME.key_env names another variable than the default."
        )
        return f"an API key doesn't belong in this file ({one_line(case.key)})", remedy
    return f"unknown key {shown(case.key)}", near_or_known(case.key, known, "Known keys")


def _wrong_type(case: _Case) -> tuple[str, str]:
    wanted = _WANTED[case.type]
    if case.value is None:
        return f"must be {wanted} and has no value", "Give it one, or remove it."
    return f"must be {wanted}, not {_described(case)}", _type_remedy(case, wanted)


def _described(case: _Case) -> str:
    match case.value:
        case bool():
            return f"{shown(case.written)}, which YAML reads as {str(case.value).lower()}"
        case int() | float():
            return f"the number {shown(case.written)[1:-1]}"
        case str():
            return f"the text {shown(case.value)}"
        case list():
            return "a list"
        case _:
            return "a mapping of keys to values"


def _type_remedy(case: _Case, wanted: str) -> str:
    text = case.value if isinstance(case.value, str) else ""
    if wanted == "text":
        return _text_remedy(case)
    if wanted == "a list":
        return "Write a list: one item per line, each after a dash."
    if wanted.startswith("a mapping"):
        models = models_at(case.path, case.tree.value)
        shared = [name for name in _fields(models) if all(name in _fields([model]) for model in models)]
        known = ", ".join(shared)
        return f"Write its keys, each on a line: {known}." if known else "Write name: value, one per line."
    if re.fullmatch(r"[-+]?[0-9.]+", text):
        return f"Remove the quotes: {shown(text)[1:-1]}."
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})? ?%", text):
        return as_share(float(text.rstrip(" %")), text)
    return f"Write {wanted}."


def _text_remedy(case: _Case) -> str:
    if isinstance(case.value, list):
        return "Write one value without brackets or dash."
    if isinstance(case.value, dict):
        return "Put quotes around text that has a colon or begins with {."
    return f"Put it in quotes: {shown(case.written)}."


def _choice(case: _Case) -> tuple[str, str]:
    known = re.findall(r"'([^']*)'", str(case.context.get("expected", case.context.get("expected_tags", ""))))
    if case.path == ("version",):
        return f"this release of Evalward reads version 1 of the format, not {_value(case)}", "Write version: 1."
    hint = near_or_known(case.written, known, "Known")
    what = "must be one of the known words" if case.value is None else f"unknown value {_value(case)}"
    return what, hint


def _value(case: _Case) -> str:
    if isinstance(case.value, str):
        return shown(case.value)
    return shown(case.written)[1:-1] if case.written else _described(case) if case.value is not None else "nothing"


def _bound(case: _Case) -> tuple[str, str]:
    key, limit = next((key, limit) for key, limit in case.context.items() if key in _BOUNDS)
    is_per_cent = key == "le" and limit == 1
    remedy = as_share(case.value) if isinstance(case.value, int | float) and is_per_cent else "Change the number."
    return f"must be {_BOUNDS[key]} {limit:g}, not {_value(case)}", remedy


def _finite(case: _Case) -> tuple[str, str]:
    return f"must be a finite number, not {_value(case)}", "Change the number."


def _empty(case: _Case) -> tuple[str, str]:
    return "is empty", "Name at least one." if isinstance(case.value, list) else "Add a value, or remove it."


def _name(case: _Case) -> tuple[str, str]:
    word = case.key if case.is_key else case.written
    remedy = "Use letters, digits and . _ -, at most 64 of them, beginning with a letter or digit."
    return f"the name {shown(word)} can't be used", remedy


def _own(case: _Case) -> tuple[str, str]:
    return str(case.context.get("error", case.message)), "Correct the rule." if "policy" in case.path else ""


def _other(case: _Case) -> tuple[str, str]:
    return f"{_value(case)} can't be used: {case.message}", "Correct it."


_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}

_WORDS: dict[str, Callable[[_Case], tuple[str, str]]] = {
    "missing": _missing,
    "extra_forbidden": _extra,
    "literal_error": _choice,
    "union_tag_invalid": _choice,
    "union_tag_not_found": _missing,
    "greater_than": _bound,
    "greater_than_equal": _bound,
    "less_than": _bound,
    "less_than_equal": _bound,
    "finite_number": _finite,
    "too_short": _empty,
    "string_too_short": _empty,
    "string_pattern_mismatch": _name,
    "value_error": _own,
    **dict.fromkeys(_WANTED, _wrong_type),
}


# ------------------------------------------------------------------------------------------- what the model knows


def models_at(path: KeyPath, config: Value) -> list[type[BaseModel]]:
    """The records that can stand at a key path of this configuration: none for plain values."""
    annotations: list[Any] = [Config]
    here: Value = config
    for part in path:
        annotations = [below for annotation in annotations for below in _below(annotation, part)]
        below = _step(here, part)
        here = below[0] if below else None
        annotations = [spec_at(here) if [*_models(one)] == [Suite] else one for one in annotations]
    return [model for annotation in annotations for model in _models(annotation)]


def _below(annotation: Any, part: str | int) -> Iterator[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        name = _old_names([annotation]).get(str(part), str(part))
        field = _fields([annotation]).get(name)
        if field is not None:
            yield field[0]
    elif origin in {Union, UnionType}:
        for member in arguments:
            yield from _below(member, part)
    elif origin is Annotated:
        yield from _below(arguments[0], part)
    elif origin in {list, dict}:
        yield arguments[-1]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in {Union, UnionType, Annotated}:
        for member in get_args(annotation):
            yield from _models(member)


def _fields(models: list[type[BaseModel]]) -> dict[str, tuple[Any, str]]:
    """The keys of these records as they are written, each with its type and description."""
    return {
        field.alias or name: (field.annotation, field.description or "")
        for model in models
        for name, field in model.model_fields.items()
    }


def _old_names(models: list[type[BaseModel]]) -> dict[str, str]:
    """Keys that are still read under a former name, each with the one that it has now."""
    return {
        str(old): name
        for model in models
        for name, field in model.model_fields.items()
        if isinstance(field.validation_alias, AliasChoices)
        for old in field.validation_alias.choices
        if old != name
    }


def _description(path: KeyPath, config: Value) -> str:
    field = _fields(models_at(path[:-1], config)).get(str(path[-1]))
    return field[1] if field else ""
