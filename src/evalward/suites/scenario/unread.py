"""The result of a trial that nobody can read: a failure in every layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.records.result import UNREADABLE, Result, Status
from evalward.records.trace import Trace
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.details import GateResult, ScenarioDetails
from evalward.suites.scenario.gate_models import Gate as WrittenGate
from evalward.suites.scenario.naming import check_of
from evalward.suites.scenario.outcome import composite_score


@dataclass(frozen=True)
class About:
    """Which trial it is: its case, number and agent, and how it was isolated, in words."""

    case: ScenarioCase
    trial: int
    agent: str
    isolation: str


def unread_result(about: About, written: Sequence[WrittenGate], trace: Trace, why: str) -> Result:
    """A failure in every layer: nobody knows better, and who can't be judged must gain nothing by it."""
    case, evaluation = about.case, about.case.scenario.evaluation
    gates = [GateResult(gate_type=gate.type, passed=False, message="not judged") for gate in written]
    details = ScenarioDetails(
        gates=gates,
        gates_total=len(gates),
        judge_score=0.0 if case.scenario.judged else None,
        judge_passed=False if case.scenario.judged else None,
        composite_score=composite_score(
            evaluation.composite, judge=0.0, gates_passed=0, gates_total=len(gates), first_try=0.0
        ),
        completed=False,
        isolation=about.isolation,
        agent=about.agent,
    )
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=about.trial,
        status=Status.FAILED,
        max_score=float(len(gates)),
        checks=[check_of(gate, found) for gate, found in zip(written, gates, strict=True)],
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=UNREADABLE,
        message=why,
        details=details,
    )
