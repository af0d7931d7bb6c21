"""Runs and cases that weren't measured because the change can't have touched them: the baseline's trials stand."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import Field

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


class Dependence(Record):
    """On what a case depends, of a suite that a change can touch in part.

    `parts` are those of the suite's files, by the names that the suite gives them; `subject` is the hash of all that
    the case sees of what is evaluated.
    """

    parts: list[str]
    subject: str


class StandingCase(Record):
    """A case for which the baseline's trials stand, and what it asks and depends on: as in the baseline."""

    id: str
    definition: str
    depends: Dependence


class Unchanged(Record):
    """The baseline's trials stand for a run: of `cases` cases, from the baseline that was made at `since`.

    `since` is ISO 8601, `commit` the baseline's. `of` are these cases where each stands by itself; none: the run stands
    as a whole. These trials are judged by floors and ceilings, and never counted as measured: the report holds none of
    them.
    """

    since: str
    commit: str | None = None
    cases: Count = 0
    of: list[StandingCase] = Field(default=[], exclude_if=lambda value: not value)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the cases that stand each by itself."""
        return frozenset(case.id for case in self.of)

    def without(self, measured: Collection[str]) -> Unchanged | None:
        """What stands of cases by themselves where these were measured; `None`: nothing does."""
        left = [case for case in self.of if case.id not in measured]
        return self.model_copy(update={"of": left, "cases": len(left)}) if left else None

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
