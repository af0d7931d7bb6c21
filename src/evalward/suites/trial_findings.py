"""A finding of single trials, which names the first of their cases: kinds whose findings do so begin here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from evalward.records.report import Finding
from evalward.records.result import Result

SHOWN_CASES = 20

Level = Literal["good", "info", "warning"]


def trial_finding(
    name: str,
    level: Level,
    message: str,
    *,
    of: Iterable[Result],
    evidence: str = "",
    threshold: str = "",
    advice: str = "",
) -> Finding:
    """The finding of this id, about the cases of these trials."""
    cases = list(dict.fromkeys(result.id for result in of))[:SHOWN_CASES]
    return Finding(
        id=name, level=level, message=message, evidence=evidence, threshold=threshold, advice=advice, cases=cases
    )
