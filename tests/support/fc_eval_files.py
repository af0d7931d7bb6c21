"""FC-Eval files of our own making."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from support.speedups import GOOD_SNAPSHOT, GOOD_TESTS, KEY, log, result_object


def payload(
    speedups: Mapping[str, tuple[Any, Any]] | None = None, *, failed: int = 0, cost: float | None = 0.25, **more: Any
) -> dict[str, Any]:
    """A payload with the fields that can't be computed from others; `more` are those that can, or others."""
    pairs = {"m.S.a": (1.2, 1.5), "m.S.b": (1.0, 1.1)} if speedups is None else speedups
    status = "failed" if failed else "passed"
    return {
        "per_benchmark_speedups": {name: {"agent/nop": a, "oracle/nop": o} for name, (a, o) in pairs.items()},
        "pytest_summary": {"passed": 5, "failed": failed, "error": 0, "skipped": 0, "total": 5, "status": status},
        "snapshot_summary": {"pass_to_fail": 0, "passed": 7, "failed": 0, "total": 7, "status": "passed"},
        "task_cost_usd": cost,
        "trajectory_length": 20,
        **more,
    }


def trial(task: str, payloads: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """An entry of `results`."""
    return {
        "id": f"{task}-id",
        "trial_name": f"{task}.1-of-1",
        "task_id": task,
        "instruction": f"Make {task} faster.",
        "is_resolved": True,
        "failure_mode": "unset",
        "parser_extra_metrics": None if payloads is None else {"agent_metrics_by_agent": dict(payloads)},
        **more,
    }


def results(*trials: Mapping[str, Any], **more: Any) -> bytes:
    """The whole file."""
    return json.dumps({"results": list(trials), "pass_at_k": {}, **more}).encode()


def one(**more: Any) -> bytes:
    """A file of one task by one agent."""
    return results(trial("task", {KEY: payload(**more)}))


@dataclass(frozen=True)
class AgentRun:
    """What an agent's run on a task left: its speedups against nop, tests, snapshots; or a whole log."""

    speeds: Mapping[str, float] = field(default_factory=dict)
    tests: Any = field(default_factory=lambda: dict(GOOD_TESTS))
    snapshot: Any = field(default_factory=lambda: dict(GOOD_SNAPSHOT))
    log: str | None = None


def run_folder(
    tasks: Mapping[str, Mapping[str, AgentRun]], *, run: str = "run-1", attempt: int = 1, of: int = 1
) -> dict[str, str]:
    """The test logs of a run of several agents: each tells of those before it, and the oracle's speeds once known."""
    files: dict[str, str] = {}
    for task, agents in tasks.items():
        every = dict.fromkeys(name for one in agents.values() for name in one.speeds)
        for number, (key, one) in enumerate(agents.items(), 1):
            before = dict(list(agents.items())[:number])
            oracle = next((each for other, each in before.items() if other.startswith("oracle:")), None)
            by_agent = {other: _entries(each, oracle, every) for other, each in before.items()}
            block = result_object(by_agent[key], key, per_benchmark_speedups_by_agent=by_agent)
            text = log(one.tests, block, one.snapshot) if one.log is None else one.log
            folder = f"{task}.{attempt}-of-{of}.{run}.agent-{number}-{key.partition(':')[0]}"
            files[f"{run}/{task}/{folder}/panes/post-test.txt"] = text
    return files


def _entries(one: AgentRun, oracle: AgentRun | None, names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Every benchmark against nop; where an agent tells none of its own it is as fast as nop."""
    known = {name: {"agent/nop": one.speeds.get(name, 1.0)} for name in names}
    if oracle is None:
        return known
    return {name: {**entry, "oracle/nop": oracle.speeds.get(name, 1.0)} for name, entry in known.items()}
