"""Logs, payloads, results and files of the speedup kind: everything has a default, a test names what it is about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.result import Result
from evalward.records.trace import Usage
from evalward.suites.speedup.details import BenchmarkSpeed, PytestSummary, SnapshotSummary, SpeedupDetails
from evalward.suites.speedup.failure import FailureEvidence, merge
from evalward.suites.speedup.outcome import TaskId, make_result

KEY, ORACLE, NOP = "agent:model", "oracle:human", "nop:none"
GOOD_TESTS = {"passed": 12, "failed": 0, "error": 0, "skipped": 2, "total": 14}
GOOD_SNAPSHOT = {"pass-to-pass": 7, "pass-to-fail": 0, "fail-to-fail": 2, "passed": 7, "failed": 2, "total": 9}
TWO = {
    "m.S.a": {"agent/nop": 1.2, "oracle/nop": 1.5, "advantage": -0.3},
    "m.S.b": {"agent/nop": 1.0, "oracle/nop": 1.1, "advantage": -0.1},
}


def result_object(speeds: Mapping[str, Any] = TWO, key: str = KEY, **more: Any) -> dict[str, Any]:
    """The object of a RESULT block."""
    return {
        "last_agent": key,
        "agent_advantage": -0.2,
        "agent_advantage_level1": -0.2,
        "per_benchmark_speedups": dict(speeds),
        "per_benchmark_speedups_by_agent": {key: dict(speeds)},
        **more,
    }


def block(name: str, value: Any) -> str:
    """One block; a string is written as it is."""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"FORMULACODE_{name}_START\n{text}\nFORMULACODE_{name}_END\n"


def log(tests: Any = GOOD_TESTS, result: Any = None, snapshot: Any = GOOD_SNAPSHOT, *, without: str = "") -> str:
    """A log with its three blocks, or without one of them."""
    values = {"TESTS": tests, "RESULT": result_object() if result is None else result, "SNAPSHOT": snapshot}
    return "starting\n" + "".join(block(name, value) for name, value in values.items() if name != without) + "done\n"


def speeds(*pairs: tuple[str, float | None, float | None]) -> list[BenchmarkSpeed]:
    """Benchmarks: name, agent/nop, oracle/nop."""
    return [BenchmarkSpeed(name=name, agent=agent, oracle=oracle) for name, agent, oracle in pairs]


def ran_with(failed: int = 0) -> PytestSummary:
    """Tests of which so many failed."""
    return PytestSummary(passed=5, failed=failed, total=5 + failed, status="failed" if failed else "passed")


def snapshot_of(pass_to_fail: int = 0) -> SnapshotSummary:
    """Snapshots of which so many no longer pass."""
    status = "failed" if pass_to_fail else "passed"
    return SnapshotSummary.model_validate({"pass_to_fail": pass_to_fail, "passed": 7, "status": status})


def evidence(key: str = KEY, benchmarks: Sequence[BenchmarkSpeed] = (), **more: Any) -> FailureEvidence:
    """One agent on one task, good unless said otherwise."""
    values: dict[str, Any] = {"tests": ran_with(), "snapshot": snapshot_of(), **more}
    return FailureEvidence(key=key, benchmarks=benchmarks, **values)


def details(benchmarks: Sequence[BenchmarkSpeed], **more: Any) -> SpeedupDetails:
    """What the merge makes of one agent alone."""
    return merge([evidence(benchmarks=benchmarks, **more)])[KEY]


def trial_of(
    task: str, made: SpeedupDetails, *, cost: float | None = None, trial: int = 1, tokens: int | None = None
) -> Result:
    """The result of a task."""
    usage = Usage(cost_usd=cost, input_tokens=tokens, output_tokens=tokens)
    return make_result(TaskId(task, "optimisation", "sha256:same", trial), made, usage=usage)
