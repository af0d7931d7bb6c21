"""The payload of one agent on one task: exactly the specification's fields, written and read.

Where nothing is valid the payload has the specification's 1.0 and 0.0; the record, and with it every metric and rule,
has `None`. What is read is computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from evalward.records.metric import EPSILON
from evalward.records.result import Result
from evalward.suites.speedup.details import (
    LEVELS,
    BenchmarkSpeed,
    BlockStatus,
    PytestSummary,
    SnapshotSummary,
    SpeedupDetails,
)
from evalward.suites.speedup.failure import FailureEvidence, PayloadFailure
from evalward.suites.speedup.values import ADVANTAGE, AGENT, ORACLE, benchmark_speeds, count, number

NO_SPEEDUP, NO_ADVANTAGE = 1.0, 0.0  # the specification's values where no benchmark is valid
_PYTEST = ("passed", "failed", "error", "skipped", "total")
_SNAPSHOT = ("pass_to_fail", "passed", "failed", "skipped", "total")


def level_values(details: SpeedupDetails) -> dict[str, float]:
    """`agent_advantage` and its four levels, with the specification's 0.0 where there are none."""
    found = [NO_ADVANTAGE if level.advantage is None else level.advantage for level in details.levels]
    found = found or [NO_ADVANTAGE] * len(LEVELS)
    by_level = {f"agent_advantage_level{number}": value for number, value in enumerate(found, 1)}
    return {"agent_advantage": found[-1], **by_level}


def speedup_value(details: SpeedupDetails) -> float:
    """`task_speedup`, with the specification's 1.0 where there is none."""
    return NO_SPEEDUP if details.task_speedup is None else details.task_speedup


def payload(result: Result) -> dict[str, Any]:
    """The payload of a result with details of this kind.

    A block that is missing or can't be read has the status `failed`: FC-Eval knows no other beside `passed`.
    """
    details = details_of(result)
    return {
        "per_benchmark_speedups": {benchmark.name: _entry(benchmark) for benchmark in details.benchmarks},
        "pytest_summary": {
            **_written(details.pytest_summary),
            "failed_total": details.pytest_summary.failed_total,
        },
        "snapshot_summary": _written(details.snapshot_summary),
        "pytest_failed": details.pytest_failed,
        "snapshot_failed": details.snapshot_failed,
        "success": details.success,
        "fallback_to_baseline": details.fallback_to_baseline,
        **level_values(details),
        "num_benchmarks": details.num_benchmarks,
        "num_valid_benchmarks": details.num_valid_benchmarks,
        "task_speedup": speedup_value(details),
        "task_cost_usd": result.usage.cost_usd,
        "trajectory_length": details.trajectory_length,
    }


def _written(summary: PytestSummary | SnapshotSummary) -> dict[str, Any]:
    return {**summary.model_dump(mode="json"), "status": "passed" if summary.status == "passed" else "failed"}


def details_of(result: Result) -> SpeedupDetails:
    """The details of a speedup trial; empty ones of a trial that broke."""
    return result.details if isinstance(result.details, SpeedupDetails) else SpeedupDetails()


def _entry(benchmark: BenchmarkSpeed) -> dict[str, float | None]:
    return {AGENT: benchmark.agent, ORACLE: benchmark.oracle, ADVANTAGE: benchmark.advantage}


def read_payload(key: str, data: Mapping[str, Any]) -> FailureEvidence:
    """A payload as evidence for the merge. Raises `ValueError` when it has no speedups per benchmark."""
    speeds = data.get("per_benchmark_speedups")
    if not isinstance(speeds, dict):
        raise ValueError("it has no per_benchmark_speedups: nothing can be computed from it")
    claimed = PayloadFailure(
        pytest_failed=data.get("pytest_failed") is True,
        snapshot_failed=data.get("snapshot_failed") is True,
        fallback=data.get("fallback_to_baseline") is True,
        tolerated=data.get("pytest_failed") is False,
    )
    return FailureEvidence(
        key=key,
        benchmarks=benchmark_speeds(speeds),
        tests=_pytest(data.get("pytest_summary")),
        snapshot=_snapshot(data.get("snapshot_summary")),
        claimed=claimed,
        trajectory_length=count(data.get("trajectory_length")),
    )


def _pytest(value: Any) -> PytestSummary:
    counts, status = _summary(value, _PYTEST)
    return PytestSummary.model_validate({**counts, "status": status})


def _snapshot(value: Any) -> SnapshotSummary:
    counts, status = _summary(value, _SNAPSHOT)
    return SnapshotSummary.model_validate({**counts, "status": status})


def _summary(value: Any, names: tuple[str, ...]) -> tuple[dict[str, int], str]:
    """Counts and status; a status that isn't known is no good one."""
    if not isinstance(value, dict):
        return {}, "missing" if value is None else "invalid"
    counts = {name: count(value.get(name, 0)) for name in names}
    status = value.get("status")
    if None in counts.values() or status not in get_args(BlockStatus):
        return {}, "invalid"
    known = {name: each for name, each in counts.items() if each is not None}
    bad = known.get("failed", 0) + known.get("error", 0) if "error" in known else known["pass_to_fail"]
    return known, "failed" if bad and status == "passed" else str(status)


def disagreements(payload_of_file: Mapping[str, Any], result: Result) -> Iterator[str]:
    """Where a payload's own numbers and flags are not those that its benchmarks and counts give."""
    for name, found in payload(result).items():
        claimed = payload_of_file.get(name)
        if isinstance(found, bool):
            if isinstance(claimed, bool) and claimed != found:
                yield f"{name} is {str(claimed).lower()}, its counts give {str(found).lower()}"
        elif isinstance(found, float | int):
            value = number(claimed)
            if value is not None and abs(value - found) > EPSILON * max(1.0, abs(found)):
                yield f"{name} is {value:g}, its benchmarks give {found:g}"
