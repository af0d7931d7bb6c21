"""What a confirm stage that ended before its end makes of the report."""

from __future__ import annotations

import pytest

from evalward.engine.confirm import with_confirmation
from evalward.engine.scheduler import Executed
from evalward.records.report import Interruption
from support.outcomes import known, measured, retried, steady


@pytest.mark.parametrize(
    ("why", "by", "interrupted"),
    [
        ("interrupted by SIGINT", "signal", "interrupted by SIGINT"),
        ("budget: $1 of $1 is spent", "budget", None),
        ("all keys are refused", "fault", None),
        (None, None, None),
    ],
)
def test_stage_that_somebody_stopped__ends_the_report(
    why: str | None, by: Interruption | None, interrupted: str | None
) -> None:
    now = measured(steady(5, c0="F"))
    wanted = retried(now, known(steady(5, "PPPPP")))
    found = with_confirmation(now, wanted, Executed(runs=now.runs, interrupted=why, interrupted_by=by))
    assert (found.interrupted, found.interrupted_by) == (interrupted, by if interrupted else None)
    assert found.runs[0].confirm_note == (f"it ended early: {why}" if why else None)
