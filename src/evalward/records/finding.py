"""What the numbers of a run show."""

from __future__ import annotations

from typing import Literal

from evalward.records.base import Record


class Finding(Record):
    """Something that the numbers show: what, on which evidence, beyond which threshold, what to do about it."""

    id: str
    level: Literal["good", "info", "warning"] = "info"
    message: str
    evidence: str = ""
    threshold: str = ""
    advice: str = ""
    cases: list[str] = []
