"""When result files were made, as far as they say it: one of another day is of no run of today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalward.decide.staleness import age_days
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignResults

OLD_DAYS = 1
"""From how many whole days on the results of a file are called old."""


class DatedFile(NamedTuple):
    """When a file says that it was made, ISO 8601, and its name."""

    made_at: str
    file: str


class FileDates:
    """The dates of the files of one suite."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._found: list[DatedFile] = []

    def add(self, found: ForeignResults) -> None:
        """The results of a file, whose trials count."""
        if found.made_at:
            self._found.append(DatedFile(found.made_at, found.file))

    def notes(self) -> Sequence[str]:
        """That files are of an earlier day than the newest. What has no date is of no day that is known."""
        if not self._found:
            return []
        newest = max(self._found)
        old = [
            (days, each) for each in self._found if (days := age_days(each.made_at, newest.made_at) or 0) >= OLD_DAYS
        ]
        if not old:
            return []
        days, oldest = max(old)
        more = f" ({plural(len(old), 'file')} older than a day)" if len(old) > 1 else ""
        return [
            f"{oldest.file or 'a file'} was made {plural(days, 'day')} before {newest.file or 'the newest'} "
            f"({oldest.made_at}, {newest.made_at}){more}, and its trials count as those of one run. Empty the folder "
            "before the harness runs, or write pool: true if they belong together"
        ]


def age_note(made_at: str | None, now: str) -> list[str]:
    """That the newest results are of an earlier day than `now`; nothing where no file says when it was made."""
    days = age_days(made_at, now) if made_at else None
    if days is None or days < OLD_DAYS:
        return []
    return [
        f"the newest results were made {plural(days, 'day')} ago ({made_at}): run the harness before they are judged"
    ]
