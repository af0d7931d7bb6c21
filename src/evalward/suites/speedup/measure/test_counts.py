"""How a task's tests ended, from JUnit XML or from counts in JSON."""

from __future__ import annotations

from xml.etree import ElementTree

from evalward.suites.speedup.details import PytestSummary
from evalward.suites.speedup.log import read_parts
from evalward.suites.speedup.values import parse

MAX_BYTES = 64 * 1024 * 1024
_ENDS = {"failure": "failed", "error": "error", "skipped": "skipped"}


def read_junit(content: bytes | None) -> tuple[PytestSummary, list[str]]:
    """The counts of all test cases in a file, and notes. Without a file nothing is known, which is a failure."""
    if content is None:
        return PytestSummary(), ["TESTS: their command wrote no file"]
    if len(content) > MAX_BYTES or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return PytestSummary(status="invalid"), ["TESTS: the file is not a JUnit XML file that Evalward can read"]
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - without a DTD nothing expands
    except ElementTree.ParseError as error:
        return PytestSummary(status="invalid"), [f"TESTS: the file is not XML: {error}"]
    counts = dict.fromkeys(("passed", *_ENDS.values()), 0)
    for case in root.iter("testcase"):
        ends = [_ENDS[child.tag] for child in case if child.tag in _ENDS]
        counts[ends[0] if ends else "passed"] += 1
    return _summary(counts)


def _summary(counts: dict[str, int]) -> tuple[PytestSummary, list[str]]:
    bad = counts["failed"] + counts["error"]
    if not bad and not counts["passed"]:
        return PytestSummary(status="invalid"), ["TESTS: no test passed or failed: nothing was tested"]
    status = "failed" if bad else "passed"
    summary = PytestSummary.model_validate({**counts, "total": sum(counts.values()), "status": status})
    return summary, []


def read_counts(content: bytes | None) -> tuple[PytestSummary, list[str]]:
    """The same from JSON with `passed`, `failed`, `error`, `skipped`."""
    if content is None:
        return PytestSummary(), ["TESTS: their command wrote no file"]
    if len(content) > MAX_BYTES:
        return PytestSummary(status="invalid"), ["TESTS: the file is too large"]
    try:
        value = parse(content)
    except ValueError as error:
        return PytestSummary(status="invalid"), [f"TESTS: the file can't be read as JSON: {error}"[:300]]
    read = read_parts({"tests": value})
    notes = [note for note in read.notes if note.startswith("TESTS")]
    if read.tests.status == "passed" and not read.tests.passed:
        return PytestSummary(status="invalid"), notes
    return read.tests, notes
