"""The tool calls of a trial that went wrong: which one to look at first, and what all of them said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalward.records.trace import ToolCall
from evalward.sandbox.base import cut
from evalward.suites.bash.details import FailedCall

SHOWN_COMMAND, SHOWN_STDERR = 2_000, 500  # characters that a report shows of the call to look at first
MOST_FAILURES = 10
COMMAND_KEPT, MESSAGE_KEPT = 300, 500  # characters of each of the others
_ERRORS_TO_OUTPUT = re.compile(r"2>&1|&>|>&(?!\d)|\|&")


def blamed_call(calls: Sequence[ToolCall]) -> ToolCall | None:
    """The call to look at first: the last one that failed, else the last."""
    candidates = _failed(calls) or list(calls)
    return candidates[-1] if candidates else None


def failures_of(calls: Sequence[ToolCall]) -> list[FailedCall]:
    """The first calls that failed or wrote to standard error, each cut: material to compare models by."""
    return [
        FailedCall(
            command=cut(call.commands, COMMAND_KEPT), message=cut(_said(call), MESSAGE_KEPT), exit_code=call.exit_code
        )
        for call in _failed(calls)[:MOST_FAILURES]
    ]


def _said(call: ToolCall) -> str:
    """Standard error, or the output of a call that failed and sent its errors there."""
    if call.stderr.strip() or call.exit_code in {0, None} or not _ERRORS_TO_OUTPUT.search(call.commands):
        return call.stderr
    return call.stdout


def _failed(calls: Sequence[ToolCall]) -> list[ToolCall]:
    return [call for call in calls if call.exit_code not in {0, None} or call.stderr]
