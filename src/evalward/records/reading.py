"""Reading a record that a program wrote, from a text that may be anything."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from evalward.records.base import Record
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, Place, wrong

R = TypeVar("R", bound=Record)

MOST_AT_ONCE = 1_000_000  # bytes: nothing counts their values, each of which may take many times its length


def parse_record(text: str | bytes, file: str, model: type[R], what: str, remedy: str) -> R:
    """The record in a JSON text. Raises `InputError` when it is not JSON, another schema, or doesn't fit.

    `what` names the record for people ("a report"); `remedy` is what to do about a file that is none.
    """
    try:
        data = read_json(text)
    except NoJsonError as error:
        raise wrong(file, f"not valid JSON: {error}", remedy, line=error.line) from error
    schema = model.model_fields["schema_"]
    expected = schema.default
    found = data.get("schema") if isinstance(data, dict) else None
    if found not in get_args(schema.annotation):
        raise wrong(file, f"this is not {what}: its schema is {_short(found)}, not {expected}", remedy)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        from evalward.records.model_words import problems_of  # noqa: PLC0415 - only a broken file pays for it

        first = problems_of(error, Place(file=file), remedy)[0]
        rest = error.error_count() - 1
        more = f" (and {rest} more problem{'s' if rest > 1 else ''})" if rest else ""
        raise InputError(first.but(message=f"{first.message}{more}")) from error


def parse_own_record(data: bytes, file: str, model: type[R], what: str, remedy: str) -> R:
    """The same for a file that should be our own: a small one is read in one step, which takes a third of the time.

    Raises `InputError` as `parse_record` does, which reads whatever the one step can't.
    """
    if len(data) <= MOST_AT_ONCE:
        try:
            record = model.model_validate_json(data)
        except ValidationError:
            return parse_record(data, file, model, what, remedy)
        if "schema_" in record.model_fields_set:
            return record
    return parse_record(data, file, model, what, remedy)


def _short(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]
