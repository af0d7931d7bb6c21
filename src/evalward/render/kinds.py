"""What a report that is shown in full needs of a kind of suite: the caller hands the kinds in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.sections import FileText, Grid, Section, TrialSection

if TYPE_CHECKING:  # whoever measures loads nothing of what compares
    from evalward.records.baseline import BaselineRun


class TrialText(Struct, frozen=True):
    """What one trial did, in words; empty where nobody told it, or there is nothing to look at.

    `turns` are the model's, `calls` how many went well and how many failed, `session` is the command and what it said.
    """

    turns: str = ""
    calls: str = ""
    session: str = ""


class ShownKind(Protocol):
    """The part of a kind that shows its runs."""

    def sections(self, run: Run, base: BaselineRun | None, *, alone: bool = False) -> list[Section]:
        """What to show of a run that no other kind has."""
        ...

    def summary(self, runs: Iterable[Run]) -> Grid | None:
        """What all runs of the kind show side by side, beyond their metrics."""
        ...

    def trial_text(self, result: Result) -> TrialText:
        """What one trial did, in words."""
        ...

    def trial_sections(self, result: Result, files: Sequence[FileText]) -> list[TrialSection]:
        """What to show of one trial beside checks and conversation; `files` are those that it left for people."""
        ...


ShownKinds = Mapping[str, ShownKind]
"""By name, those that are installed."""
