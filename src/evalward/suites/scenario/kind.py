"""The kind `scenario`: load its cases, let an agent work, judge what came of it, measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, PerTrial
from evalward.records.baseline import BaselineRun
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, Section, TrialSection
from evalward.records.target_id import target_id
from evalward.render.kinds import TrialText
from evalward.sandbox.process import available
from evalward.suites.base import BaseKind, Prepared, Proof, TrialOutcome
from evalward.suites.isolation import sandbox_limits, shortcomings
from evalward.suites.judge.who import JudgeNeeds
from evalward.suites.scenario.builtin import SYSTEM, BuiltInAgent
from evalward.suites.scenario.case import ScenarioCase, subject_of
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.diagnose import diagnose
from evalward.suites.scenario.evidence import as_failed, evidence
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.judged import own_judge
from evalward.suites.scenario.load import load_cases
from evalward.suites.scenario.metrics import EVALUATOR, METRIC_IDS, measure, per_trial
from evalward.suites.scenario.prove import prove_cases
from evalward.suites.scenario.sections import sections, trial_text
from evalward.suites.scenario.spec import ScenarioSuite
from evalward.suites.scenario.told import guidance_texts
from evalward.suites.scenario.trial import Walls, run_scenario
from evalward.suites.scenario.trial_sections import trial_sections
from evalward.suites.tool import ToolPrompting, load_prompting
from evalward.targets.agents.base import Agent
from evalward.targets.base import Target, talks

if TYPE_CHECKING:
    from evalward.decide.guidance import GuidanceReading

# The specification leaves interaction without a say in the outcome and thresholds to whoever compares. The drops are
# ours: without them a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="outcome_pass_rate", max_drop=0.05),
    Rule(metric="gate_pass_rate", max_drop=0.05),
    Rule(metric="tool_success_rate", max_drop=0.10),
)


@dataclass(frozen=True)
class ScenarioContext:
    """What a suite's trials have in common: the walls around agents, and what the built-in one is told.

    `own_judges`: the models that scenarios with a judge choose themselves, `None` for those that don't.
    """

    walls: Walls
    prompting: ToolPrompting
    own_judges: Mapping[str, str | None] = field(default_factory=dict)


ScenarioPrepared: TypeAlias = Prepared[ScenarioSuite, ScenarioCase, ScenarioContext]


@dataclass(frozen=True)
class ScenarioKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "scenario"
    spec: type[ScenarioSuite] = ScenarioSuite
    details: type[ScenarioDetails] = ScenarioDetails
    metric_ids: Sequence[str] = (*METRIC_IDS, f"{EVALUATOR}*")
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: ScenarioSuite, config: LoadedConfig) -> ScenarioPrepared:
        """Scenarios, walls and prompt of a suite."""
        prompting = load_prompting(config.root, spec.system, None, SYSTEM)
        loaded = load_cases(spec, config)
        limits = sandbox_limits(spec.limits)
        walls = Walls(limits, spec.network, spec.allow_unisolated, spec.gates_network)
        found = available()
        prompts = prompting.subject if any(map(is_talked_with, spec.targets)) else {}
        subject = {**prompts, **subject_of(loaded.cases), "isolation": found.level}
        warnings = [*loaded.warnings, *shortcomings(spec, found, "agents")]
        own = {case.id: own_judge(case, config) for case in loaded.cases if case.scenario.judged}
        judging = JudgeNeeds(list(own.values()), default=True) if own else None
        context, texts = ScenarioContext(walls, prompting, own), {**prompting.texts, **guidance_texts(loaded.cases)}
        return Prepared(spec, loaded.cases, subject, context, warnings, judging, texts=texts)

    async def run_trial(
        self, suite: ScenarioPrepared, case: ScenarioCase, target: Target | Agent, trial: int
    ) -> TrialOutcome:
        """One agent's work in a fresh copy of the fixture, and what is to be said about it."""
        equipment = suite.settings
        prompting = equipment.prompting if case.system is None else replace(equipment.prompting, system=case.system)
        judge = suite.judges.of(equipment.own_judges.get(case.id)) if suite.judges is not None else None
        return await run_scenario(equipment.walls, case, agent_of(target, prompting), trial, judge)

    async def prove(self, suite: ScenarioPrepared) -> Proof:
        """The solution passes every gate, and doing nothing fails one."""
        return await prove_cases(suite.cases, suite.settings.walls)

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return per_trial(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The specification's layers, pooled."""
        return measure(results)

    def evidence(self, result: Result) -> CaseEvidence:
        """What a trial says to a comparison."""
        return evidence(result)

    def as_failed(self, details: Details) -> Details:
        """The trial, had everything in it failed."""
        return as_failed(details)

    def trial_text(self, result: Result) -> TrialText:
        """What a trial did, in words."""
        return trial_text(result)

    def trial_sections(self, result: Result, files: Sequence[FileText]) -> list[TrialSection]:
        """What one trial shows beside checks and conversation."""
        return trial_sections(result, files)

    def sections(self, run: Run, base: BaselineRun | None, *, alone: bool = False) -> list[Section]:  # noqa: ARG002
        """A table of its scenarios."""
        return sections(run.cases)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """The specification's diagnostic patterns."""
        return interpret(results, measurement)

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """What several agents have in common."""
        return diagnose(runs)

    def guidance_reading(self) -> GuidanceReading:
        """What the specification's table says of a guidance."""
        from evalward.suites.scenario.guidance import READING  # noqa: PLC0415 - only who compares guidances needs it

        return READING


def agent_of(target: Target | Agent, prompting: ToolPrompting) -> Agent:
    """The target, if it works by itself; else the built-in agent with it."""
    return BuiltInAgent(target, prompting) if talks(target) else target


def is_talked_with(target: str) -> bool:
    """Whether the built-in agent works with this target, so that its prompt is under evaluation, too."""
    return target_id(target).form in {"replay", "model"}


SCENARIO = ScenarioKind()
