"""What `evalward doctor` finds: what a machine offers, and what of it the configuration needs and doesn't have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from evalward.records.base import Record

CHECKUP_SCHEMA: Literal["evalward.checkup/1"] = "evalward.checkup/1"

CheckupGroup = Literal["machine", "packages", "isolation", "programs", "project", "targets", "keys", "network"]
CheckupStatus = Literal["ok", "note", "warning", "missing", "wrong"]
"""`note`: something that few need is not there. `warning`: worth a look. `missing`: the configuration needs it.
`wrong`: a file that can't be used as it is.
"""


class CheckupItem(Record):
    """One thing that was looked at. No value of a variable is in any field."""

    group: CheckupGroup = Field(description="What it belongs to")
    name: str = Field(description="What was looked at")
    status: CheckupStatus = Field(
        description="ok, note, warning; missing: the configuration needs it; wrong: a mistake"
    )
    text: str = Field(description="What was found")
    remedy: str = Field(default="", description="What to do about it")


class Checkup(Record):
    """All of it, in the order in which people read it."""

    schema_: Literal["evalward.checkup/1"] = Field(default=CHECKUP_SCHEMA, alias="schema")
    evalward: str = Field(description="Evalward's version")
    items: list[CheckupItem] = []

    def of(self, *statuses: CheckupStatus) -> Sequence[CheckupItem]:
        """The items with one of these statuses."""
        return [item for item in self.items if item.status in statuses]
