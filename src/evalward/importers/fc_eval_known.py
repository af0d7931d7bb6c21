"""Which files are FC-Eval's, by their content: `recognises`."""

from __future__ import annotations

import re

from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.values import outline

MOST_SEARCHED = 16 * 1024 * 1024
"""Of a log: what a test run prints before its first block."""
_BLOCK = 1024 * 1024
_LONGEST_MARKER = 200  # with what stands before it in its line
_TRIAL = frozenset({"trial_name", "task_id", "is_resolved"})
_IN_RESULTS = frozenset({"results.trial_name", "results.task_id"})
_SPEEDUPS = ("per_benchmark_speedups", "per_benchmark_speedups_by_agent")
_RESULT = frozenset([*_SPEEDUPS, *(f"result.{name}" for name in _SPEEDUPS)])
_MARKER = re.compile(rb"\n[ \t]*FORMULACODE_(?:TESTS|RESULT|SNAPSHOT)_START[ \t\r]*\n")


def known(file: ForeignFile, head: bytes) -> bool:
    """Results of a run or of a trial by their keys, a test log by a marker in a line of its own.

    A marker that is quoted in somebody's JSON is no line of its own, and XML and archives are no logs.
    """
    keys = outline(head)
    if keys >= _IN_RESULTS or keys >= _TRIAL or not keys.isdisjoint(_RESULT):
        return True
    return b"\0" not in head and not head.lstrip().startswith(b"<") and _marked(file)


def _marked(file: ForeignFile) -> bool:
    kept = b"\n"
    with file.open() as stream:
        for _ in range(MOST_SEARCHED // _BLOCK):
            block = stream.read(_BLOCK)
            if _MARKER.search(kept + block):
                return True
            if not block:
                break
            kept = (kept + block)[-_LONGEST_MARKER:]
    return False
