"""Reports of pydantic-evals, as `EvaluationReportAdapter.dump_json(report)` writes them.

A task that raised stands in `failures`, not in `cases`: an error. So is a case with an evaluator that raised, for all
of that evaluator's results are missing, unless an assertion of another one is false. A case without an assertion was
not judged. With `repeat` the number of a trial stands in the name of its case: "x [2/3]".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalward.records.problem import wrong
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, unreadable
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.pydantic_trial import PydanticRun, called, judged_trial, raised_trial

TITLE = "a report of pydantic-evals"
_NAME = rb'"name"\s*:\s*"(?:[^"\\]|\\.)*+"'
_FIRST = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\{\s*" + _NAME + rb'\s*,\s*"cases"\s*:\s*\[\s*(?:\]|\{\s*' + _NAME + rb'\s*,\s*"inputs"\s*:)'
)


class PydanticEvals:
    """The format `pydantic-evals`."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the signature of every format
        """By its first keys: a name, then cases that begin with a name and inputs."""
        return _FIRST.match(head) is not None

    def belongs(self, name: str) -> bool:
        """JSON files."""
        return name.lower().endswith(".json")

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file is a run."""
        return [_Report(file).results for file in files]


FORMAT = PydanticEvals()


class _Report:
    """A report, whose cases are gone through twice: first for their names alone."""

    def __init__(self, file: ForeignFile) -> None:
        self._file = file
        self._document = Document(file, TITLE, ("cases",))
        self._head: Mapping[str, Any] = self._document.head
        if not isinstance(self._head.get("cases"), list) or not isinstance(self._head.get("failures", []), list):
            raise unreadable(file, TITLE, "its cases or its failures are not a list")

    @property
    def results(self) -> ForeignResults:
        """Its trials. Raises `InputError` for no case, and for one that occurs there twice."""
        planned = self._planned()
        if not planned:
            raise wrong(self._file.name, f"{TITLE} without a case", "Look whether its dataset has any.")
        failures = self._head.get("report_evaluator_failures")
        names = [str(one.get("name")) for one in failures or () if isinstance(one, Mapping)]
        notes = [f"an evaluator of the whole report ended in an error: {name}" for name in names]
        return ForeignResults(self._trials(), planned=planned, notes=notes, file=self._file.name)

    def _planned(self) -> int:
        """How many trials there should be: of each case as many as the names of its trials say."""
        counts: dict[str, int] = {}
        seen: set[tuple[str, int | None]] = set()
        for entry in self._entries():
            case, number, count = called(entry)
            if (case, number) in seen:
                raise wrong(self._file.name, f'{TITLE} with two cases called "{entry["name"]}"', "Rename one.")
            seen.add((case, number))
            counts[case] = max(counts.get(case, 0), count)
        return sum(counts.values())

    def _trials(self) -> Iterator[ForeignTrial]:
        run = PydanticRun(str(self._head.get("dataset_name") or ""), str(self._head.get("name") or ""))
        for entry in self._entries():
            yield raised_trial(entry, run) if "error_message" in entry else judged_trial(entry, run)

    def _entries(self) -> Iterator[Mapping[str, Any]]:
        """The cases, then those whose task raised; each is an object with a name."""
        for source in (self._document.items(), self._head.get("failures", [])):
            for entry in source:
                if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
                    raise unreadable(self._file, TITLE, "a case in it has no name")
                yield entry
