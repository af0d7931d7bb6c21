"""The tests in a JSON report of vitest or jest, and the test files that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalward.records.json_stream import MOST_BYTES, JsonStream
from evalward.records.json_text import NoJsonError
from evalward.suites.external.formats.base import ForeignFile, unreadable
from evalward.suites.external.formats.values import mapping, text

TITLE = "a JSON report of vitest or jest"
MOST_TEST_VALUES = 1_000_000
"""Of one test."""
MOST_OTHER_VALUES = 100_000
"""Of what stands around the tests, each."""
SEPARATOR = " > "
"""Between the titles of a test, in its id; vitest itself writes it into JUnit XML."""
_RESULTS, _TESTS = "testResults", "assertionResults"
_OF_A_FILE = frozenset({"name", "status", "message"})


@dataclass(frozen=True)
class VitestFile:
    """A test file: its path as the report has it, its status, and what went wrong outside of its tests."""

    name: str
    status: str
    message: str


@dataclass
class VitestDocument:
    """A report, whose tests are gone through one by one. `head` and `files` are whole after that, and not before."""

    file: ForeignFile
    head: dict[str, Any] = field(default_factory=dict)
    files: list[VitestFile] = field(default_factory=list)

    @property
    def jest(self) -> bool:
        """Whether jest wrote it."""
        return "numRuntimeErrorTestSuites" in self.head

    def rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The tests, each with the index of its file. Raises `InputError` for a report that can't be read."""
        self.head, self.files = {}, []
        if self.file.size > MOST_BYTES:
            raise unreadable(self.file, TITLE, f"it is larger than {MOST_BYTES >> 20} MiB")
        try:
            with self.file.open() as opened:
                yield from self._report(JsonStream(opened))
        except NoJsonError as error:
            raise unreadable(self.file, TITLE, str(error)) from None

    def _report(self, stream: JsonStream) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for key in stream.members():
            if key in self.head:
                raise stream.twice(key)
            if key != _RESULTS:
                self.head[key] = stream.value(MOST_OTHER_VALUES)
                continue
            self.head[key] = []
            for _ in stream.elements():
                yield from self._test_file(stream)
        stream.end()
        if _RESULTS not in self.head:
            raise NoJsonError(f"it has no {_RESULTS}")

    def _test_file(self, stream: JsonStream) -> Iterator[tuple[int, Mapping[str, Any]]]:
        found: dict[str, Any] = {}
        for key in stream.members():
            if key in found:
                raise stream.twice(key)
            found[key] = None
            if key == _TESTS:
                for _ in stream.elements():
                    row = stream.value(MOST_TEST_VALUES)
                    if not isinstance(row, dict):
                        raise NoJsonError("a test in it is not an object")
                    yield len(self.files), row
            elif key in _OF_A_FILE:
                found[key] = stream.value(MOST_OTHER_VALUES)
            else:
                stream.skip()
        if _TESTS not in found:
            raise NoJsonError(f"a test file in it has no {_TESTS}")
        self.files.append(VitestFile(*(text(found.get(key)) for key in ("name", "status", "message"))))


def run_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """What vitest-evals keeps of a test's run of its harness."""
    return mapping(mapping(mapping(row.get("meta")).get("harness")).get("run"))


def titles_of(row: Mapping[str, Any]) -> list[str]:
    """The titles of a test: of the suites around it, and its own."""
    around = row.get("ancestorTitles")
    return [*(text(title) for title in (around if isinstance(around, list) else ())), text(row.get("title"))]
