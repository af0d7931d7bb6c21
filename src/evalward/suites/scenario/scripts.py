"""The scenario's own programs: setup, health check, post scripts, evaluators, and the variables that they are given.

Every variable has two names, `LLM_TOOL_TEST_…` for scripts that exist and `EVALWARD_…`. The tool's own variables win.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalward.records.base import clean_text
from evalward.sandbox.base import EndedCommand
from evalward.suites.scenario.details import EvaluatorResult
from evalward.suites.scenario.model import Evaluator, PostScript
from evalward.suites.scenario.place import Workplace, excerpt, how_it_ended, run_shell

PREFIXES = ("LLM_TOOL_TEST_", "EVALWARD_")
SETUP_SECONDS = 300.0
HEALTH_SECONDS = 30.0
SUMMARY_LIMIT = 4000
MOST_METRICS = 50


@dataclass(frozen=True)
class ScriptContext:
    """What scripts are told. `transcript` and `events` are paths that exist only after the agent has run."""

    scenario: str
    agent: str
    model: str
    fixture_dir: str
    results_dir: str
    transcript: str | None = None
    events: str | None = None
    tool_env: Mapping[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """The variables by their names."""
        values = {
            "FIXTURE_DIR": self.fixture_dir,
            "RESULTS_DIR": self.results_dir,
            "SCENARIO": self.scenario,
            "AGENT": self.agent,
            "MODEL": self.model,
            "TRANSCRIPT": self.transcript,
            "EVENTS": self.events,
        }
        ours = {
            prefix + name: value.replace("\0", "")
            for prefix in PREFIXES
            for name, value in values.items()
            if value is not None
        }
        return {**ours, **self.tool_env}


@dataclass(frozen=True)
class ScriptRun:
    """One command of the scenario's that ran."""

    command: str
    exit_code: int
    timed_out: bool
    stdout: str
    stderr: str
    timeout_s: float

    @property
    def succeeded(self) -> bool:
        """It ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.timed_out

    def words(self) -> str:
        """The command and how it ended."""
        return f"`{excerpt(self.command)}`: {how_it_ended(self, self.timeout_s)}"


async def _ran(place: Workplace, command: str, env: Mapping[str, str], timeout_s: float) -> ScriptRun:
    done: EndedCommand = await run_shell(place, command, env, timeout_s)
    return ScriptRun(
        command, done.exit_code, done.timed_out, clean_text(done.stdout), clean_text(done.stderr), timeout_s
    )


async def run_setup(
    place: Workplace, commands: Sequence[str], context: ScriptContext, timeout_s: float = SETUP_SECONDS
) -> list[ScriptRun]:
    """The setup commands, each within `timeout_s`. The first that fails is the last: the trial can't begin."""
    runs: list[ScriptRun] = []
    for command in commands:
        runs.append(await _ran(place, command, context.env, timeout_s))
        if not runs[-1].succeeded:
            break
    return runs


async def check_health(
    place: Workplace, command: str, context: ScriptContext, timeout_s: float = HEALTH_SECONDS
) -> ScriptRun:
    """The health check of the tool: one that fails means that the tool isn't there, no failure of an agent."""
    return await _ran(place, command, context.env, timeout_s)


async def run_post_scripts(place: Workplace, scripts: Sequence[PostScript], context: ScriptContext) -> list[ScriptRun]:
    """All post scripts, whatever becomes of each; they don't decide."""
    return [await _ran(place, script.command, context.env, script.timeout_secs) for script in scripts]


async def run_evaluators(
    place: Workplace, evaluators: Sequence[Evaluator], context: ScriptContext
) -> list[EvaluatorResult]:
    """What each evaluator gave; one that fails is an error in its result, and the next one runs."""
    return [await run_evaluator(place, evaluator, context) for evaluator in evaluators]


async def run_evaluator(place: Workplace, evaluator: Evaluator, context: ScriptContext) -> EvaluatorResult:
    """One evaluator. It prints `{"metrics": {NAME: NUMBER}, "score": NUMBER, "summary": TEXT}`, all optional."""
    done = await _ran(place, evaluator.command, context.env, evaluator.timeout_secs)
    text = done.stdout.strip()[:SUMMARY_LIMIT]
    if not done.succeeded:
        why = f"it failed: {how_it_ended(done, evaluator.timeout_secs)}"
        return EvaluatorResult(name=evaluator.name, summary=text, error=why)
    try:
        answer = json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        return EvaluatorResult(name=evaluator.name, summary=text, error=f"it printed no JSON: {error}")
    if not isinstance(answer, dict):
        return EvaluatorResult(name=evaluator.name, summary=text, error="it printed JSON that is not an object")
    return _read(evaluator.name, answer)


def _read(name: str, answer: Mapping[str, Any]) -> EvaluatorResult:
    """What can be used of an evaluator's JSON; the error names what can't."""
    odd: list[str] = []
    metrics = answer.get("metrics") or {}
    if not isinstance(metrics, dict):
        odd.append("metrics is not an object")
        metrics = {}
    numbers = {clean_text(key)[:64]: float(value) for key, value in metrics.items() if _is_number(value)}
    odd += [f"the metric {excerpt(key)!r} is not a number" for key, value in metrics.items() if not _is_number(value)][
        :3
    ]
    if len(numbers) > MOST_METRICS:
        odd.append(f"only the first {MOST_METRICS} of {len(numbers)} metrics are kept")
    score, summary = answer.get("score"), answer.get("summary")
    if score is not None and not _is_number(score):
        odd.append("score is not a number")
        score = None
    if summary is not None and not isinstance(summary, str):
        odd.append("summary is not text")
    return EvaluatorResult(
        name=name,
        metrics=dict(list(numbers.items())[:MOST_METRICS]),
        score=None if score is None else float(score),
        summary=clean_text(summary)[:SUMMARY_LIMIT] if isinstance(summary, str) else "",
        error="; ".join(odd) or None,
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
