"""`benchmark.json` as skill-creator's aggregating script writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def run(
    number: int = 1, arm: str = "with_skill", held: Sequence[bool] = (True, True), **changed: Any
) -> dict[str, Any]:
    """A run of eval 1, of whose expectations these hold."""
    return {
        "eval_id": 1,
        "configuration": arm,
        "run_number": number,
        "result": {
            "pass_rate": sum(held) / len(held),
            "passed": sum(held),
            "failed": len(held) - sum(held),
            "total": len(held),
            "time_seconds": 42.5,
            "tokens": 3800,
            "tool_calls": 18,
            "errors": 0,
        },
        "expectations": [
            {"text": f"The output has part {place}", "passed": holds, "evidence": f"seen at step {place}"}
            for place, holds in enumerate(held, 1)
        ],
        "notes": [],
        **changed,
    }


def not_graded() -> dict[str, Any]:
    """What a grading without a summary leaves of a run."""
    nothing = dict.fromkeys(("passed", "failed", "total", "tokens", "tool_calls", "errors"), 0)
    return {"result": {"pass_rate": 0.0, **nothing, "time_seconds": 0.0}, "expectations": []}


def benchmark(runs: Sequence[Any], **changed: Any) -> dict[str, Any]:
    """The file."""
    return {
        "metadata": {
            "skill_name": "pdf",
            "skill_path": "/home/runner/skills/pdf",
            "executor_model": "claude-sonnet-5",
            "analyzer_model": "<model-name>",
            "timestamp": "2026-07-01T10:30:00Z",
            "evals_run": [1],
            "runs_per_configuration": 3,
            **changed,
        },
        "runs": list(runs),
        "run_summary": {"with_skill": {"pass_rate": {"mean": 1.0, "stddev": 0.0}}, "delta": {"pass_rate": "+0.50"}},
        "notes": [],
    }
