"""The kind `prompt`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, PerTrial
from evalward.records.baseline import BaselineRun
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, Section, TrialSection
from evalward.render.kinds import TrialText
from evalward.suites.base import BaseKind, Proof, TrialOutcome
from evalward.suites.pooling import SCORED_IDS
from evalward.suites.prompt.details import PromptDetails
from evalward.suites.prompt.evidence import as_failed, evidence, sections, trial_text
from evalward.suites.prompt.metrics import measure, per_trial
from evalward.suites.prompt.spec import PromptSuite
from evalward.suites.prompt.trial_sections import trial_sections
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.suites.prompt.case import PromptCase
    from evalward.suites.prompt.trial import PromptPrepared

# Without a drop a config that names no rule would protect nothing.
DEFAULT_RULES = (Rule(metric="pass_rate", max_drop=0.05), Rule(metric="mean_score", max_drop=0.05))


@dataclass(frozen=True)
class PromptKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "prompt"
    spec: type[PromptSuite] = PromptSuite
    details: type[PromptDetails] = PromptDetails
    metric_ids: Sequence[str] = SCORED_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: PromptSuite, config: LoadedConfig) -> PromptPrepared:
        """Cases and prompts of a suite."""
        from evalward.suites.prompt.trial import prepare  # noqa: PLC0415 - who judges runs nothing

        return prepare(spec, config)

    async def run_trial(self, suite: PromptPrepared, case: PromptCase, target: Target, trial: int) -> TrialOutcome:
        """One answer, and what the evaluators say of it."""
        from evalward.suites.prompt.trial import run_trial  # noqa: PLC0415

        return await run_trial(suite, case, target, trial)

    async def prove(self, suite: PromptPrepared) -> Proof:
        """Expected answers pass, an empty answer doesn't."""
        from evalward.suites.prompt.prove import prove_cases  # noqa: PLC0415 - only `validate` proves

        return prove_cases(suite.cases)

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return per_trial(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """What passed, and what the evaluators gave."""
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
        """What a replay is."""
        return sections(run)


PROMPT = PromptKind()
