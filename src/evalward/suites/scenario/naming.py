"""Gates and endings in a few words."""

from __future__ import annotations

from evalward.records.result import CheckResult
from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.gate_models import FileExists, NoTranscriptErrors, ScriptGate
from evalward.suites.scenario.gate_models import Gate as WrittenGate
from evalward.suites.scenario.place import excerpt
from evalward.targets.agents.base import AgentRun


def how_it_went(run: AgentRun, timeout_s: float) -> str:
    """How an agent ended that didn't complete."""
    if run.timed_out:
        return f"the agent was ended after {timeout_s:g} s"
    if run.limit is not None:
        return {
            "turns": "the agent had no turns left",
            "tokens": "the agent had no tokens left",
            "usd": "the agent had no money left",
            "memory": "the agent was ended: it used more than the suite's limits.memory_mb",
            "disk": "the agent was ended: it used more than the suite's limits.disk_mb",
        }[run.limit]
    return f"the agent ended with exit code {run.exit_code}"


def check_of(gate: WrittenGate, result: GateResult) -> CheckResult:
    """A gate's result as a check: a path that its name ends with isn't said again."""
    detail = result.message
    if isinstance(gate, FileExists) and detail.startswith(f"{gate.path} "):
        detail = "it" + detail.removeprefix(gate.path)
    return CheckResult(check=name_of(gate), passed=result.passed, detail=detail)


def name_of(gate: WrittenGate) -> str:
    """A gate in a few words: its type, and what it looks at."""
    if isinstance(gate, NoTranscriptErrors):
        return gate.type
    if isinstance(gate, ScriptGate):
        return f"{gate.type}: {excerpt(gate.command)}"
    if isinstance(gate, FileExists):
        return f"{gate.type}: {gate.path}"
    data = gate.model_dump(exclude={"type", "timeout_secs"})
    return f"{gate.type}: " + ", ".join(excerpt(str(value)) for value in data.values())
