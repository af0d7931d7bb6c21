"""Where a run keeps what it measured. Whoever runs the cases writes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from evalward.engine.store import StoredTrial, TrialKey
from evalward.records.report import Report
from evalward.records.result import Trial


class RunRetrials(Protocol):
    """What is to be tried again of one run: how many fresh trials of which case."""

    @property
    def suite(self) -> str:
        """The suite's name."""
        ...

    @property
    def target(self) -> str:
        """The target's id."""
        ...

    @property
    def trials(self) -> Mapping[str, int]:
        """Fresh trials by case id."""
        ...

    @property
    def beside(self) -> bool:
        """As many of the base's, too, side by side with them."""
        ...

    @property
    def was(self) -> tuple[str, str] | None:
        """The suite and target of the base's that the run takes the place of, where these aren't its own."""
        ...


class OutputStore(Protocol):
    """An output folder, wherever it is."""

    def keep(self, trial: Trial) -> str:
        """Write a trial down; the path that the report names. Raises `ValueError` for one that can't be written."""
        ...

    def keep_folder(self, source: Path, path: str) -> None:
        """Put a folder at a path of the output where nothing is, whole or not at all."""
        ...

    def has(self, path: str) -> bool:
        """Whether an earlier run left something at a path of the output."""
        ...

    def remove_folder(self, path: str) -> None:
        """Remove what is at a path of the output."""
        ...

    def find(self, key: TrialKey) -> StoredTrial:
        """The finished trial that an earlier run left."""
        ...


class Records(OutputStore, Protocol):
    """The records of an invocation."""

    def ready(self) -> None:
        """Make ready to write. Raises `InputError` when nothing could be written: before anything is run."""
        ...

    def checkpoint(self, report: Report) -> Sequence[RunRetrials]:
        """Write down what is measured so far. What of it is to be tried again before a drop is reported."""
        ...

    def of_guidance(self, name: str) -> OutputStore:
        """A folder of their own for trials that belong to no run of the report."""
        ...

    def of_base(self) -> OutputStore:
        """A folder of their own for the base's trials: whoever looks for the head's never finds one of these."""
        ...
