"""The log's three blocks: the reference's goldens L1 to L18, and logs that try to pass for better ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.result import Result, Status
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.failure import merge
from evalward.suites.speedup.log import read_log, read_parts
from evalward.suites.speedup.outcome import TaskId, make_result
from evalward.suites.speedup.payload import details_of
from support.speedups import GOOD_SNAPSHOT, GOOD_TESTS, KEY, TWO, block, log, result_object

GOOD = pytest.approx(1.0954451150)
RECOMPUTED = pytest.approx(1.0954451150 - 1.2845232579)
FALLEN = pytest.approx(1 - 1.2845232579)


def judged(text: str) -> Result:
    reading = read_log(text)
    key = reading.agent or KEY
    made = merge([reading.evidence(key)])[key]
    return make_result(TaskId("task", "optimisation", "sha256:x"), made, skipped=reading.skipped)


def altered(**counts: Any) -> dict[str, Any]:
    return {**GOOD_TESTS, **counts}


WITHOUT_ERROR = {name: value for name, value in GOOD_TESTS.items() if name != "error"}
PASSES = {
    "L1": log(),
    "L4 without the key error": log(WITHOUT_ERROR),
    "L11 without a map by agent": log(result=result_object(per_benchmark_speedups_by_agent=None)),
    "L13 fail-to-fail": log(snapshot={**GOOD_SNAPSHOT, "fail-to-fail": 9, "failed": 9}),
}
FAILS = {
    "L2": log(altered(failed=1)),
    "L3": log(snapshot={**GOOD_SNAPSHOT, "pass-to-fail": 1}),
    "L5": log(altered(error=1)),
    "L6": log(altered(error=2)),
    "L7": log(without="TESTS"),
    "L8": log(without="SNAPSHOT"),
    "L14": log(snapshot={**GOOD_SNAPSHOT, "error": "boom"}),
    "a nested summary": log({"summary": GOOD_TESTS}),
    "a list": log([1, 2]),
    "a boolean": log(altered(failed=False)),
    "NaN": log(altered(failed=float("nan"))),
    "a negative count": log(altered(failed=-1)),
    "a string": log(altered(failed="0")),
    "no JSON": log("passed: 12"),
    "a key twice": log('{"passed": 1, "failed": 3, "failed": 0}'),
    "too deep": log("[" * 100_000),
    "a huge number": log('{"passed": 1, "failed": 0, "error": ' + "9" * 5000 + "}"),
    "no pass-to-fail": log(snapshot={"passed": 7, "failed": 0}),
    "a block without an end": "FORMULACODE_TESTS_START\n" + log(without="TESTS"),
}


@pytest.mark.parametrize("text", PASSES.values(), ids=PASSES)
def test_good_logs_are_recomputed(text: str) -> None:
    result = judged(text)
    details = details_of(result)
    assert (result.status, details.success, details.fallback_to_baseline) == (Status.PASSED, True, False)
    assert details.num_valid_benchmarks == 2
    assert details.task_speedup == GOOD
    assert details.agent_advantage == RECOMPUTED


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_failures_fall_back_and_say_why(text: str) -> None:
    result = judged(text)
    details = details_of(result)
    assert (result.status, details.success, details.fallback_to_baseline) == (Status.FAILED, False, True)
    assert details.task_speedup == 1.0
    assert details.agent_advantage == FALLEN
    assert [(b.raw_agent, b.oracle) for b in details.benchmarks] == [(1.2, 1.5), (1.0, 1.1)]
    assert result.message


@pytest.mark.parametrize(
    "text",
    [log(without="RESULT"), log(result="nonsense"), log(result={}), log(result=[]), log(result={"a": {"b": 1}})],
    ids=["L9 missing", "no JSON", "empty", "a list", "neither form"],
)
def test_without_a_result_a_run_is_an_error(text: str) -> None:
    result = judged(text)
    assert (result.status, result.reason) == (Status.ERROR, "no_result")
    assert "RESULT" in (result.message or "")


def test_without_a_result_failing_tests_still_fail() -> None:
    assert judged(log(altered(failed=1), without="RESULT")).status is Status.FAILED


def test_benchmarks_without_a_valid_one_are_an_error() -> None:
    result = judged(log(result=result_object({"m.S.a": {"agent/nop": 0, "oracle/nop": 1}})))
    assert (result.status, result.reason) == (Status.ERROR, "no_valid_benchmark")
    assert result.message == "the only benchmark has no valid speedup"
    two = judged(log(result=result_object({name: {"agent/nop": 0, "oracle/nop": 1} for name in ("m.S.a", "m.S.b")})))
    assert two.message == "none of the 2 benchmarks has a valid speedup"


def test_one_error_is_one_error() -> None:
    told = {count: judged(log(altered(error=count))).checks[0].detail for count in (1, 2)}
    assert told == {1: "12 passed, 0 failed, 1 error", 2: "12 passed, 0 failed, 2 errors"}


ZEROED = {"agent_advantage": 0.0, "per_benchmark_speedups": {}, "total_benchmarks": 0}
NONE_OF = {"passed": 0, "failed": 0, "error": 0, "total": 0}


@pytest.mark.parametrize("mark", ["", "FORMULACODE_NO_BENCHMARKS\n"])
def test_l16_a_task_without_benchmarks_is_skipped(mark: str) -> None:
    result = judged(mark + log(NONE_OF, ZEROED, {"pass-to-fail": 0}))
    assert (result.status, result.reason) == (Status.SKIPPED, "no_benchmarks")


def test_who_says_there_are_no_benchmarks_and_has_some_is_judged() -> None:
    text = "FORMULACODE_NO_BENCHMARKS\n" + log(altered(failed=1))
    assert judged(text).status is Status.FAILED
    assert any("NO_BENCHMARKS" in note for note in read_log(text).notes)


def older(*entries: tuple[str, float]) -> dict[str, Any]:
    return {f"m.S.b{n}": {"change": change, "delta_pct": delta} for n, (change, delta) in enumerate(entries)}


def test_l17_the_older_form_tells_a_mean_and_no_advantage() -> None:
    result = judged(log(result=older(("-", -20), (" ", 0), ("+", 10), ("x", 3), ("-", -150))))
    details = details_of(result)
    assert result.status is Status.PASSED
    assert details.task_speedup is None
    assert details.legacy_percentage == pytest.approx(10 / 3)
    assert (details.num_benchmarks, details.num_valid_benchmarks, details.agent_advantage) == (5, 0, None)
    assert details.benchmarks[0].agent == pytest.approx(1.25)


def test_l18_a_broken_benchmark_of_the_older_form_is_no_speedup() -> None:
    assert details_of(judged(log(result=older(("-", -20), ("!", 0))))).legacy_percentage == 0.0


def test_the_first_block_counts_and_more_of_them_are_told() -> None:
    text = log(altered(failed=1)) + block("TESTS", GOOD_TESTS)
    assert judged(text).status is Status.FAILED
    assert any("2 times" in note for note in read_log(text).notes)


def test_keys_are_matched_in_full() -> None:
    other = {"m.S.a": {"agent/nop": 9.0, "oracle/nop": 1.0}}
    maps = {"agent": other, "agent:model2": other, KEY: TWO}
    reading = read_log(log(result=result_object(per_benchmark_speedups_by_agent=maps)))
    assert reading.result is not None
    assert [each.agent for each in reading.result.benchmarks] == [1.2, 1.0]


def test_a_log_may_have_carriage_returns_and_bytes_of_any_kind() -> None:
    text = log().replace("\n", "\r\n").encode() + b"\xff\xfe\x00"
    assert read_log(text).result is not None


def test_the_blocks_may_stand_in_one_object() -> None:
    reading = read_parts({"tests": GOOD_TESTS, "result": result_object(), "snapshot": GOOD_SNAPSHOT})
    assert (reading.agent, reading.tests.status, reading.snapshot.status) == (KEY, "passed", "passed")
    assert read_parts({"result": result_object()}).tests.status == "missing"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
KEYS = st.sampled_from([*GOOD_TESTS, *GOOD_SNAPSHOT, *result_object(), "m.S.a", "change"])
OBJECTS = st.dictionaries(KEYS, JSON, max_size=8)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_any_blocks_give_a_result_that_can_be_written_and_read(
    tested: dict[str, Any], told: dict[str, Any], compared: dict[str, Any]
) -> None:
    result = judged(log(tested, told, compared))
    assert Result.model_validate_json(result.model_dump_json()) == result
    assert isinstance(result.details, SpeedupDetails)
    json.dumps(result.model_dump(mode="json"), allow_nan=False)
    passed = result.status is Status.PASSED
    assert passed <= (result.details.success and result.details.num_benchmarks > 0)
