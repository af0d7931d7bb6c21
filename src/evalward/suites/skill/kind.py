"""The kind `skill`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, Contrast, PerTrial
from evalward.records.baseline import BaselineRun
from evalward.records.metric import Measurement
from evalward.records.policy import Arm, Rule
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, Section, TrialSection
from evalward.records.surface import PartTexts, Surface
from evalward.render.kinds import TrialText
from evalward.suites.base import BaseKind, Proof, TrialOutcome
from evalward.suites.skill.details import SkillDetails
from evalward.suites.skill.evidence import as_failed, contrast, evidence, trial_text
from evalward.suites.skill.findings import interpret
from evalward.suites.skill.metrics import METRIC_IDS, PER_TRIAL, measure
from evalward.suites.skill.sections import sections
from evalward.suites.skill.spec import SkillSuite
from evalward.suites.skill.trial_sections import trial_sections
from evalward.targets.agents.base import Agent
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.suites.skill.case import SkillCase
    from evalward.suites.skill.context import SkillPrepared

# Without a drop a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="trigger_recall", max_drop=0.05),
    Rule(metric="near_miss_rate", max_rise=0.05),
    Rule(metric="expectation_pass_rate", max_drop=0.05),
    Rule(metric="pass_rate", max_drop=0.05),
)


@dataclass(frozen=True)
class SkillKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "skill"
    spec: type[SkillSuite] = SkillSuite
    details: type[SkillDetails] = SkillDetails
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: SkillSuite, config: LoadedConfig) -> SkillPrepared:
        """Skills, cases and walls of a suite."""
        from evalward.suites.skill.prepare import prepare  # noqa: PLC0415 - who judges runs nothing

        return prepare(spec, config)

    async def run_trial(
        self, suite: SkillPrepared, case: SkillCase, target: Target | Agent, trial: int
    ) -> TrialOutcome:
        """A query with all skills installed; a task with its skill, and without."""
        from evalward.suites.skill.trial import run_skill  # noqa: PLC0415

        return await run_skill(suite, case, target, trial)

    async def prove(self, suite: SkillPrepared) -> Proof:
        """What should be loaded is, solutions pass their checks, and doing nothing fails one."""
        from evalward.suites.skill.prove import prove_skills  # noqa: PLC0415

        return await prove_skills(suite)

    def base_side(self, suite: SkillPrepared) -> SkillPrepared:
        """Tasks with the base's skill alone: what they come to without one is the head's to measure."""
        return structs.replace(suite, settings=replace(suite.settings, without=False))

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return PER_TRIAL.get(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The metrics of triggers and arms."""
        return measure(results)

    def contrast(self, metric: str, arm: Arm, results: Sequence[Result]) -> Contrast | None:
        """The arms of an uplift."""
        return contrast(metric, arm, results)

    def surface(self, before: PartTexts, now: PartTexts) -> Surface | None:
        """What changed in the skills and their descriptions."""
        from evalward.suites.skill.surface import surface_change  # noqa: PLC0415 - only where a subject changed

        return surface_change(before, now)

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
        """Arms, confused skills, each skill; what a replay is."""
        return sections(run, base, self)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG002 - the trials say it
        """What the triggers and arms show."""
        return interpret(results)


SKILL = SkillKind()
