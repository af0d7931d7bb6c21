"""The kind `bash`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, PerTrial
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, TrialSection
from evalward.render.kinds import TrialText
from evalward.suites.base import BaseKind, Proof, TrialOutcome
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.diagnose import diagnose
from evalward.suites.bash.evidence import as_failed, evidence, trial_text
from evalward.suites.bash.findings import interpret
from evalward.suites.bash.metrics import METRIC_IDS, PER_TRIAL, measure
from evalward.suites.bash.spec import BashSuite
from evalward.suites.bash.trial_sections import trial_sections
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.suites.bash.case import BashCase
    from evalward.suites.bash.trial import BashPrepared

# "Interpreting results" of the specification: a healthy profile has an overall rate above 90 % and a tool-call success
# rate above 80 %. The drops are ours: without them a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="overall_rate", goal=0.90, max_drop=0.05),
    Rule(metric="pass_rate", max_drop=0.05),
    Rule(metric="tool_call_success_rate", goal=0.80, max_drop=0.05),
)


@dataclass(frozen=True)
class BashKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "bash"
    spec: type[BashSuite] = BashSuite
    details: type[BashDetails] = BashDetails
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: BashSuite, config: LoadedConfig) -> BashPrepared:
        """Cases, prompt and tool of a suite."""
        if spec.sandbox == "virtual":
            from evalward.sandbox.virtual import start_early  # noqa: PLC0415

            start_early()
        from evalward.suites.bash.trial import prepare  # noqa: PLC0415 - who judges runs nothing

        return prepare(spec, config)

    async def run_trial(self, suite: BashPrepared, case: BashCase, target: Target, trial: int) -> TrialOutcome:
        """One conversation in a fresh shell, then the checks."""
        from evalward.suites.bash.trial import run_trial  # noqa: PLC0415

        return await run_trial(suite, case, target, trial)

    async def prove(self, suite: BashPrepared) -> Proof:
        """The oracle passes every check, doing nothing passes no case, each check fails on some wrong answer."""
        from evalward.suites.bash.trial import prove  # noqa: PLC0415

        return await prove(suite)

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return PER_TRIAL.get(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The specification's metrics."""
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

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """What the numbers show: the specification's "Interpreting results"."""
        return interpret(results, measurement)

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """The specification's "Cross-Model Diagnostics"."""
        return diagnose(runs)


BASH = BashKind()
