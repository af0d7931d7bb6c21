"""The kind `speedup`: load its tasks, measure what a target makes of one, judge it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, PerTrial
from evalward.opening import read_text_inside
from evalward.records.base import digest
from evalward.records.baseline import BaselineRun
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.problem import wrong
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, Grid, Section, TrialSection
from evalward.records.timing import Timings
from evalward.render.kinds import TrialText
from evalward.suites.base import BaseKind, Prepared, Proof, TrialOutcome
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.evidence import evidence
from evalward.suites.speedup.findings import interpret
from evalward.suites.speedup.load import load_cases
from evalward.suites.speedup.measure.spread import spread_findings
from evalward.suites.speedup.metrics import DEFAULT_RULES, METRIC_IDS, PER_TRIAL, measure
from evalward.suites.speedup.outcome import as_failed
from evalward.suites.speedup.prove import patches_of, prove_cases
from evalward.suites.speedup.sections import sections, summary, trial_text
from evalward.suites.speedup.spec import SpeedupSuite
from evalward.suites.speedup.task import SpeedupCase
from evalward.suites.speedup.timings import timings_of
from evalward.suites.speedup.trial import SpeedupContext, run_trial
from evalward.suites.speedup.trial_sections import trial_sections
from evalward.targets.base import Target
from evalward.targets.per_task import FileTarget


@dataclass(frozen=True)
class SpeedupSettings:
    """What a suite's trials and its proof need."""

    equipment: SpeedupContext
    patches: Sequence[FileTarget]


SpeedupPrepared: TypeAlias = Prepared[SpeedupSuite, SpeedupCase, SpeedupSettings]


@dataclass(frozen=True)
class SpeedupKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "speedup"
    spec: type[SpeedupSuite] = SpeedupSuite
    details: type[SpeedupDetails] = SpeedupDetails
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: SpeedupSuite, config: LoadedConfig) -> SpeedupPrepared:
        """The tasks of a suite. What a pull request may change beside the agent: what it is told, and Python."""
        system = _system(spec, config)
        prompts = {"system": digest(system)} if system else {}
        subject = {"python": platform.python_version(), **prompts}
        settings = SpeedupSettings(SpeedupContext(spec, system), patches_of(spec.targets, config))
        texts = dict.fromkeys(prompts.values(), system or "")
        return Prepared(spec, load_cases(spec, config), subject, settings, texts=texts)

    async def run_trial(self, suite: SpeedupPrepared, case: SpeedupCase, target: Target, trial: int) -> TrialOutcome:
        """Make the change, measure it in turns with nop and oracle, judge it."""
        return await run_trial(suite.settings.equipment, case, target, trial)

    async def prove(self, suite: SpeedupPrepared) -> Proof:
        """The human patch passes and is faster, an unchanged copy is not, every patch of the suite applies."""
        return await prove_cases(suite.settings.equipment, suite.cases, suite.settings.patches)

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return PER_TRIAL.get(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The specification's run-level aggregation."""
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

    def sections(self, run: Run, base: BaselineRun | None, *, alone: bool = False) -> list[Section]:
        """Bars of agent and oracle."""
        return sections(run, base, alone=alone)

    def timings(self, before: Iterable[Result], now: Iterable[Result]) -> Timings | None:
        """Which benchmarks got slower, by their samples."""
        return timings_of(before, now)

    def summary(self, runs: Iterable[Run]) -> Grid:
        """FC-Eval's summary table."""
        return summary(runs)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """What the numbers show, and what they hide."""
        return [*interpret(results, measurement), *spread_findings(results)]


def _system(spec: SpeedupSuite, config: LoadedConfig) -> str | None:
    if spec.system is None:
        return None
    try:
        return read_text_inside(config.root, spec.system).strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(spec.system, f"can't be read: {error}", "Name a text file of the repository.") from error


SPEEDUP = SpeedupKind()
