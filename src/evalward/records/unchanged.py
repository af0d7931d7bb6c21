"""A run that wasn't measured because the change can't have touched it: the baseline's trials stand."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from evalward.records.base import Count, Record

UNCHANGED = "unchanged since the baseline, $0"
"""Why nothing of such a run is run, where one sentence has to do."""

Because = Literal[
    "change_unknown",
    "nothing_changed",
    "no_baseline",
    "baseline_too_old",
    "suite_unknown",
    "always",
    "configuration",
    "both_sides",
    "selection",
    "not_in_baseline",
    "subject",
    "cases",
    "trials",
    "file",
]
"""Why a run is measured; `file`: a changed file matters, or may."""


class MeasuredBecause(NamedTuple):
    """Why a run is measured, and which file it is about."""

    code: Because
    file: str = ""


class Unchanged(Record):
    """The baseline's trials stand for a run: of `cases` cases, from the baseline that was made at `since`.

    `since` is ISO 8601, `commit` the baseline's. These trials are judged by floors and ceilings, and never counted as
    measured: the report holds none of them.
    """

    since: str
    commit: str | None = None
    cases: Count = 0

    @property
    def day(self) -> str:
        """The day on which the baseline was made, `2026-11-20`."""
        return day_of(self.since)


def day_of(time: str) -> str:
    """The day of a time, ISO 8601; of what is none, no day."""
    try:
        return datetime.fromisoformat(time).date().isoformat()
    except ValueError:
        return "an unknown day"
