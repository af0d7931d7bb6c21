"""The kind `mcp`: its metrics and rules; what runs its cases is loaded by who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.decide.kinds import PerTrial
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.result import Result
from evalward.records.surface import PartTexts, Surface
from evalward.suites.base import BaseKind, Proof, TrialOutcome
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.metrics import METRIC_IDS, PER_TRIAL, measure
from evalward.suites.mcp.spec import McpSuite
from evalward.targets.base import Target

if TYPE_CHECKING:
    from evalward.suites.mcp.case import McpCase
    from evalward.suites.mcp.prepare import McpPrepared

# Without a drop a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="tool_selection_accuracy", max_drop=0.05),
    Rule(metric="pass_rate", max_drop=0.05),
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
        """One model turn, and what the calls in it say."""
        from evalward.suites.mcp.select import run_select  # noqa: PLC0415

        return await run_select(suite, case, target, trial)

    async def prove(self, suite: McpPrepared) -> Proof:
        """The expected calls pass, doing nothing doesn't, and no provider refuses a tool."""
        from evalward.suites.mcp.prove import prove_cases  # noqa: PLC0415 - only `validate` proves

        return prove_cases(suite)

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


MCP = McpKind()
