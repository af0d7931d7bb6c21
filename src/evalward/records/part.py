"""One shard of a plan: what a report says of the part that it holds, and of the plan that it is a part of."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from evalward.records.base import Count, Record

MOST_SHARDS = 256
"""As many jobs as a matrix may have."""
_DIGITS = 15


def told_count(text: str) -> int:
    """A number that GitHub gives a run or its attempt, as the environment has it; 0 where it isn't told."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0


class Shard(NamedTuple):
    """Shard `number`, from 1, of `total`."""

    number: int
    total: int


class Part(Record):
    """The report holds shard `index`, from 1, of `total`.

    `plan` is the digest of the whole plan, the shard of each case included: shards of one plan have the same. `left`
    are the suites that no shard measures, by name: whoever judges all parts does. `attempt` counts the runs of the
    shard's job: of two parts of one shard the later attempt holds.
    """

    index: Annotated[int, Field(ge=1, le=MOST_SHARDS)]
    total: Annotated[int, Field(ge=1, le=MOST_SHARDS)]
    plan: str
    left: list[str] = []
    attempt: Count = 1

    @property
    def name(self) -> str:
        """`shard 2/4`, as people write it."""
        return f"shard {self.index}/{self.total}"
