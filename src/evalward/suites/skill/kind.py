"""The kind `skill`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.decide.kinds import PerTrial
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.result import Result
from evalward.suites.base import BaseKind, TrialOutcome
from evalward.suites.skill.details import SkillDetails
from evalward.suites.skill.metrics import METRIC_IDS, PER_TRIAL, measure
from evalward.suites.skill.spec import SkillSuite
from evalward.targets.agents.base import Agent
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.suites.skill.case import SkillCase
    from evalward.suites.skill.context import SkillPrepared

# Without a drop a config that names no rule would protect nothing.
DEFAULT_RULES = (Rule(metric="pass_rate", max_drop=0.05),)


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

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return PER_TRIAL.get(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The metrics of triggers and arms."""
        return measure(results)


SKILL = SkillKind()
