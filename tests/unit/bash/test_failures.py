"""What is kept of the calls that failed."""

from __future__ import annotations

import pytest

from evalward.records.trace import ToolCall
from evalward.suites.bash.failures import failures_of


@pytest.mark.parametrize(
    ("script", "printed", "said", "code", "message"),
    [
        ("rev x", "", "rev: no x", 1, "rev: no x"),
        ("rev x 2>&1", "rev: no x", "", 1, "rev: no x"),
        ("rev x &> log; cat log; false", "rev: no x", "", 1, "rev: no x"),
        ("rev x 2>&1", "rev: no x", "rev: other", 1, "rev: other"),
        ("diff a b", "< one line", "", 1, ""),  # output, no message
        ("echo x >&2; rev x 2>&1", "x", "warning", 0, "warning"),
    ],
)
def test_what_a_failing_call_said(script: str, printed: str, said: str, code: int, message: str) -> None:
    (failure,) = failures_of([ToolCall(commands=script, stdout=printed, stderr=said, exit_code=code)])
    assert failure.message == message
