"""Reports of pydantic-evals, as `EvaluationReportAdapter.dump_json` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Entry = dict[str, Any]


def said(name: str, value: object, reason: str | None = None) -> dict[str, Any]:
    """What one evaluator said under one name."""
    return {"name": name, "value": value, "reason": reason, "source": {"name": name, "arguments": None}}


def broke(name: str, message: str = "RuntimeError: judge down") -> dict[str, Any]:
    """An evaluator that raised."""
    return {
        "name": name,
        "error_message": message,
        "error_stacktrace": f"Traceback (most recent call last):\n{message}\n",
        "source": {"name": name, "arguments": None},
        "evaluator_version": None,
        "error_type": "RuntimeError",
    }


def answer(
    name: str,
    assertions: Mapping[str, bool] | None = None,
    *,
    scores: Mapping[str, float] | None = None,
    labels: Mapping[str, str] | None = None,
    failures: Sequence[Mapping[str, Any]] = (),
    source: str | None = None,
    metrics: Mapping[str, Any] | None = None,
    metadata: Any = None,
    **more: Any,
) -> Entry:
    """A case whose task answered."""
    return {
        "name": name,
        "inputs": f"question of {source or name}",
        "metadata": metadata,
        "expected_output": "42",
        "output": "The answer is 42.",
        "metrics": dict(metrics or {}),
        "attributes": {},
        "scores": {key: said(key, value) for key, value in (scores or {}).items()},
        "labels": {key: said(key, value) for key, value in (labels or {}).items()},
        "assertions": {key: said(key, value, f"why {key}") for key, value in (assertions or {}).items()},
        "task_duration": 1.5,
        "total_duration": 2.5,
        "source_case_name": source,
        "trace_id": None,
        "span_id": None,
        "evaluator_failures": list(failures),
        **more,
    }


def raised(name: str, message: str = "ConnectionError: down", *, source: str | None = None) -> Entry:
    """A case whose task raised."""
    return {
        "name": name,
        "inputs": f"question of {source or name}",
        "metadata": None,
        "expected_output": "42",
        "error_message": message,
        "error_stacktrace": f"Traceback (most recent call last):\n{message}\n",
        "source_case_name": source,
        "trace_id": None,
        "span_id": None,
    }


def report_json(cases: Sequence[Any], failures: Sequence[Any] = (), **more: Any) -> str:
    """A report."""
    return json.dumps(
        {
            "name": "agent",
            "cases": list(cases),
            "failures": list(failures),
            "analyses": [],
            "report_evaluator_failures": [],
            "experiment_metadata": None,
            "trace_id": None,
            "span_id": None,
            "dataset_name": "shell",
            **more,
        }
    )
