"""What the writers of JUnit XML put into names, and how their elements become trials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignTrial
from evalward.suites.external.formats.junit_properties import property_scores, property_usage
from evalward.suites.external.formats.junit_tests import JunitEnding, JunitTest
from evalward.suites.external.formats.pytest_names import RepeatedName, for_k, repeat_of, whole_repeats
from evalward.suites.external.formats.vitest_document import SEPARATOR

PYTEST, VITEST, JEST, PROMPTFOO, OTHER = "pytest", "vitest", "jest-junit", "promptfoo", "other"

_BY_ATTRIBUTES = {
    ("name", "errors", "failures", "skipped", "tests", "time", "timestamp", "hostname"): PYTEST,
    ("name", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"): VITEST,
    ("name", "errors", "failures", "skipped", "timestamp", "time", "tests"): JEST,
    ("errors", "failures", "name", "skipped", "tests", "time", "timestamp"): PROMPTFOO,
}
"""Each writer has its own order of a suite's attributes; names of suites can be configured."""


def writer_of(suite: Mapping[str, str]) -> str:
    """Which program wrote a suite, by its attributes in their order."""
    return _BY_ATTRIBUTES.get(tuple(suite), PYTEST if suite.get("name") == "pytest" else OTHER)


@dataclass(frozen=True)
class SuiteTrials:
    """The trials of a suite.

    `planned`: how many there should be, as far as names tell it. `file`: the test file whose name has to tell equal
    ids apart, where an id doesn't name it.
    """

    trials: Sequence[ForeignTrial]
    notes: Sequence[str] = ()
    planned: int = 0
    file: str = ""


class _Called(NamedTuple):
    """What a test is called: the id of its case, and what else its names tell."""

    case: str
    category: str = ""
    target: str = ""
    suite: str = ""
    number: int | None = None
    again: str = ""


def trials_of(tests: Sequence[JunitTest]) -> SuiteTrials:
    """The trials of one suite's tests, in their order."""
    return _READERS[writer_of(tests[0].suite.attributes)](tests)


def _trial(test: JunitTest, called: _Called) -> ForeignTrial:
    status, reason, ending = _ended(test)
    properties = test.properties
    return ForeignTrial(
        case=called.case,
        status=status,
        number=called.number,
        suite=called.suite,
        target=called.target or properties.get("model", ""),
        category=properties.get("category", "") or called.category,
        asked={"test": called.case},
        reason=reason,
        message=ending.message,
        scores=property_scores(properties),
        usage=property_usage(properties),
        duration_ms=None if test.seconds is None or status is Status.SKIPPED else round(test.seconds * 1000),
        again=called.again,
    )


def _ended(test: JunitTest) -> tuple[Status, str | None, JunitEnding]:
    if test.failure is not None:
        return Status.FAILED, "failed", test.failure
    if test.error is not None:
        return Status.ERROR, "error", test.error
    if test.skipped is not None:
        return Status.SKIPPED, "skipped", test.skipped
    return Status.PASSED, None, JunitEnding()


def _other(tests: Sequence[JunitTest]) -> SuiteTrials:
    """Equal names are trials in the order of the file."""
    return SuiteTrials([_trial(test, _Called(_other_case(test), test.classname)) for test in tests])


def _other_case(test: JunitTest) -> str:
    return test.name if test.classname == test.name else _pytest_case(test.classname, test.name)


# pytest


def _pytest_case(classname: str, name: str) -> str:
    return f"{classname}::{name}" if classname else name


def _pytest(tests: Sequence[JunitTest]) -> SuiteTrials:
    """Elements of equal name are one test: attempts of pytest-rerunfailures, or a failure and its broken teardown."""
    attempts: dict[tuple[str, str], list[JunitTest]] = {}
    for test in tests:
        attempts.setdefault((test.classname, test.name), []).append(test)
    last = [_last(group) for group in attempts.values()]
    again = sum(_was_rerun(group) for group in attempts.values())
    notes = [f"{_tests(again)} ran again after a failure (pytest-rerunfailures); the last attempt counts"] * bool(again)
    repeats = _repeats(last)
    trials = [_trial(test, _pytest_called(test, repeats)) for test in last]
    planned = sum(count for _, count in repeats) + sum(trial.number is None for trial in trials)
    return SuiteTrials(trials, notes, planned)


def _last(attempts: Sequence[JunitTest]) -> JunitTest:
    """The attempt that counts. A teardown that broke after a failure takes nothing back: the target had answered."""
    last = attempts[-1]
    if not _failed_and_broke(attempts):
        return last
    before = attempts[-2]
    return replace(before, properties={**before.properties, **last.properties})


def _failed_and_broke(attempts: Sequence[JunitTest]) -> bool:
    return len(attempts) > 1 and attempts[-1].error is not None and attempts[-2].failure is not None


def _was_rerun(attempts: Sequence[JunitTest]) -> bool:
    return len(attempts) > (2 if _failed_and_broke(attempts) else 1)


def _repeats(tests: Sequence[JunitTest]) -> set[tuple[str, int]]:
    """The ids that pytest-repeat has numbered, each with its count."""
    return whole_repeats(filter(None, map(_repeat_of, tests)))


def _repeat_of(test: JunitTest) -> RepeatedName | None:
    """The id without the suffix, the number and the count of a name that pytest-repeat may have written."""
    found = repeat_of(test.name)
    return found and found._replace(case=_pytest_case(test.classname, found.case))


def _pytest_called(test: JunitTest, repeats: set[tuple[str, int]]) -> _Called:
    found = _repeat_of(test)
    if found is not None and (found.case, found.trials) in repeats:
        return _Called(found.case, test.classname, number=found.number, again=for_k(found.case))
    case = _pytest_case(test.classname, test.name)
    return _Called(case, test.classname, again=for_k(case))


# vitest and jest: their -t is a pattern over titles that are joined by blanks


def _vitest(tests: Sequence[JunitTest]) -> SuiteTrials:
    """A failed hook and a file that can't be loaded stand among the tests, named after their suite or file."""
    suites = {part for test in tests for part in _suites_of(test.name)}
    trials, notes = [], []
    for test in tests:
        trial = _trial(test, _Called(test.name, test.classname, again=test.name.replace(SEPARATOR, " ")))
        if test.failure is not None and (test.name == test.classname or test.name in suites):
            trial = replace(trial, status=Status.ERROR, reason="not_loaded" if test.name == test.classname else "hook")
            notes.append(f"{test.name}: its tests didn't all run: a file couldn't be loaded, or a hook failed")
        trials.append(trial)
    return SuiteTrials(trials, notes, file=tests[0].classname)


def _suites_of(name: str) -> Iterator[str]:
    at = name.find(SEPARATOR)
    while at >= 0:
        yield name[:at]
        at = name.find(SEPARATOR, at + len(SEPARATOR))


def _jest(tests: Sequence[JunitTest]) -> SuiteTrials:
    """Suite and title, joined by a blank, stand in both names. A todo looks like a test that passed.

    A suite is called after its first test's outermost title; it is "undefined" where that has none.
    """
    suite = tests[0].suite.attributes.get("name", "")
    category = "" if suite == "undefined" else suite
    trials = [_trial(test, _Called(test.name, category, again=test.name.strip())) for test in tests]
    counted = tests[0].suite.attributes.get("tests", "")
    todo = len(tests) - int(counted) if counted.isdecimal() and len(counted) < 10 else 0
    notes = [f"jest-junit writes `todo` as passed, as {_tests(todo)} of {suite} may be; jest's JSON says which"]
    return SuiteTrials(trials, notes if todo > 0 else ())


# promptfoo

_PROVIDER = re.compile(r"\[(?P<provider>.*)\] (?P<prompt>prompt \d+)", re.DOTALL)
_ROW = re.compile(r"test \d+: (?P<description>.+)", re.DOTALL)


def _promptfoo(tests: Sequence[JunitTest]) -> SuiteTrials:
    """Rows of equal description are trials; one without a description is called by its number."""
    return SuiteTrials([_trial(test, _promptfoo_called(test)) for test in tests])


def _promptfoo_called(test: JunitTest) -> _Called:
    around, row = _PROVIDER.fullmatch(test.classname), _ROW.fullmatch(test.name)
    case = row["description"] if row is not None else test.name
    if around is None:
        return _Called(case, suite=test.classname)
    return _Called(case, target=around["provider"], suite=around["prompt"])


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number:,} tests"


_READERS: Mapping[str, Callable[[Sequence[JunitTest]], SuiteTrials]] = {
    PYTEST: _pytest,
    VITEST: _vitest,
    JEST: _jest,
    PROMPTFOO: _promptfoo,
    OTHER: _other,
}
