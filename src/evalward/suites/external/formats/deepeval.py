"""Test runs of deepeval: `test_run_….json`, `.deepeval/.latest_run_full.json`, `.deepeval/.latest_test_run.json`.

pytest-repeat writes the number of a trial into the case's name. A task that raises before its metrics are asked leaves
no case at all: what is missing is known from the numbers alone, and not for a case that has none of them.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evalward.records.base import digest
from evalward.records.problem import wrong
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, unreadable
from evalward.suites.external.formats.deepeval_case import TrialName, asked_by, by_input, name_of, trial_of
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.naming import short_digest
from evalward.suites.external.formats.pytest_names import RepeatedName, repeat_of
from evalward.suites.external.formats.values import mapping, outline, rows, text

TITLE = "a test run of deepeval"
_CASES, _TALKS, _WRAPPER = "testCases", "conversationalTestCases", "testRunData"
_SAME_AGAIN = ".latest_test_run.json"
"""A copy of the last run, in a wrapper; in its folder the other one is read."""
MOST_CASES = 200_000
MOST_REPEATS = 10_000


class Deepeval:
    """The format `deepeval`."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the signature of every format
        """By the keys of a run, or of the wrapper and the run in it."""
        keys = outline(head)
        if _WRAPPER in keys:
            return f"{_WRAPPER}.{_CASES}" in keys
        return _CASES in keys and (f"{_CASES}.name" in keys or _TALKS in keys)

    def belongs(self, name: str) -> bool:
        """JSON files, but for the copy of the last run."""
        return name.lower().endswith(".json") and posixpath.basename(name) != _SAME_AGAIN

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file is a run."""
        return [_TestRun(file).results for file in files]


FORMAT = Deepeval()


class _TestRun:
    """A run, whose cases are gone through twice: first for their names alone."""

    def __init__(self, file: ForeignFile) -> None:
        self._file = file
        above = (_WRAPPER,) if f"{_WRAPPER}.{_CASES}" in outline(file.head()) else ()
        self._count = 0
        self._names: dict[str, set[str]] = defaultdict(set)
        self._repeats: dict[RepeatedName, set[str]] = defaultdict(set)
        self._metrics: set[str] = set()
        path = (*above, _CASES)
        self._document = Document(file, TITLE, path, without=[(*above, "metricsScores")], look=self._look)
        head = mapping(self._document.head.get(_WRAPPER)) if above else self._document.head
        self._head: Mapping[str, Any] = head
        self._talks = rows(head.get(_TALKS))
        for talk in self._talks:
            self._look(talk)
        if not self._count:
            raise wrong(file.name, f"{TITLE} without a case", "Look which tests deepeval was to run.")
        self._counts = _believed(self._repeats)

    def _look(self, case: Any) -> None:
        self._count += 1
        if not isinstance(case, dict) or not text(case.get("name")):
            raise unreadable(self._file, TITLE, "one of its cases has no name")
        if self._count > MOST_CASES:
            raise unreadable(self._file, TITLE, f"it has more than {MOST_CASES:,} cases")
        name, asked = name_of(case), short_digest(asked_by(case))
        self._names[name or by_input(case)].add(asked)
        repeat = repeat_of(name)
        if repeat is not None and repeat.trials <= MOST_REPEATS:
            self._repeats[repeat].add(asked)
        for metric in rows(case.get("metricsData")):
            self._metrics.add(digest([metric.get(key) for key in ("name", "threshold", "strictMode", "flaky")]))

    @property
    def results(self) -> ForeignResults:
        """The run. Of its tests only the thresholds are known; who answered is where hyperparameters tell it."""
        missing = self._missing()
        total = sum(most - len(numbers) for (_, most), numbers in missing.items())
        return ForeignResults(
            trials=self._trials(),
            file=self._file.name,
            planned=self._count + total,
            notes=[_missing_note(missing, total)] if total else [],
            subject={"metrics": digest(sorted(self._metrics))} if self._metrics else {},
        )

    def _trials(self) -> Iterator[ForeignTrial]:
        target = text(mapping(self._head.get("hyperparameters")).get("model"))
        for case in chain(self._document.items() if self._document.has_items else (), self._talks):
            yield trial_of(case, self._called(case), target)

    def _called(self, case: Mapping[str, Any]) -> TrialName:
        name = name_of(case)
        if not name:
            name = by_input(case)
            several = len(self._names[name]) > 1
            return TrialName(f"{name} #{short_digest(asked_by(case))}" if several else name, None)
        repeat = repeat_of(name)
        if repeat is not None and repeat.trials in self._counts:
            return TrialName(repeat.case, repeat.number)
        return TrialName(name, None)

    def _missing(self) -> dict[tuple[str, int], set[int]]:
        """The numbers that are there, by case and count, of those that have a gap."""
        seen: dict[tuple[str, int], set[int]] = defaultdict(set)
        for repeat in self._repeats:
            if repeat.trials in self._counts:
                seen[repeat.case, repeat.trials].add(repeat.number)
        return {key: numbers for key, numbers in seen.items() if len(numbers) < key[1]}


def _believed(repeats: Mapping[RepeatedName, set[str]]) -> set[int]:
    """How often pytest-repeat had each case run. An id such as `day[2026-11-22]` has the same form: a count is believed
    where two of its numbers ask the same."""
    askers: dict[tuple[str, int, str], int] = defaultdict(int)
    for repeat, asked in repeats.items():
        for each in asked:
            askers[repeat.case, repeat.trials, each] += 1
    return {count for (_, count, _), numbers in askers.items() if numbers > 1}


def _missing_note(missing: Mapping[tuple[str, int], set[int]], total: int) -> str:
    (case, most), numbers = next(iter(missing.items()))
    first = next(number for number in range(1, most + 1) if number not in numbers)
    left = f"{plural(total, 'trial')} left no case in deepeval's file, as number {first} of {case}"
    return f"{left}: a task that raises leaves none"
