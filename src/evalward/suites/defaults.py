"""The outcome of a trial that is right or wrong as a whole."""

from __future__ import annotations

from evalward.records.case import Case
from evalward.records.result import Details, OtherDetails, Result, Status
from evalward.records.trace import Trace


def result_of(
    case: Case,
    trial: int,
    trace: Trace,
    wrong: str | None,
    *,
    message: str | None = None,
    details: Details | None = None,
) -> Result:
    """The result of a trial that counts one point: passed, or failed for the reason `wrong`, one word for tables."""
    passed = wrong is None
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.PASSED if passed else Status.FAILED,
        score=float(passed),
        max_score=1.0,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=wrong,
        message=message,
        details=details or OtherDetails(),
    )
