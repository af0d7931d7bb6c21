"""The JSON of vitest (`--reporter=json`), with what vitest-evals adds to it, and of jest (`--json`).

Neither tells a test that broke from one that failed: both are "failed". A failure of ours is one that a judge's
threshold or an assertion made, by the first line of its message; all else is an error. Tests left out by `.skip` and
those that `-t` didn't choose look alike: skipped. Files that couldn't be loaded have no test: each is one error.

A definition is a test's titles alone: what was asked of the model stands only in the conversation of a trial, and one
that broke has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from evalward.records.problem import wrong
from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial
from evalward.suites.external.formats.values import count
from evalward.suites.external.formats.vitest_document import TITLE, VitestDocument
from evalward.suites.external.formats.vitest_survey import Survey, survey_of
from evalward.suites.external.formats.vitest_trial import vitest_trial

_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"num(?:Total|Failed|Passed)TestSuites"\s*:')


class VitestEvals:
    """The format `vitest-evals`."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the signature of every format
        """By its first key: vitest begins with all test suites, jest with those that failed."""
        return _FIRST.match(head) is not None

    def belongs(self, name: str) -> bool:
        """JSON files."""
        return name.lower().endswith(".json")

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file is a run."""
        documents = [VitestDocument(file) for file in files]
        surveys = [survey_of(document) for document in documents]
        if files and not any(survey.ran for survey in surveys):
            raise _nothing_ran(files[0], surveys)
        return [_results(document, survey) for document, survey in zip(documents, surveys, strict=True)]


FORMAT = VitestEvals()


def _nothing_ran(file: ForeignFile, surveys: Sequence[Survey]) -> Exception:
    skipped = sum(survey.tests for survey in surveys)
    message = f"{TITLE} without a test that ran" + (f": all {skipped:,} are skipped" if skipped else "")
    return wrong(file.name, message, "Look which tests were to run: the files, the pattern of -t, .skip and .only.")


def _results(document: VitestDocument, survey: Survey) -> ForeignResults:
    total = count(document.head.get("numTotalTests"))
    return ForeignResults(
        trials=_trials(document, survey),
        file=document.file.name,
        planned=None if total is None else max(total, survey.tests) + len(survey.unloaded),
        made_at=_time(document.head.get("startTime")),
        notes=survey.notes,
        stopped=survey.stopped,
    )


def _trials(document: VitestDocument, survey: Survey) -> Iterator[ForeignTrial]:
    for place, row in document.rows():
        yield vitest_trial(row, survey.circumstances(place, row))
    for name, message in survey.unloaded:
        yield ForeignTrial(
            case=name,
            status=Status.ERROR,
            target=survey.target,
            asked={"file": name},
            reason="not_loaded",
            message=message,
        )


def _time(milliseconds: object) -> str | None:
    if not isinstance(milliseconds, int | float) or not 0 < milliseconds < 10**14:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
