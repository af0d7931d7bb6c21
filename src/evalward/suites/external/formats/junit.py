"""JUnit XML of pytest, vitest, jest-junit, promptfoo, and of others by the plain meaning of its elements.

`<failure>` is failed, `<error>` is error, `<skipped>` is skipped; of failure and error together the failure counts:
the test had its answer, and what broke came after. JUnit can't tell more: an exception or a timeout inside a test of
pytest, and whatever goes wrong under vitest or jest, is a `<failure>` there. Where the harness has a JSON file, that
is the better one to read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import groupby

from evalward.records.moments import instant
from evalward.records.problem import InputError, wrong
from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial
from evalward.suites.external.formats.junit_dialects import JEST, trials_of, writer_of
from evalward.suites.external.formats.junit_tests import TITLE, JunitTest, junit_tests
from evalward.suites.external.formats.one_target import with_one_target

_FIRST = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?:[^-]|-(?!->))*+-->\s*+)*+<testsuites?[\s/>]", re.DOTALL
)


class Junit:
    """The format `junit`."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the signature of every format
        """By its first element."""
        return _FIRST.match(head) is not None

    def belongs(self, name: str) -> bool:
        """XML files."""
        return name.lower().endswith(".xml")

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file is a run. One of several may have nothing that ran; all of them together may not."""
        runs = [_Run(file) for file in files]
        if files and not any(trial.status is not Status.SKIPPED for run in runs for trial in run.trials):
            raise _nothing_ran(files[0], sum(len(run.trials) for run in runs))
        return [run.results for run in runs]


FORMAT = Junit()


def _nothing_ran(file: ForeignFile, skipped: int) -> InputError:
    message = f"{TITLE} without a test that ran" + (f": all {skipped:,} are skipped" if skipped else "")
    return wrong(file.name, message, "Look which tests the harness was to run.")


class _Run:
    """A file, suite by suite."""

    def __init__(self, file: ForeignFile) -> None:
        """Read it. Raises `InputError`."""
        self._file = file.name
        self.trials: list[ForeignTrial] = []
        self._files: list[str] = []
        self._notes: list[str] = []
        self._planned = 0
        self._made_at: str | None = None
        for _, group in groupby(junit_tests(file), key=lambda test: test.suite.number):
            self._add(list(group))

    def _add(self, tests: Sequence[JunitTest]) -> None:
        found = trials_of(tests)
        self.trials += found.trials
        self._files += [found.file] * len(found.trials)
        self._notes += found.notes
        self._planned += found.planned
        self._made_at = self._made_at or _made_at(tests[0].suite.attributes)

    @property
    def results(self) -> ForeignResults:
        """Its trials, with what is known of all."""
        planned = max(self._planned, len(self.trials)) if self._planned else None
        return ForeignResults(
            with_one_target(self._apart()),
            planned=planned,
            made_at=self._made_at,
            notes=self._notes,
            file=self._file,
        )

    def _apart(self) -> Sequence[ForeignTrial]:
        """The trials, those of one id in several files named after their file."""
        files: dict[str, set[str]] = {}
        for trial, file in zip(self.trials, self._files, strict=True):
            files.setdefault(trial.case, set()).add(file)
        return [
            trial if len(files[trial.case]) == 1 else _named_after(file, trial)
            for trial, file in zip(self.trials, self._files, strict=True)
        ]


def _named_after(file: str, trial: ForeignTrial) -> ForeignTrial:
    case = f"{file} > {trial.case}"
    return replace(trial, case=case, asked={"test": case})


def _made_at(suite: Mapping[str, str]) -> str | None:
    """The time of a suite. One without a zone is UTC where jest-junit wrote it, and unknown elsewhere."""
    try:
        return instant(suite.get("timestamp", ""), UTC if writer_of(suite) == JEST else None)
    except ValueError:
        return None
