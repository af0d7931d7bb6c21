"""What every record shares: how it is read, how it is written, how it is hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


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
    )


class StrictRecord(Record):
    """A record that people write: a key that it doesn't know is a mistake, not a future version."""

    model_config = ConfigDict(extra="forbid")


Count = Annotated[int, Field(ge=0, le=10**15)]
"""A number of things, tokens or milliseconds that somebody told: never negative, never absurd."""

Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
"""A weight, score or cost that somebody told."""

Json = None | bool | int | float | str | Sequence[Any] | Mapping[str, Any]


def canonical(value: Json) -> str:
    """JSON text that is equal for equal values: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Json) -> str:
    """`sha256:…` of a value's canonical JSON: the identity of definitions, subjects and reports."""
    return digest_text(canonical(value))


def digest_text(text: str) -> str:
    """`sha256:…` of a text, lone surrogates included."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be written as UTF-8.

    Models, JSON escapes and file names can all produce surrogates, and every writer after us would fail.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
