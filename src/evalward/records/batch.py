"""A batch that was sent to a provider, as it is written down: a run that was killed finds its answers by it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.records.base import Record

BATCH_SCHEMA: Literal["evalward.batch/1"] = "evalward.batch/1"


class SentBatch(Record):
    """A batch under its provider's `id`.

    `host` is where it was sent. `requests` are the digests of what was asked, by the ids under which the answers come.
    """

    schema_: Literal["evalward.batch/1"] = Field(default=BATCH_SCHEMA, alias="schema")
    id: str
    provider: str
    model: str
    host: str
    sent_at: str
    requests: dict[str, str]
