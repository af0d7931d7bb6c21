"""Folders of runs as mira writes them: 0.2, and what later versions add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

RUN = "results/mira/20260626T043009Z-34f5"


def score(scorer: str = "expectations", value: float = 1.0, *, passed: bool = True, **more: Any) -> dict[str, Any]:
    """What one scorer said."""
    return {"scorer": scorer, "value": value, "pass": passed, "reason": f"{scorer} gave {value:g}", **more}


def case(sample: str = "echo", target: str = "anthropic/claude-haiku-4-5", **changed: Any) -> dict[str, Any]:
    """A case that passed, where `changed` says nothing else."""
    return {
        "eval": "smoke",
        "sample": sample,
        "target": target,
        "passed": True,
        "aggregate": 1.0,
        "scores": [score()],
        "transcript": transcript(),
        "skipped": False,
        **changed,
    }


def transcript(**changed: Any) -> dict[str, Any]:
    """What a subject did."""
    return {
        "final_response": "It printed hello.",
        "iterations": 2,
        "tool_calls_count": 1,
        "tool_calls": ["echo hello"],
        "usage": {"input_tokens": 1313, "output_tokens": 101, "cost_usd": 0.0},
        "timing": {"duration_ms": 2723},
        "metrics": {"natural_stop": 1.0, "turns": 2.0},
        **changed,
    }


def skipped(sample: str = "echo", target: str = "openai/gpt-5.5") -> dict[str, Any]:
    """A case whose target wasn't there: it also says that it didn't pass."""
    nothing = {
        "final_response": "",
        "iterations": 0,
        "tool_calls_count": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0},
    }
    return case(sample, target, passed=False, aggregate=0.0, scores=[], transcript=nothing, skipped=True)


def summary(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the run's files count."""
    left_out = sum(bool(one["skipped"]) for one in cases)
    passed = sum(bool(one["passed"]) for one in cases)
    return {
        "scored": len(cases) - left_out,
        "passed": passed,
        "failed": len(cases) - left_out - passed,
        "na": 0,
        "skipped": left_out,
        "total_tokens": 17963,
        "total_cost_usd": 0.0,
        "total_tool_calls": 12,
        "total_duration_ms": 32307,
    }


def report(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`report.json`, whose keys are sorted."""
    return {"cases": [dict(sorted(one.items())) for one in cases], "summary": summary(cases)}


def meta(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`meta.json`."""
    return {
        "format": 1,
        "run_id": "20260626T043009Z-34f5",
        "study": "mira-eval",
        "study_version": "0.2.0",
        "started_unix": 1782448209,
        "finished_unix": 1782448217,
        "environment": {
            "git": {"commit": "b17c707ebd06b5f8852606c50dc8f9c177fa5ea8", "dirty": True},
            "hostname": "vm",
            "mira_version": "0.2.0",
        },
        "summary": summary(cases),
    }


def run_folder(cases: Sequence[Mapping[str, Any]], folder: str = RUN) -> dict[str, object]:
    """All files of a run."""
    singles = {f"{folder}/cases/{_key(number, one)}/result.json": one for number, one in enumerate(cases)}
    return {f"{folder}/report.json": report(cases), f"{folder}/meta.json": meta(cases), **singles}


def _key(number: int, one: Mapping[str, Any]) -> str:
    """Escaped as mira does, told apart by the number where two have one name."""
    escaped = "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in f"{one['eval']}/{one['sample']}@{one['target']}")
    return f"{escaped}_23{number}"
