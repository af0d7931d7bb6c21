"""JSON reports of vitest (with vitest-evals) and jest, as the programs write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

HOME = "/home/runner/evals"
Row = Mapping[str, Any]


def row(title: str, status: str = "passed", *messages: str, within: Sequence[str] = ("shell",), **more: Any) -> Row:
    """A test of vitest."""
    return {
        "ancestorTitles": list(within),
        "fullName": " ".join([*within, title]),
        "status": status,
        "title": title,
        **({"duration": 0.7} if status in {"passed", "failed"} else {}),
        "failureMessages": list(messages),
        "meta": {},
        "tags": [],
        **more,
    }


def judged(
    scores: Mapping[str, float | None], *, average: float | None = None, below: bool = False, **run: Any
) -> dict[str, Any]:
    """The `meta` of a test with judges, of a harness that answered."""
    entries = [
        {"score": score, "metadata": {"rationale": f"why {name}"}, "name": name} for name, score in scores.items()
    ]
    verdict = {"scores": entries, "avgScore": average, "output": "42", "toolCalls": [], "thresholdFailed": below}
    return {"eval": verdict, **answered(**run)}


def answered(
    events: Sequence[Any] = (), *, model: str = "one", errors: Sequence[str] = (), **usage: Any
) -> dict[str, Any]:
    """The `meta` of a test whose harness ran, without a judge."""
    told = {"provider": "scripted", "model": model, "inputTokens": 100, "outputTokens": 20, "totalTokens": 120, **usage}
    run = {
        "session": {"events": list(events), "provider": "scripted", "model": model},
        "output": "42",
        "usage": told,
        "timings": {"totalMs": 5},
        "errors": [{"type": "Error", "message": message} for message in errors],
        "traces": [],
    }
    return {"harness": {"name": "scripted", "run": run}}


def fell(*errors: str) -> dict[str, Any]:
    """The `meta` of a test whose harness threw."""
    events = [{"type": "message", "role": "user", "content": "How many?"}]
    run = {"session": {"events": events}, "usage": {}, "errors": [{"type": "Error", "message": m} for m in errors]}
    return {"harness": {"name": "scripted", "run": run}}


def spec_file(*rows: Row, name: str = "shell.eval.ts", status: str | None = None, message: str = "") -> dict[str, Any]:
    """A test file with its tests."""
    failed = any(one["status"] == "failed" for one in rows)
    return {
        "assertionResults": list(rows),
        "startTime": 1795319750050,
        "endTime": 1795319750063.354,
        "status": status or ("failed" if failed else "passed"),
        "message": message,
        "name": f"{HOME}/{name}",
    }


def vitest_json(*files: Mapping[str, Any], **more: Any) -> str:
    """A report of vitest."""
    rows = [one for file in files for one in file["assertionResults"]]
    return json.dumps(
        {
            "numTotalTestSuites": 2,
            "numPassedTestSuites": 2,
            "numFailedTestSuites": 0,
            "numPendingTestSuites": 0,
            "numTotalTests": len(rows),
            "numPassedTests": sum(one["status"] == "passed" for one in rows),
            "numFailedTests": sum(one["status"] == "failed" for one in rows),
            "numPendingTests": 0,
            "numTodoTests": 0,
            "snapshot": {"added": 0, "uncheckedKeysByFile": []},
            "startTime": 1795319749734,
            "success": True,
            "testResults": list(files),
            **more,
        }
    )


def jest_row(
    title: str, status: str = "passed", *messages: str, within: Sequence[str] = ("shell",), **more: Any
) -> Row:
    """A test of jest."""
    return {
        "ancestorTitles": list(within),
        "duration": 3 if status in {"passed", "failed"} else None,
        "failing": False,
        "failureDetails": [{}] * len(messages),
        "failureMessages": list(messages),
        "fullName": " ".join([*within, title]),
        "invocations": 1,
        "location": None,
        "numPassingAsserts": 1,
        "retryMessages": [],
        "retryReasons": [],
        "status": status,
        "title": title,
        "startAt": 1795320061156,
        **more,
    }


def jest_json(*files: Mapping[str, Any], interrupted: bool = False) -> str:
    """A report of jest."""
    return json.dumps(
        {
            "numFailedTestSuites": 0,
            "numFailedTests": 0,
            "numPassedTestSuites": 1,
            "numRuntimeErrorTestSuites": 0,
            "numTotalTests": sum(len(file["assertionResults"]) for file in files),
            "openHandles": [],
            "startTime": 1795320060687,
            "success": True,
            "testResults": list(files),
            "wasInterrupted": interrupted,
        }
    )
