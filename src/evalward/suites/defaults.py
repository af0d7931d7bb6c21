"""What a kind need not say itself, and the outcome of a trial that is right or wrong as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.base import Record
from evalward.records.case import Case
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Finding, Run
from evalward.records.result import Details, OtherDetails, Result, Status
from evalward.records.trace import Trace
from evalward.suites.base import Prepared, Proof


class KindDefaults:
    """For a kind to inherit from: no details, rules, proof and findings."""

    details: type[Record] = OtherDetails
    default_rules: Sequence[Rule] = ()

    async def prove(self, suite: Prepared) -> Proof:
        """The cases could be read; nothing is run."""
        return Proof([], f"{len(suite.cases)} cases read")

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond the numbers."""
        return []

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:  # noqa: ARG002
        """Nothing beyond what each run shows."""
        return []


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
