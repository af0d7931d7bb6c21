"""What every record shares: how it is read, how it is written, how it is hashed."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import isfinite
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import core_schema


class Record(BaseModel):
    """A plain, immutable value that can be written to disk and read again.

    Unknown keys are passed over on reading: a report of a newer minor version stays readable. What people
    write by hand (the configuration, the cases) is read more strictly, by `StrictRecord`.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        defer_build=True,  # a process uses a few of the many records that it loads
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """That of its fields; a list or table is read up to its first mistake."""
        schema = handler(source)
        _stop_at_first(handler.resolve_ref_schema(schema), cls)
        return schema


def _stop_at_first(schema: Any, model: type[BaseModel]) -> None:
    """Have lists and tables of a record end at the first wrong value: of millions, each would be noted by its path."""
    if isinstance(schema, list | tuple):
        for part in schema:
            _stop_at_first(part, model)
    if not isinstance(schema, dict) or schema.get("cls", model) is not model:
        return
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _MANY:
        schema["fail_fast"] = True
    for key, part in schema.items():
        if key not in _NO_SCHEMA:
            _stop_at_first(part, model)


_MANY = {"list", "dict", "set", "frozenset", "tuple"}
_NO_SCHEMA = {"default", "metadata", "serialization"}  # of pydantic's: what is in there may look like one


class StrictRecord(Record):
    """A record that people write: a key that it doesn't know is a mistake, not a future version. All are named."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """That of its fields, as it is."""
        return handler(source)


R = TypeVar("R", bound=Record)


def unchecked(model: type[R], **values: Any) -> R:
    """A record of values out of other records, which need no second check: many are made, and this takes a fifth.

    Every field has to be given, in its order: nothing is filled in. All such records share one set of the names that
    were given, which would take more memory than the values.
    """
    record = model.__new__(model)
    for name, value in (("__dict__", values), ("__pydantic_fields_set__", _all_fields(model)), *_NOTHING_MORE):
        object.__setattr__(record, name, value)
    return record


@contextmanager
def acyclic() -> Iterator[None]:
    """Within, no object is searched for whether it refers to itself: records don't, and a large report has millions.

    Where so many were made they are left out of later searches, too; they go when nothing refers to them any more.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching and gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
        if searching:
            gc.enable()


_NOTHING_MORE = (("__pydantic_extra__", None), ("__pydantic_private__", None))


@cache
def _all_fields(model: type[Record]) -> set[str]:
    return set(model.model_fields)


Count = Annotated[int, Field(ge=0, le=10**15)]
"""A number of things, tokens or milliseconds that somebody told: never negative, never absurd."""

SMALLEST = 1e-12


def _not_tiny(value: float) -> float:
    return value if value >= SMALLEST else 0.0


Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False), AfterValidator(_not_tiny)]
"""A weight, score or cost that somebody told. Below `SMALLEST` it is 0: what is divided by it would be infinite."""

MANY_OBJECTS = 200_000  # of a report of some thousand trials
WHY_LIMIT = 300  # characters of an exception's words

Json = None | bool | int | float | str | Sequence[Any] | Mapping[str, Any]


def canonical(value: Json) -> str:
    """JSON text that is equal for equal values: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def json_data(record: Record, indent: int | None = 1) -> bytes:
    """A record's file. As a text it takes twice the memory, or four times: one dash makes every character wider."""
    return record.__pydantic_serializer__.to_json(record, by_alias=True, indent=indent) + b"\n"


def json_text(record: Record) -> str:
    """The text of a record's file."""
    return json_data(record).decode()


def digest(value: Json) -> str:
    """`sha256:…` of a value's canonical JSON: the identity of definitions, subjects and reports."""
    return digest_text(canonical(value))


def digest_text(text: str) -> str:
    """`sha256:…` of a text, lone surrogates included."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_fingerprint(fingerprint: str) -> str:
    """The start of a hash, with what it says before the colon: enough to see that two differ."""
    form, colon, digits = fingerprint.rpartition(":")
    return f"{form}{colon}{digits[:12]}"


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be written as UTF-8.

    Models, JSON escapes and file names can all produce surrogates, and every writer after us would fail.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Clean:
    """Marks a text for `clean_text`, but not where it is read from JSON: pydantic's reader refuses lone surrogates."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        text = handler(source)
        return core_schema.json_or_python_schema(text, core_schema.no_info_after_validator_function(clean_text, text))


Cleaned = Annotated[str, _Clean()]
"""A text of somebody else's that can be written as UTF-8, whatever it held."""

MAX_NESTING = 100  # of a foreign value: pydantic writes no more than 255 levels, those of the record around it included
MAX_PARTS = 100_000  # values in one foreign value
MAX_INTEGER = 2**64


def fitting(value: Any, most_parts: int = MAX_PARTS) -> Any:
    """A foreign JSON value as a record can hold it, write it and read it again; an equal one where all is well.

    Lone surrogates are replaced; numbers that are infinite, none, or beyond 64 bits are unknown: `None`. Raises
    `ValueError` for what is nested too deeply, has too many parts, or is not a JSON value at all.
    """
    return _fitting(value, MAX_NESTING, [most_parts])


def _fitting(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth < 0 or left[0] < 0:
        raise ValueError("a value is nested too deeply" if depth < 0 else "a value has too many parts")
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < MAX_INTEGER else None
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_fitting(item, depth - 1, left) for item in value]
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _fitting(item, depth - 1, left) for key, item in value.items()}
    raise ValueError(f"a {type(value).__name__} is not a JSON value")


def why_of(error: BaseException) -> str:
    """What an exception says, in one clean line that a report can show; its words may be anybody's."""
    words = " ".join(clean_text(str(error)).split())
    return f"{type(error).__name__}: {words}"[:WHY_LIMIT] if words else type(error).__name__
