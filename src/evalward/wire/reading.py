"""Reading what came over the wire, within bounds: the other side may be anybody's."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalward.records.base import Record
from evalward.records.json_values import has_more_values

R = TypeVar("R", bound=Record)

MOST_ASKED = 32 << 20
"""Bytes of a question to a model, or of its answer: more than providers take, and than is read of one answer."""
MOST_TALK_VALUES = 250_000
"""Values of a message in which each mistake is noted: one in a block of a conversation once for each kind of block."""
MOST_VALUES = 3_000_000
"""Values of any other message: as many as are read of a report's file."""
_MOST_NOTED = 1_000  # mistakes that are looked through for the first: pydantic writes all of them out, or none


class BrokenMessageError(Exception):
    """The other side sent something that is no such record."""


class Talk(Record):
    """A message that holds a conversation, or what people wrote: each mistake in it is noted, some several times."""


def read(model: type[R], data: bytes, most_values: int = MOST_VALUES) -> R:
    """The record that came over the wire. Raises `BrokenMessageError`, for one of too many values too."""
    try:
        _refuse_many(data, MOST_TALK_VALUES if issubclass(model, Talk) else most_values)
        return model.model_validate_json(data)
    except (ValidationError, RecursionError, BrokenMessageError) as error:
        raise BrokenMessageError(f"{model.__name__}: {_first(error)}") from None


def _refuse_many(data: bytes, most: int) -> None:
    if has_more_values(data, most):
        raise BrokenMessageError(f"more than {most:,} values are too much for one message")


def _first(error: ValidationError | RecursionError | BrokenMessageError) -> str:
    if isinstance(error, BrokenMessageError):
        return str(error)
    if isinstance(error, RecursionError):
        return "too deep"
    if error.error_count() > _MOST_NOTED:
        return f"{error.error_count():,} mistakes"
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def too_large(asked: bytes) -> bool:
    """Whether the other side would refuse to read this question for its size."""
    return len(asked) > MOST_ASKED or has_more_values(asked, MOST_TALK_VALUES)


def parse(adapter: TypeAdapter[Any], data: bytes) -> Any:
    """What an adapter reads: one question or one answer. Raises `BrokenMessageError`, for `too_large` ones too."""
    if len(data) > MOST_ASKED:
        raise BrokenMessageError(f"{len(data):,} bytes are too much for one question or answer")
    _refuse_many(data, MOST_TALK_VALUES)
    try:
        return adapter.validate_json(data)
    except (ValidationError, RecursionError) as error:
        raise BrokenMessageError(_first(error)) from None
