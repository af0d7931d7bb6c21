"""The kind `mcp`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.decide.kinds import CaseEvidence, PerTrial
from evalward.records.baseline import BaselineRun
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Finding, Run
from evalward.records.result import Details, Result
from evalward.records.sections import FileText, Section, TrialSection
from evalward.records.surface import PartTexts, Surface
from evalward.render.kinds import TrialText
from evalward.suites.base import BaseKind, Proof, TrialOutcome
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.evidence import as_failed, evidence, trial_text
from evalward.suites.mcp.findings import diagnose, interpret
from evalward.suites.mcp.metrics import METRIC_IDS, PER_TRIAL, measure
from evalward.suites.mcp.sections import sections
from evalward.suites.mcp.spec import McpSuite
from evalward.suites.mcp.trial_sections import trial_sections
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.decide.guidance import GuidanceReading
    from evalward.suites.mcp.case import McpCase
    from evalward.suites.mcp.context import McpPrepared

# Without a drop a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="tool_selection_accuracy", max_drop=0.05),
    Rule(metric="pass_rate", max_drop=0.05),
    Rule(metric="tool_call_success_rate", max_drop=0.05),
    Rule(metric="forbidden_call_rate", max_rise=0.0),
)


@dataclass(frozen=True)
class McpKind(BaseKind):
    """See `evalward.suites.base.Kind`."""

    name: str = "mcp"
    spec: type[McpSuite] = McpSuite
    details: type[McpDetails] = McpDetails
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: McpSuite, config: LoadedConfig) -> McpPrepared:
        """Cases and tools of a suite."""
        from evalward.suites.mcp.prepare import prepare  # noqa: PLC0415 - who judges runs nothing

        return prepare(spec, config)

    async def run_trial(self, suite: McpPrepared, case: McpCase, target: Target, trial: int) -> TrialOutcome:
        """One model turn, and what the calls in it say; in mode `run` the loop, whose calls the server executes."""
        if suite.spec.mode == "run":
            from evalward.suites.mcp.run import run_run  # noqa: PLC0415

            return await run_run(suite, case, target, trial)
        from evalward.suites.mcp.select import run_select  # noqa: PLC0415

        return await run_select(suite, case, target, trial)

    async def prove(self, suite: McpPrepared) -> Proof:
        """The expected calls pass, and no provider refuses a tool. In mode `run` the suite's program executes them."""
        from evalward.suites.mcp.prove import prove_cases  # noqa: PLC0415 - only `validate` proves

        proof = prove_cases(suite)
        if suite.spec.mode == "select" or suite.spec.server.command is None or proof.problems:
            return proof
        from evalward.suites.mcp.prove_run import prove_by_running  # noqa: PLC0415

        return await prove_by_running(suite)

    def guidance_reading(self) -> GuidanceReading:
        """What its results say about descriptions of tools."""
        from evalward.suites.mcp.guidance import READING  # noqa: PLC0415 - only who compares descriptions needs it

        return READING

    def variants(self, suite: McpPrepared) -> Mapping[str, McpPrepared]:
        """The suite with other descriptions of its tools, by name."""
        if not suite.settings.variants:
            return {}
        from evalward.suites.mcp.variants import with_descriptions  # noqa: PLC0415 - only who compares them

        return {name: with_descriptions(suite, each) for name, each in suite.settings.variants.items()}

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return PER_TRIAL.get(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The metrics of calls, and what passed."""
        return measure(results)

    def surface(self, before: PartTexts, now: PartTexts) -> Surface | None:
        """What changed in the server's tools."""
        from evalward.suites.mcp.surface import surface_change  # noqa: PLC0415 - only where a subject changed

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
        """Confused tools, and what became of each tool and category; what a replay is."""
        return sections(run, base)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:  # noqa: ARG002 - the calls say it
        """What the calls show."""
        return interpret(results)

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """Tools that no model takes."""
        return diagnose(runs)


MCP = McpKind()
