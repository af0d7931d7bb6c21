"""Layer 3: the one place where a trial meets its judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evalward.config import LoadedConfig
from evalward.opening import beginning_inside, link_free
from evalward.records.judge import JudgeOutcome
from evalward.records.problem import InputError
from evalward.records.trace import Trace
from evalward.suites.judge.ask import Gate, JudgeInput
from evalward.suites.judge.judge import Judge
from evalward.suites.judge.who import unchanged_in_base
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.outcome import JudgeLayerOutcome

NO_JUDGE = "no judge is configured: name a model in judge.model or EVALWARD_JUDGE, or set a provider's key"
MOST_GUIDANCE = 200_000  # bytes that are read of it; the question keeps less


@dataclass(frozen=True)
class JudgedScenario:
    """What the judge layer gave, and where one was asked, all of it."""

    judgement: JudgeLayerOutcome = field(default_factory=JudgeLayerOutcome)
    outcome: JudgeOutcome | None = None


def own_judge(case: ScenarioCase, config: LoadedConfig) -> str | None:
    """The model that a scenario chooses as its judge. Where a base judges, it counts only if the base has it so."""
    judge = case.scenario.evaluation.judge
    if judge is None or judge.model is None or not unchanged_in_base(config, case.place.file):
        return None
    return judge.model


async def judge_trial(case: ScenarioCase, trace: Trace, gates: Sequence[Gate], judge: Judge | None) -> JudgedScenario:
    """What the judge says, where the scenario has one enabled; without a judge that says why there is no score."""
    layer = case.scenario.evaluation.judge
    if layer is None or not layer.enabled or layer.pass_threshold is None or case.rubric is None:
        return JudgedScenario()
    threshold = layer.pass_threshold
    if judge is None:
        return JudgedScenario(JudgeLayerOutcome(enabled=True, threshold=threshold, error=NO_JUDGE))
    asked = JudgeInput(_name(case), case.prompt, trace, gates, guidance_of(case))
    outcome = await judge.judge(asked, case.rubric, threshold)
    error = None if outcome.error is None else f"{judge.model} could not judge: {outcome.error}"
    return JudgedScenario(
        JudgeLayerOutcome(enabled=True, score=outcome.score, threshold=threshold, error=error), outcome
    )


def _name(case: ScenarioCase) -> str:
    """What a recorded judge knows it by: the scenario's name, with its variant."""
    return case.id if case.variant is None else f"{case.id}@{case.variant}"


def guidance_of(case: ScenarioCase) -> str | None:
    """The guidance that the agent was given, file by file; `None` when there is none."""
    parts = []
    for name in sorted(case.guidance):
        try:
            data = beginning_inside(case.fixture, link_free(case.fixture, name), MOST_GUIDANCE)
        except (InputError, OSError):
            continue  # a link to nowhere guides nobody
        parts.append(f"{name}:\n{data.decode('utf-8', 'replace')}")
    return "\n\n".join(parts) or None
