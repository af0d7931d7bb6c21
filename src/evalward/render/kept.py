"""What an output folder keeps beside its report, for outputs that show trials: the caller opens the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct, field

from evalward.records.baseline import Baseline
from evalward.records.report import Report
from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.records.texts import MOST_IN_BASELINE, MOST_IN_REPORT, TextUser, texts_of
from evalward.render.kinds import ShownKinds


class Kept(Protocol):
    """The files of an output folder, each read when it is asked for, within bounds; what can't be read isn't there."""

    def trial(self, path: str) -> Trial | None:
        """The trial that a result's `trace` names."""
        ...

    def files(self, folder: str) -> Sequence[FileText]:
        """The files of a trial's artifacts, sorted by name."""
        ...


class NothingKept:
    """Of a report that lies alone."""

    def trial(self, path: str) -> Trial | None:  # noqa: ARG002
        """None."""
        return None

    def files(self, folder: str) -> Sequence[FileText]:  # noqa: ARG002
        """None."""
        return []


class Sources(Struct, frozen=True, dict=True):
    """Where a judgement or a report comes from: what a page shows beyond them, as far as it is at hand.

    `kept` are the trials of the report, `kept_before` those of the baseline where somebody has them.
    """

    report: Report | None = None
    baseline: Baseline | None = None
    kept: Kept = field(default_factory=NothingKept)
    kept_before: Kept = field(default_factory=NothingKept)
    kinds: ShownKinds = field(default_factory=dict)

    def texts(self) -> Mapping[str, str]:
        """What the hashes of both sides stand for. The baseline is believed before the report: it was reviewed."""
        return self._texts

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        sides = [side for side in (self.baseline, self.report) if side is not None]
        runs: list[TextUser] = [*(self.report.every_run if self.report else ())]
        runs += self.baseline.runs if self.baseline else ()
        return texts_of(runs, [side.texts for side in sides], MOST_IN_REPORT + MOST_IN_BASELINE)
