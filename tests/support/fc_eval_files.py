"""FC-Eval files of our own making."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.speedups import KEY


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
