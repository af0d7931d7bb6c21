"""Results in several files: parts of one run of the harness, or several runs, which only a user may count together."""

from __future__ import annotations

from collections import Counter

from evalward.records.problem import InputError, wrong
from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial

TrialOfRun = tuple[str, str, str]
"""The suite, the target and the case of a trial."""


class SeveralFiles:
    """Which file each trial is in, file by file.

    Shards, epochs and models in files of their own have different trials. A trial that two files have is of two runs.
    What was skipped is no trial: a harness that runs a part of its cases may list the others.
    """

    def __init__(self) -> None:
        """Nothing was seen."""
        self._files: dict[tuple[TrialOfRun, int], ForeignResults] = {}
        self._unnumbered: Counter[TrialOfRun] = Counter()
        self._now: ForeignResults | None = None

    def begin(self, found: ForeignResults) -> None:
        """The trials after this are those of `found`."""
        if self._now is None or not _same_file(found, self._now):
            self._unnumbered.clear()
        self._now = found

    def other(self, of: TrialOfRun, trial: ForeignTrial) -> ForeignResults | None:
        """The run in another file that has this trial, too; `None` where there is none. To be called once a trial."""
        if self._now is None or trial.status is Status.SKIPPED:
            return None
        number = trial.number
        if number is None:
            self._unnumbered[of] += 1
            number = self._unnumbered[of]
        first = self._files.setdefault((of, number), self._now)
        return None if _same_file(first, self._now) else first


def two_runs(
    one: ForeignResults, other: ForeignResults, trial: ForeignTrial, case: str, place: str, *, configured: bool
) -> InputError:
    """That the results of two runs of the harness were named together. `configured`: by a suite, not on a command line.

    `one` has the trial of this case that `other` has, too; `place` stands for a file that a reader doesn't name.
    """
    both = f'the case "{case}"' if trial.number is None else f'trial {trial.number} of "{case}"'
    message = (
        f"it is of another run{_when(one)} than {other.file or 'a file before it'}{_when(other)}: both have {both}"
    )
    remedy = "Name the files of one run"
    if configured:
        remedy += ", or write pool: true to count several runs together, as further trials"
    return wrong(one.file or place, message, f"{remedy}.")


def _same_file(one: ForeignResults, other: ForeignResults) -> bool:
    return one is other or (bool(one.file) and one.file == other.file)


def _when(run: ForeignResults) -> str:
    return f" ({run.made_at})" if run.made_at else ""
