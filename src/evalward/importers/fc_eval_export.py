"""A run of kind `speedup` as FC-Eval's `results.json`, with the payload at its place.

Where nothing is valid the file has the specification's 1.0 and 0.0. What the format has no field for is left out:
samples, raw values behind a fallback, and trials that were skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalward.importers.fc_eval_results import PARSE_ERROR, dumps, has_payload
from evalward.records.problem import wrong
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status, Trial
from evalward.suites.speedup.attempts import pass_at
from evalward.suites.speedup.metrics import attempts_of
from evalward.suites.speedup.outcome import Reason
from evalward.suites.speedup.payload import details_of, payload, speedup_value
from evalward.suites.speedup.summary import agent_summary, gmean_of_advantages


def write(report: Report, run: Run, trials: Sequence[Trial]) -> str:
    """One run as `results.json`; `dataset_name` and `created_at` beside FC-Eval's own fields. Raises `InputError`."""
    if run.kind != "speedup":
        raise wrong(f"run {run.name}", f"FC-Eval has no form for suites of kind {run.kind}", "Export a speedup suite.")
    asked = {(trial.result.id, trial.result.trial): trial.case or {} for trial in trials}
    measured = [result for result in run.cases if result.status is not Status.SKIPPED]
    attempts = Counter(result.id for result in measured)
    told = [result for result in measured if has_payload(result)]
    done = [details_of(result) for result in told]
    resolved = [result.id for result in measured if details_of(result).resolved]
    unresolved = [result.id for result in measured if not details_of(result).resolved]
    summary = agent_summary(told)
    costs = [result.usage.cost_usd for result in measured]
    total = sum(cost for cost in costs if cost is not None) if costs and None not in costs else None
    advantages = [each.agent_advantage or 0.0 for each in done if each.role != "nop"]
    percentages = [(speedup_value(each) - 1) * 100 for each in done]
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
        "agent_advantages_gmean": gmean_of_advantages(advantages),
        "agent_metrics_summary": {run.target: summary},
        "total_cost": total,
        "mean_cost_per_task": None if total is None else total / len(measured),
        "cost_by_agent_model": {run.target: total},
    }
    return dumps(data)


def _trial(result: Result, key: str, attempts: int, case: Mapping[str, Any]) -> dict[str, Any]:
    resolved = details_of(result).resolved
    told = {"agent_metrics_by_agent": {key: payload(result)}} if has_payload(result) else None
    return {
        "id": f"{result.id}.{result.trial}",
        "trial_name": f"{result.id}.{result.trial}-of-{attempts}",
        "task_id": result.id,
        "instruction": str(case.get("prompt", "")),
        "is_resolved": resolved,
        "failure_mode": _mode(result, told is not None),
        "parser_results": {"improvements": "passed" if resolved else "failed"},
        "parser_extra_metrics": told,
        "total_input_tokens": result.usage.total_input_tokens,
        "total_output_tokens": result.usage.output_tokens,
        "total_cost": result.usage.cost_usd,
        "costs_by_agent_model": {key: result.usage.cost_usd},
    }


def _mode(result: Result, told: bool) -> str:
    if told:
        return "none"
    return PARSE_ERROR if result.reason in {None, Reason.NO_RESULT} else str(result.reason)
