"""A run of kind `speedup` as FC-Eval's `results.json`, with the payload at its place.

Where nothing is valid the file has the specification's 1.0 and 0.0. What the format has no field for is left out:
samples, raw values behind a fallback, and trials that were skipped. FC-Eval reads the file, and computes the same
summary from its trials.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any
from uuid import UUID

from evalward.importers.base import Exported
from evalward.importers.fc_eval_results import FAILURE_MODES, PARSE_ERROR, TARGETS_FAULT, dumps
from evalward.records.problem import wrong
from evalward.records.report import Report, Run
from evalward.records.result import Result, Trial
from evalward.suites.pooling import was_run
from evalward.suites.speedup.attempts import pass_at
from evalward.suites.speedup.counting import has_metrics, is_resolved
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.failure import role_of
from evalward.suites.speedup.metrics import attempts_of
from evalward.suites.speedup.outcome import SpeedupReason
from evalward.suites.speedup.payload import details_of, level_values, payload, speedup_value
from evalward.suites.speedup.summary import agent_summary, gmean_of_advantages


def write(report: Report, run: Run, trials: Sequence[Trial]) -> Exported:
    """One run as `results.json`; `dataset_name` and `created_at` beside FC-Eval's own fields. Raises `InputError`."""
    if run.kind != "speedup":
        raise wrong(f"run {run.name}", f"FC-Eval has no form for suites of kind {run.kind}", "Export a speedup suite.")
    asked = {(trial.result.id, trial.result.trial): trial.case or {} for trial in trials}
    measured = [result for result in run.cases if was_run(result)]
    attempts = Counter(result.id for result in measured)
    exported = [result for result in measured if has_metrics(result)]
    done = [details_of(result) for result in exported]
    resolved = [result.id for result in measured if is_resolved(result)]
    unresolved = [result.id for result in measured if not is_resolved(result)]
    summary = agent_summary(exported)
    costs = [result.usage.cost_usd for result in measured]
    total = fsum(cost for cost in costs if cost is not None) if costs and None not in costs else None
    percentages = [_percentage(each) for each in done]
    data = {
        "dataset_name": run.suite,
        "created_at": report.created_at,
        "results": [
            _trial(result, run.target, attempts[result.id], asked.get((result.id, result.trial), {}))
            for result in measured
        ],
        "pass_at_k": {str(k): value for k, value in pass_at(attempts_of(measured)).items()},
        "n_resolved": len(resolved),
        "n_unresolved": len(unresolved),
        "resolved_ids": resolved,
        "unresolved_ids": unresolved,
        "accuracy": len(resolved) / len(measured) if measured else 0.0,
        "mean_speedup_percentage": sum(percentages) / len(percentages) if percentages else None,
        "agent_advantages_gmean": _gmeans(run.target, done),
        "agent_metrics_summary": {run.target: summary},
        "total_cost": total,
        "mean_cost_per_task": None if total is None else total / len(measured),
        "cost_by_agent_model": {} if total is None else {run.target: total},
    }
    return Exported(dumps(data), len(measured))


def _percentage(details: SpeedupDetails) -> float:
    return (speedup_value(details) - 1) * 100


def _gmeans(key: str, done: Sequence[SpeedupDetails]) -> dict[str, dict[str, float]]:
    """The geometric means of the advantage and its levels; nop has none."""
    if not done or role_of(key) == "nop":
        return {}
    found = [level_values(each) for each in done]
    means = {name: gmean_of_advantages([each[name] for each in found]) for name in found[0]}
    return {key: {name: value for name, value in means.items() if value is not None}}


def _trial(result: Result, key: str, attempts: int, case: Mapping[str, Any]) -> dict[str, Any]:
    resolved = is_resolved(result)
    cost = result.usage.cost_usd
    return {
        "id": _uuid(result, key),
        "trial_name": f"{result.id}.{result.trial}-of-{attempts}",
        "task_id": result.id,
        "instruction": str(case.get("prompt", "")),
        "is_resolved": resolved,
        "failure_mode": _mode(result),
        "parser_results": {"improvements": "passed" if resolved else "failed"},
        "parser_extra_metrics": _extra(result, key) if has_metrics(result) else None,
        "total_input_tokens": result.usage.total_input_tokens,
        "total_output_tokens": result.usage.output_tokens,
        "total_cost": cost,
        "costs_by_agent_model": {} if cost is None else {key: cost},
    }


def _extra(result: Result, key: str) -> dict[str, Any]:
    """The payload at its place, and the parts of it that FC-Eval's summaries are computed from."""
    own, details = payload(result), details_of(result)
    return {
        "last_agent": key,
        "task_speedup": own["task_speedup"],
        "speedup_percentage": _percentage(details),
        "per_benchmark_speedups_by_agent": {key: own["per_benchmark_speedups"]},
        "agent_advantages_by_agent": {key: level_values(details)},
        "agent_metrics_by_agent": {key: own},
    }


def _uuid(result: Result, key: str) -> str:
    """An id in the form that FC-Eval wants, the same for the same trial."""
    sha = hashlib.sha256(f"{key}\0{result.id}\0{result.trial}".encode("utf-8", "surrogateescape")).digest()
    return str(UUID(bytes=sha[:16], version=4))


def _mode(result: Result) -> str:
    """One of FC-Eval's own words."""
    if result.reason in TARGETS_FAULT:
        return str(result.reason)
    if has_metrics(result):
        return "none"
    if result.reason in {None, SpeedupReason.NO_RESULT}:
        return PARSE_ERROR
    return str(result.reason) if result.reason in FAILURE_MODES else "unknown"
