"""Reports of scenario suites, as runs would leave them, for the tests of whoever shows them."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.report import Finding, Report, Run, Subject, Tool
from evalward.records.result import CheckResult, Result, Status
from evalward.suites.scenario.details import GateResult, Interaction, ScenarioDetails

GATES = ("command_json_path", "file_exists", "command_succeeds")


def interaction(
    total: int = 5, unique: int = 3, errors: int = 1, first: int | None = 2, unknown: int = 0
) -> Interaction:
    """Counts that fit each other."""
    return Interaction(
        total_commands=total,
        unique_commands=unique,
        error_count=errors,
        retry_count=total - unique,
        unknown_count=unknown,
        first_try_count=first,
    )


def trial(
    name: str,
    status: Status = Status.PASSED,
    *,
    failing: Sequence[str] = (),
    number: int = 1,
    used: Interaction | None = None,
    completed: bool | None = True,
    judge: float | None = None,
    composite: float | None = None,
    approximate: bool = False,
    reason: str | None = None,
) -> Result:
    """A trial with the three gates, of which those named `failing` don't hold."""
    gates = [GateResult(gate_type=kind, passed=kind not in failing, message=f"{kind} said") for kind in GATES]
    held = sum(gate.passed for gate in gates)
    return Result(
        id=name,
        category="basics",
        definition="sha256:d",
        trial=number,
        status=status,
        score=held,
        max_score=len(gates),
        checks=[CheckResult(check=gate.gate_type, passed=gate.passed, detail=gate.message) for gate in gates],
        reason=reason,
        details=ScenarioDetails(
            interaction=used or interaction(),
            gates=gates,
            gates_passed=held,
            gates_total=len(gates),
            judge_score=judge,
            composite_score=composite,
            completed=completed,
            isolation="full isolation (own user), network off",
            approximate=approximate,
        ),
    )


def broke(name: str, status: Status = Status.ERROR, reason: str = "sandbox") -> Result:
    """A trial that says nothing about the agent."""
    return Result(id=name, category="basics", definition="sha256:d", status=status, reason=reason)


def scenario_run(target: str, *cases: Result, suite: str = "shelf", findings: Sequence[Finding] = ()) -> Run:
    """A run of these trials."""
    return Run(
        suite=suite,
        kind="scenario",
        target=target,
        trials=max((case.trial for case in cases), default=1),
        planned=len(cases),
        subject=Subject(hash="sha256:s"),
        findings=list(findings),
        cases=list(cases),
    )


def scenario_report(*runs: Run) -> Report:
    """A report of these runs."""
    return Report(tool=Tool(version="1"), created_at="2026-11-21T08:00:00Z", runs=list(runs))
