"""Test runs as deepeval 4.3 writes them, with its fields in its order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def metric(name: str = "Contains", score: float | None = 1.0, **changed: Any) -> dict[str, Any]:
    """What one metric said; without a score it broke."""
    found = {
        "name": name,
        "threshold": 1.0,
        "success": score is not None and score >= 1.0,
        "score": score,
        "reason": f"{name} gave {score}",
        "strictMode": False,
        "flaky": False,
        **changed,
    }
    if score is None:
        del found["score"], found["reason"]
    return found


def case(name: str = "test_shell[count-lines]", *metrics: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """A case, of one metric that passed where none is given."""
    found = list(metrics) or [metric()]
    return {
        "name": name,
        "input": "How many lines has notes.txt?",
        "actualOutput": "The answer is 42.",
        "expectedOutput": "42",
        "toolsCalled": [{"name": "bash", "type": "FUNCTION", "inputParameters": {"cmd": "wc -l notes.txt"}}],
        "expectedTools": [{"name": "bash", "type": "FUNCTION"}],
        "tokenCost": 0.0002,
        "completionTime": 0.5,
        "tags": ["tools"],
        "flaky": False,
        "success": all(one["success"] for one in found if not one["flaky"]),
        "metricsData": found,
        "runDuration": 0.0,
        "order": 0,
        **changed,
    }


def talk(name: str = "test_talk", **changed: Any) -> dict[str, Any]:
    """A conversation."""
    return {
        "name": name,
        "success": True,
        "metricsData": [metric("Polite")],
        "runDuration": 0.0,
        "turns": [
            {"role": "user", "content": "Hello", "order": 0},
            {"role": "assistant", "content": "Hi, I am 42.", "order": 1},
        ],
        "order": 0,
        "scenario": "A greeting",
        "expectedOutcome": "42",
        "flaky": False,
        **changed,
    }


def run_text(cases: Sequence[Any], talks: Sequence[Any] = (), *, wrapped: bool = False, **changed: Any) -> str:
    """The text of a file."""
    told = [one for one in (*cases, *talks) if isinstance(one, dict)]
    run = {
        "testFile": "test_shell.py",
        "testCases": list(cases),
        "conversationalTestCases": list(talks),
        "metricsScores": [{"metric": "Contains", "scores": [1.0], "passes": 1, "fails": 0, "errors": 0}],
        "testPassed": sum(bool(one.get("success")) for one in told),
        "testFailed": sum(not one.get("success") for one in told),
        "runDuration": 2.49,
        "official": False,
        **changed,
    }
    return json.dumps({"testRunData": run} if wrapped else run, indent=None if wrapped else 4)
