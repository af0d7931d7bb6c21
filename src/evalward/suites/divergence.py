"""Where a replay's tool answers part from the recorded ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalward.records.trace import ToolCall
from evalward.sandbox.base import cut

# What differs from run to run by itself: times, dates and temporary names are no divergence.
_SCRUBS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"), "<date>"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w* +(\w{3} +\d+|\d+ \w{3})[ \d:A-Z+]*"), "<date>"),
    (re.compile(r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +(\d\d:\d\d(:\d\d)?|\d{4})"), "<date>"),
    (re.compile(r"\b\d{1,2}:\d\d(:\d\d)?(\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d{10}(\.\d+)?\b"), "<epoch>"),
    (re.compile(r"\b\d+m\d+\.\d+s\b"), "<time>"),
    (re.compile(r"(?<=/evalward-)\w{8}(?=/)"), "<name>"),  # our workspaces
    (re.compile(r"(/tmp/(?:tmp|[\w-]*)\.)\w{6,}"), r"\1<name>"),
)


def scrub(text: str) -> str:
    """The text without what differs from run to run by itself."""
    for pattern, substitute in _SCRUBS:
        text = pattern.sub(substitute, text)
    return text


def first_divergence(recorded: Sequence[ToolCall], today: Sequence[ToolCall]) -> int | None:
    """The number (from 1) of the first call whose stdout, stderr or exit code differs; `None` when all are alike."""
    for number, (before, now) in enumerate(zip(recorded, today, strict=False), 1):
        if before.exit_code != now.exit_code or _output(before) != _output(now):
            return number
    return None if len(recorded) == len(today) else min(len(recorded), len(today)) + 1


def _output(call: ToolCall) -> tuple[str, str]:
    return scrub(cut(call.stdout)), scrub(cut(call.stderr))
