"""FC-Eval's `results.json`: every trial's payloads as results, computed anew; what differs from the file is told."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from evalward.importers.base import Imported
from evalward.records.base import Count, Record, clean_text, digest
from evalward.records.metric import EPSILON
from evalward.records.model_words import problems_of
from evalward.records.moments import latest
from evalward.records.problem import InputError, Place, wrong
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Trace, Usage
from evalward.render.numbers import plural
from evalward.suites.speedup.counting import has_metrics
from evalward.suites.speedup.details import Role, SpeedupDetails
from evalward.suites.speedup.failure import FailureEvidence, key_among, merge, role_of
from evalward.suites.speedup.findings import interpret
from evalward.suites.speedup.metrics import measure
from evalward.suites.speedup.outcome import SpeedupReason, TaskId, make_result
from evalward.suites.speedup.payload import disagreements, read_payload
from evalward.suites.speedup.summary import agent_summary
from evalward.suites.speedup.values import number

SUITE = "fc-eval"
CATEGORY = "optimisation"
REMEDY = "Give FC-Eval's results.json, or a task's test logs with the files next to them."
TARGETS_FAULT = {"agent_timeout", "context_length_exceeded", "output_length_exceeded"}
PARSE_ERROR = "parse_error"
FAILURE_MODES = {
    *TARGETS_FAULT,
    PARSE_ERROR,
    "unset",
    "none",
    "unknown",
    "test_timeout",
    "setup_timeout",
    "unknown_agent_error",
    "fatal_llm_parse_error",
    "agent_installation_failed",
}
"""FC-Eval's words for how a trial ended."""
MAX_WARNINGS = 20


class _Trial(Record):
    task_id: str = Field(min_length=1, max_length=500)
    instruction: str | None = None
    is_resolved: bool | None = None
    failure_mode: str | None = None
    parser_extra_metrics: dict[str, Any] | None = None
    total_input_tokens: Count | None = None
    total_output_tokens: Count | None = None
    trial_ended_at: str | None = None
    costs_by_agent_model: dict[str, Any] | None = None

    @property
    def payloads(self) -> dict[str, Any]:
        found = (self.parser_extra_metrics or {}).get("agent_metrics_by_agent")
        return found if isinstance(found, dict) else {}

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys([*self.payloads, *(self.costs_by_agent_model or {})]))


class _FcEvalFile(Record):
    results: list[_Trial]
    agent_metrics_summary: dict[str, Any] | None = None
    dataset_name: str | None = None
    created_at: str | None = None


@dataclass(frozen=True)
class _Read:
    """One result, whose it is, and the odd things about it. `told`: the file has a payload of it that counts."""

    key: str
    result: Result
    warnings: list[str]
    instruction: str
    told: bool = True


def is_results(data: Any) -> bool:
    """True for the object of a `results.json`."""
    return isinstance(data, dict) and isinstance(data.get("results"), list)


def task_identity(task: str, instruction: str, trial: int) -> TaskId:
    """A task of FC-Eval: what is asked identifies it, not which benchmarks an agent left."""
    return TaskId(clean_text(task), CATEGORY, digest({"task": task, "instruction": instruction}), trial)


def make_run(suite: str, key: str, results: Sequence[Result]) -> Run:
    """All results of one agent as a run."""
    measurement = measure(results)
    identity = digest([result.definition for result in results])
    return Run(
        suite=suite,
        kind="speedup",
        target=key,
        trials=max(result.trial for result in results),
        random=role_of(key) == "agent",
        planned=len(results),
        subject=Subject.model_validate({"hash": identity, "tasks": identity}),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=interpret(results, measurement),
        cases=list(results),
    )


def read_results(data: Mapping[str, Any], file: str, suite: str = SUITE, at: str | None = None) -> Imported:
    """One `results.json`: a run for each agent and model in it; `at` is when it was, if the file doesn't tell.

    Raises `InputError`.
    """
    read = _with_one_key_each(_parse(data, file))
    agents = list(dict.fromkeys(key for trial in read.results for key in trial.keys))
    if not agents:
        raise wrong(file, "no trial in it has agent_metrics_by_agent", REMEDY, field="results")
    evaluated = [key for key in agents if role_of(key) == "agent"] or agents
    attempts: Counter[tuple[str, str]] = Counter()
    found: list[_Read] = []
    for trial in read.results:
        keys = trial.keys or evaluated
        for key in keys:
            attempts[trial.task_id, key] += 1
        found += _trial(trial, keys, {key: attempts[trial.task_id, key] for key in keys})
    by_agent: dict[str, list[_Read]] = defaultdict(list)
    for each in found:
        by_agent[each.key].append(each)
    suite = read.dataset_name or suite
    runs = [make_run(suite, clean_text(key), [each.result for each in mine]) for key, mine in sorted(by_agent.items())]
    warnings = [warning for each in found for warning in each.warnings]
    told = {clean_text(key): [each.result for each in mine if each.told] for key, mine in by_agent.items()}
    warnings += _claims_otherwise(read.agent_metrics_summary or {}, told)
    return Imported(
        runs=runs,
        trials=[_as_trial(suite, each) for each in found if each.instruction],
        created_at=latest([read.created_at]) or latest(trial.trial_ended_at for trial in read.results) or at,
        warnings=capped(f"{file}: {warning}" for warning in warnings),
    )


def _parse(data: Mapping[str, Any], file: str) -> _FcEvalFile:
    try:
        return _FcEvalFile.model_validate(data)
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=file), REMEDY)) from error


def _with_one_key_each(read: _FcEvalFile) -> _FcEvalFile:
    """Costs under the keys that the payloads have: FC-Eval writes a model there as it was configured."""
    known = list(dict.fromkeys(key for trial in read.results for key in trial.payloads))

    def renamed(trial: _Trial) -> _Trial:
        costs = trial.costs_by_agent_model or {}
        return trial.model_copy(update={"costs_by_agent_model": {key_among(key, known): costs[key] for key in costs}})

    return read.model_copy(update={"results": [renamed(trial) for trial in read.results]})


def capped(warnings: Iterator[str]) -> list[str]:
    """The first of many warnings, and how many more there are."""
    kept = list(warnings)
    more = len(kept) - MAX_WARNINGS
    return [*kept[:MAX_WARNINGS], f"… and {more} more like these"] if more > 0 else kept


def _as_trial(suite: str, read: _Read) -> Trial:
    case = {"id": read.result.id, "category": read.result.category, "prompt": read.instruction}
    target = clean_text(read.key)
    return Trial(suite=suite, kind="speedup", target=target, subject="", case=case, result=read.result, trace=Trace())


def _trial(trial: _Trial, keys: Sequence[str], attempt: Mapping[str, int]) -> Iterator[_Read]:
    instruction = clean_text(trial.instruction or "")
    evidence: dict[str, FailureEvidence] = {}
    broken: dict[str, str] = {}
    for key, payload in trial.payloads.items():
        try:
            evidence[key] = read_payload(key, payload if isinstance(payload, dict) else {})
        except ValueError as error:
            broken[key] = str(error)
    outcomes = merge(evidence.values())
    alone = len([key for key in keys if role_of(key) == "agent"]) == 1
    for key in keys:
        task = task_identity(trial.task_id, instruction, attempt[key])
        if key not in outcomes or _ended_by_agent(trial, outcomes[key]):
            payload = trial.payloads.get(key)
            usage, warnings = _usage(trial, key, payload if isinstance(payload, dict) else {}, alone)
            result = _without_payload(task, trial, role_of(key), usage, broken.get(key))
            warnings = [f"{task.id}, {key}: {warning}" for warning in warnings]
            yield _Read(key, result, warnings, instruction, told=key in outcomes)
            continue
        details = outcomes[key]
        if alone and details.role == "agent" and trial.is_resolved is False:
            details = details.model_copy(update={"resolved": False})
        own = trial.payloads[key]
        usage, warnings = _usage(trial, key, own, alone)
        result = make_result(task, details, usage=usage)
        if (
            evidence[key].claimed.tolerated
            and details.pytest_summary.failed_total
            and "oracle" not in map(role_of, evidence)
        ):
            failing = details.pytest_summary.failed_total
            warnings.append(
                f"{plural(failing, 'failing test')} {'is' if failing == 1 else 'are'} reported as tolerated"
            )
        warnings += disagreements({**own, "task_cost_usd": None}, result)
        warnings = [f"{task.id}, {key}: {warning}" for warning in warnings]
        yield _Read(key, result, warnings, instruction, told=has_metrics(result))


def _ended_by_agent(trial: _Trial, details: SpeedupDetails) -> bool:
    """The agent ended the trial before anything was measured; a payload without a benchmark says no more than that."""
    return trial.failure_mode in TARGETS_FAULT and not details.benchmarks


def _without_payload(task: TaskId, trial: _Trial, role: Role, usage: Usage, why: str | None) -> Result:
    """A trial that left nothing to compute from: failed when the agent ended it, an error otherwise."""
    mode = trial.failure_mode or "unknown"
    if mode in TARGETS_FAULT:
        details = SpeedupDetails(role=role, pytest_failed=True, snapshot_failed=True, fallback_to_baseline=True)
        status, reason, message = Status.FAILED, mode, None
    else:
        details, status = SpeedupDetails(role=role), Status.ERROR
        reason = SpeedupReason.NO_RESULT if mode in {PARSE_ERROR, "none", "unset"} else mode
        message = why or f"no payload; failure_mode {mode}"
    return Result(
        id=task.id,
        category=task.category,
        definition=task.definition,
        trial=task.trial,
        status=status,
        usage=usage,
        reason=clean_text(reason),
        message=None if message is None else clean_text(message),
        details=details,
    )


def _usage(trial: _Trial, key: str, payload: Mapping[str, Any], alone: bool) -> tuple[Usage, list[str]]:
    """Tokens where they can only be this agent's, and its cost; 0 beside tokens is an unknown price, not a free one."""
    mine = alone and role_of(key) == "agent"
    read, written = (trial.total_input_tokens, trial.total_output_tokens) if mine else (None, None)
    cost = number(payload.get("task_cost_usd"))
    if cost is None:
        cost = number((trial.costs_by_agent_model or {}).get(key))
    warnings = []
    if cost is not None and cost < 0:
        cost, warnings = None, ["a cost below 0 was left out"]
    if cost == 0 and (read or written):
        cost, warnings = None, ["cost 0 with tokens: the price was unknown, and so is the cost"]
    return Usage(input_tokens=read, output_tokens=written, cost_usd=cost), warnings


def _claims_otherwise(claimed: Mapping[str, Any], told: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """Where the file's own summary of an agent says something else than its payloads."""
    for key, results in sorted(told.items()):
        metrics = claimed.get(key)
        if not isinstance(metrics, dict):
            continue
        for name, found in agent_summary(results).items():
            value = number(metrics.get(name))
            if value is not None and found is not None and abs(value - found) > EPSILON * max(1.0, abs(found)):
                yield f"its summary of {key} says {name} {value:g}, its payloads give {found:g}"


def dumps(data: Any) -> str:
    """The text of a JSON file."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
