"""How details are read: by the record of the kind that they name, which is loaded when the first of its kind is read.

The validator is a union by tag, as pydantic would make it of all records; only that each record is looked up by name.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

from msgspec import Struct
from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema, to_json

from evalward.records.parts import loaded
from evalward.registry import KINDS, installed, ours

OTHER = "other"


@cache
def _record(kind: str) -> type[BaseModel]:
    """The record of a kind's details."""
    found: type[BaseModel] = loaded(KINDS, kind).details
    return found


class ByKind(Struct, frozen=True):
    """Marks a field that holds a record of any kind; `other` is that of kinds which are not installed."""

    other: type[BaseModel]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """A union by tag."""
        choices = {name: _of_kind(name) for name in ours(KINDS)}
        return core_schema.tagged_union_schema(
            {**choices, OTHER: _of_others(handler.generate_schema(self.other))},
            _tag,
            serialization=core_schema.simple_ser_schema("any"),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """One of the kinds that are installed, or anything that names another."""
        records = [handler(_record(kind).__pydantic_core_schema__) for kind in installed(KINDS)]
        return {"anyOf": [*records, {"type": "object"}]}


def _kind_of(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) else ""


def _tag(value: Any) -> str:
    kind = _kind_of(value)
    return kind if kind in ours(KINDS) else OTHER


def _of_kind(name: str) -> core_schema.CoreSchema:
    def read(value: Any, info: ValidationInfo) -> Any:
        return _read(_record(name), value, info, strict=None)

    def read_strictly(value: Any, info: ValidationInfo) -> Any:
        return _read(_record(name), value, info, strict=True)

    plain = core_schema.with_info_plain_validator_function
    return core_schema.lax_or_strict_schema(plain(read), plain(read_strictly))


def _of_others(other: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """Of a kind that another distribution has installed its record, of all else the value as it is."""

    def read(value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        return _other(value, handler, info, strict=None)

    def read_strictly(value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        return _other(value, handler, info, strict=True)

    wrap = core_schema.with_info_wrap_validator_function
    return core_schema.lax_or_strict_schema(wrap(read, other), wrap(read_strictly, other))


def _other(
    value: Any, handler: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo, *, strict: bool | None
) -> Any:
    kind = _kind_of(value)
    if not kind or kind not in installed(KINDS):
        return handler(value)
    return _read(_record(kind), value, info, strict=strict)


def _read(record: type[BaseModel], value: Any, info: ValidationInfo, *, strict: bool | None) -> Any:
    """The value as a kind's record.

    What was JSON is read as such where that matters: strict reading takes other values from it than from Python, and
    what is said of wrong ones differs.
    """
    validator = record.__pydantic_validator__
    if info.mode != "json":
        return validator.validate_python(value, strict=strict)
    if not strict:
        with suppress(ValidationError):  # as nearly always: without writing it down and reading it once more
            return validator.validate_python(value)
    return validator.validate_json(to_json(value), strict=strict)
