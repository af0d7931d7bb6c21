"""How codes are read: each by the record of its name, which is built when the first of its name is read or written.

The validator is a union by tag, as pydantic would make it of all records; but there are many, and a process needs few.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, get_args

from msgspec import Struct
from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from evalward.records.codes.base import Coded

_SHOWN = 60  # characters of a code that isn't ours
_NESTED: JsonSchemaValue = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


class ByCode(Struct, frozen=True):
    """Marks a union of codes."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """A look-up: the records of the union are not asked for their own schemas."""

        def read(value: Any) -> Coded:
            return value if isinstance(value, Coded) else _read(value, _records(source))

        def json_schema(_: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            return _union(source, handler)

        return core_schema.no_info_plain_validator_function(
            read,
            serialization=core_schema.simple_ser_schema("any"),
            metadata={"pydantic_js_functions": [json_schema]},
        )


@cache
def _records(union: Any) -> Mapping[str, type[Coded]]:
    """By code, the record that reads it."""
    return {code: record for record in get_args(union) for code in get_args(record.model_fields["code"].annotation)}


def _read(value: Any, records: Mapping[str, type[Coded]]) -> Coded:
    code = value.get("code") if isinstance(value, dict) else None
    record = records.get(code) if isinstance(code, str) else None
    if record is None:
        shown = repr(code)[:_SHOWN]
        raise PydanticCustomError("unknown_code", "There is no code {code}", {"code": shown})
    return record.model_validate(value)


_under_way: list[Any] = []  # a code may hold codes: these are said to be objects with a code


def _union(union: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    if _under_way:
        return _NESTED
    _under_way.append(union)
    try:
        return handler(TypeAdapter(Annotated[union, Field(discriminator="code")]).core_schema)
    finally:
        _under_way.pop()
