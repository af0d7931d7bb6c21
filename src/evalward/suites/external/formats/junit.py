"""JUnit XML of pytest, vitest, jest-junit, promptfoo, and of others by the plain meaning of its elements.

`<failure>` is failed, `<error>` is error, `<skipped>` is skipped; of failure and error together the failure counts:
the test had its answer, and what broke came after. JUnit can't tell more: an exception or a timeout inside a test of
pytest, and whatever goes wrong under vitest or jest, is a `<failure>` there. Where the harness has a JSON file, that
is the better one to read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from itertools import groupby

from evalward.records.moments import instant
from evalward.records.problem import wrong
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial
from evalward.suites.external.formats.junit_dialects import JEST, trials_of, writer_of
from evalward.suites.external.formats.junit_tests import TITLE, junit_tests
from evalward.suites.external.formats.one_target import with_one_target

_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<testsuites?[\s/>]", re.DOTALL)


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
        """Each file is a run."""
        return [_results(file) for file in files]


FORMAT = Junit()


def _results(file: ForeignFile) -> ForeignResults:
    trials: list[ForeignTrial] = []
    notes: list[str] = []
    planned = 0
    made_at: str | None = None
    for _, group in groupby(junit_tests(file), key=lambda test: test.suite.number):
        tests = list(group)
        found = trials_of(tests)
        trials += found.trials
        notes += found.notes
        planned += found.planned
        made_at = made_at or _made_at(tests[0].suite.attributes)
    if not trials:
        raise wrong(file.name, f"{TITLE} without a test", "Look which tests the harness was to run.")
    return ForeignResults(
        with_one_target(trials),
        planned=max(planned, len(trials)) if planned else None,
        made_at=made_at,
        notes=notes,
    )


def _made_at(suite: Mapping[str, str]) -> str | None:
    """The time of a suite. One without a zone is UTC where jest-junit wrote it, and unknown elsewhere."""
    try:
        return instant(suite.get("timestamp", ""), UTC if writer_of(suite) == JEST else None)
    except ValueError:
        return None
