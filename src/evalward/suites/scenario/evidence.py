"""What one scenario trial says to a comparison."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.result import Details, Result
from evalward.suites.scenario.details import ScenarioDetails


def evidence(result: Result) -> CaseEvidence:
    """The last command of the tool that failed, and whether a replay went as recorded."""
    details = result.details
    if not isinstance(details, ScenarioDetails):
        return NO_EVIDENCE
    last = details.interaction.failed[-1] if details.interaction.failed else None
    return CaseEvidence(
        command=last.command if last else None,
        stderr=(last.said or None) if last else None,
        replayed=details.replayed,
        diverged=details.diverged_at is not None,
    )


def as_failed(details: Details) -> Details:
    """The trial with every gate closed, and the lowest score where it was judged."""
    if not isinstance(details, ScenarioDetails):
        return details
    judged = details.judge_score is not None
    return details.model_copy(
        update={
            "gates": [gate.model_copy(update={"passed": False}) for gate in details.gates],
            "gates_passed": 0,
            "completed": False,
            "judge_score": 0.0 if judged else None,
            "judge_passed": False if judged else None,
            "composite_score": None if details.composite_score is None else 0.0,
        }
    )
