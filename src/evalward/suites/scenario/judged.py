"""Layer 3: the one place where a trial meets its judge."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.scenario import GateResult
from evalward.records.trace import Trace
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.outcome import Judgement

NO_JUDGE = "no judge is available"


async def judge_trial(case: ScenarioCase, trace: Trace, gates: Sequence[GateResult]) -> Judgement:  # noqa: ARG001
    """What the judge gave, where the scenario has one enabled; without a judge that says why there is no score."""
    judge = case.scenario.evaluation.judge
    if judge is None or not judge.enabled:
        return Judgement()
    return Judgement(enabled=True, threshold=judge.pass_threshold, error=NO_JUDGE)
