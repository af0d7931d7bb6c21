"""The run level: the reference's R2, R3, R5 and pass@k, and what a policy must not be told."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.statistics.passk import pass_at_k
from evalward.records.baseline import baseline_trial
from evalward.records.metric import Measurement
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.speedup.attempts import pass_at
from evalward.suites.speedup.details import KEPT_SAMPLES, BenchmarkSpeed, Samples, SpeedupDetails
from evalward.suites.speedup.metrics import DEFAULT_RULES, METRIC_IDS, measure
from evalward.suites.speedup.payload import details_of, payload, read_payload
from evalward.suites.speedup.summary import agent_summary, gmean_of_advantages
from support.speedups import details, ran_with, speeds, trial_of

FIELDS = [
    "per_benchmark_speedups",
    "pytest_summary",
    "snapshot_summary",
    "pytest_failed",
    "snapshot_failed",
    "success",
    "fallback_to_baseline",
    "agent_advantage",
    "agent_advantage_level1",
    "agent_advantage_level2",
    "agent_advantage_level3",
    "agent_advantage_level4",
    "num_benchmarks",
    "num_valid_benchmarks",
    "task_speedup",
    "task_cost_usd",
    "trajectory_length",
]


def first(cost: float | None = 0.4) -> Result:
    """Speedup 1.2, advantage −.3, 8 of 10 valid."""
    valid = [(f"m.S.f{n}", 1.2, 1.5) for n in range(8)]
    made = details(speeds(*valid, ("m.S.x", 0.0, 1.5), ("m.S.y", None, 1.5)), trajectory_length=20)
    return trial_of("one", made, cost=cost)


def second(cost: float | None = 0.1) -> Result:
    """Failed: speedup 1.0, advantage −.1, 5 of 5 valid."""
    pairs = [(f"m.S.f{n}", 3.0, 1.1) for n in range(5)]
    return trial_of("two", details(speeds(*pairs), tests=ran_with(1), trajectory_length=40), cost=cost)


def values(measurement: Measurement) -> dict[str, float | None]:
    return {name: metric.value for name, metric in measurement.metrics.items()}


def test_r2() -> None:
    found = values(measure([first(), second()]))
    expected = {
        "mean_speedup": 1.1,
        "mean_success_rate": 0.5,
        "num_benchmarks": 15,
        "num_valid_benchmarks": 13,
        "agent_advantage": -0.2,
        "agent_advantage_level4": -0.2,
        "mean_cost_per_task": 0.25,
        "cost_weighted_advantage": -0.8,
        "mean_trajectory_length": 30,
        "accuracy": 0.5,
        "total_cost": 0.5,
        "cost_usd": 0.5,
        "valid_benchmark_share": 13 / 15,
        "harness_error_rate": 0.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    told = agent_summary([first(), second()])
    assert told == {name: pytest.approx(found[name]) for name in told}


def test_r3_a_cost_of_nothing_weighs_nothing_and_an_unknown_one_is_not_available() -> None:
    assert values(measure([first(0.0)]))["cost_weighted_advantage"] == 0
    unpriced = second(None).model_copy(update={"usage": Usage(input_tokens=5, output_tokens=5)})
    found = measure([first(), unpriced]).metrics
    for name in ("cost_weighted_advantage", "mean_cost_per_task", "total_cost", "cost_usd"):
        assert (found[name].value, found[name].reason) == (None, "the price is unknown")


@pytest.mark.parametrize(
    ("results", "why"),
    [
        ([first(None), second(None)], "no agent's log has token counts"),
        ([first(), second(None)], "no agent's log has token counts of two"),
    ],
)
def test_a_cost_without_token_counts_is_unknown_for_want_of_them(results: list[Result], why: str) -> None:
    found = measure(results).metrics
    for name in ("cost_weighted_advantage", "mean_cost_per_task", "total_cost", "cost_usd"):
        assert (found[name].value, found[name].reason) == (None, why)


def test_r5_the_export_has_the_specifications_values_and_the_policy_has_none() -> None:
    made = details(speeds(("m.f", 1.2, None)), legacy_percentage=3.0)
    result = trial_of("older", made)
    assert result.status is Status.PASSED
    assert (payload(result)["task_speedup"], payload(result)["agent_advantage_level2"]) == (1.0, 0.0)
    assert agent_summary([result])["mean_speedup"] == 1.0
    found = values(measure([result]))
    assert (found["mean_speedup"], found["agent_advantage"], found["mean_success_rate"]) == (None, None, 1.0)


def test_an_empty_run_has_no_values_and_every_metric() -> None:
    found = measure([])
    assert tuple(found.metrics) == METRIC_IDS
    assert {name for name, value in values(found).items() if value is not None} == set()
    assert agent_summary([])["mean_cost_per_task"] is None


def test_errors_are_in_no_metric_of_speeds_but_in_accuracy_and_the_total_cost() -> None:
    broken = trial_of("three", details([]), cost=0.3)
    assert (broken.status, broken.reason) == (Status.ERROR, "no_result")
    with_it, without = values(measure([first(), broken])), values(measure([first()]))
    own = {"harness_error_rate": 0.5, "accuracy": 0.5, "total_cost": 0.7}
    assert {name: with_it.pop(name) for name in own} == pytest.approx(own)
    assert {name: without.pop(name) for name in own} == {"harness_error_rate": 0, "accuracy": 1, "total_cost": 0.4}
    assert with_it == without


def test_an_attempt_that_is_an_error_is_one_that_did_not_succeed() -> None:
    good = first()
    broken = trial_of("one", details([]), trial=2)
    assert measure([good, broken]).metrics["pass_at_2"].value == 1.0
    assert measure([good, broken, broken.model_copy(update={"trial": 3})]).metrics["pass_at_2"].value == pytest.approx(
        2 / 3
    )


def test_a_task_without_a_valid_benchmark_counts_as_unchanged_and_is_an_error() -> None:
    broken = trial_of("three", details(speeds(("m.f", 0, 1))), cost=0.4)
    assert broken.status is Status.ERROR
    found = values(measure([first(), broken]))
    expected = {
        "mean_speedup": 1.1,
        "agent_advantage": -0.15,
        "agent_advantage_level1": -0.15,
        "mean_success_rate": 1.0,
        "num_benchmarks": 11,
        "num_valid_benchmarks": 8,
        "valid_benchmark_share": 8 / 11,
        "harness_error_rate": 0.5,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    told = agent_summary([first(), broken])
    assert {name: told[name] for name in told if name in expected} == pytest.approx(
        {name: found[name] for name in told if name in expected}
    )


def test_a_failed_task_without_any_benchmark_counts_as_unchanged() -> None:
    failed = trial_of("two", details([], tests=ran_with(1)))
    found = values(measure([failed]))
    assert (found["mean_speedup"], found["agent_advantage"], found["mean_success_rate"]) == (1.0, 0.0, 0.0)


def test_a_fallback_makes_no_benchmark_valid_in_the_share() -> None:
    made = details(speeds(("m.S.a", 0, 1.5), ("m.S.b", 1.2, 1.5)), tests=ran_with(1))
    found = values(measure([trial_of("t", made)]))
    assert (found["num_valid_benchmarks"], found["valid_benchmark_share"]) == (2, 0.5)


def test_counts_and_total_cost_of_several_attempts_are_sums_and_rates_pool() -> None:
    again = first().model_copy(update={"trial": 2})
    found = measure([first(), again]).metrics
    counts = [found[name].value for name in ("num_benchmarks", "num_valid_benchmarks", "total_cost", "cost_usd")]
    assert counts == [20, 16, 0.8, 0.4]
    assert found["mean_speedup"].denominator == 2


def test_default_rules_name_metrics_and_none_is_cost_weighted() -> None:
    assert {rule.metric for rule in DEFAULT_RULES} <= set(METRIC_IDS) - {"cost_weighted_advantage"}


ESTIMATES = [(2, 0, 2, 0), (2, 1, 2, 1), (4, 1, 2, 0.5), (4, 3, 2, 1), (5, 1, 2, 0.4), (5, 2, 5, 1), (10, 1, 10, 1)]


@pytest.mark.parametrize(("n", "c", "k", "expected"), ESTIMATES)
def test_pass_at_k_estimator(n: int, c: int, k: int, expected: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(expected)


RUNS: list[tuple[list[int], list[int], dict[int, float]]] = [
    ([1], [0], {}),
    ([1, 0], [0, 0], {2: 0.5}),
    ([1, 0, 0, 0], [0, 1, 1, 1], {2: 0.75, 4: 1.0}),
    ([1, 0, 0, 0, 0], [0] * 5, {2: 0.2, 4: 0.4, 5: 0.5}),
    ([1, 0, 0], [0] * 3, {2: 1 / 3}),
    ([1, 1], [0], {}),
    ([1] * 10, [1] * 16, {2: 1, 4: 1, 5: 1, 8: 1, 10: 1}),
]


@pytest.mark.parametrize(("a", "b", "expected"), RUNS)
def test_pass_at_k_of_runs(a: list[int], b: list[int], expected: dict[int, float]) -> None:
    tasks = {"a": list(map(bool, a)), "b": list(map(bool, b))}
    assert pass_at(tasks) == pytest.approx(expected)
    results = [
        trial_of(task, details(speeds(("m.f", 2, 1)), tests=ran_with(0 if good else 1)), trial=number)
        for task, tried in tasks.items()
        for number, good in enumerate(tried, 1)
    ]
    found = measure(results).metrics
    assert {k: found[f"pass_at_{k}"].value for k in expected} == pytest.approx(expected)
    if not expected:
        assert "2 attempts" in (found["pass_at_2"].reason or "")


def test_geometric_mean_of_advantages() -> None:
    assert gmean_of_advantages([0.21, 0]) == pytest.approx(0.1)
    assert gmean_of_advantages([-1.5, 0.5]) == pytest.approx(-0.5)
    assert gmean_of_advantages([]) is None


def test_the_payload_has_exactly_the_specifications_fields_and_reads_as_written() -> None:
    for result in (first(), second()):
        written = payload(result)
        assert list(written) == FIELDS
        json.dumps(written, allow_nan=False)
        again = read_payload("agent:model", json.loads(json.dumps(written)))
        told = details_of(result).benchmarks
        benchmarks = [b.model_copy(update={"raw_agent": None, "raw_oracle": None}) for b in told]
        assert list(again.benchmarks) == benchmarks


def test_a_baseline_keeps_numbers_and_bounded_samples() -> None:
    samples = Samples(nop=[float(n) for n in range(1, 1001)], agent=[1.0, 2.0])
    benchmark = BenchmarkSpeed(name="m.f", agent=2, oracle=1, samples=samples)
    kept = baseline_trial(trial_of("t", details([benchmark], notes=["a long story"])))
    assert isinstance(kept.details, SpeedupDetails)
    (found,) = kept.details.benchmarks
    assert found.samples is not None
    assert len(found.samples.nop) == KEPT_SAMPLES
    assert (found.samples.nop[0], found.samples.nop[-1], found.samples.agent) == (1.0, 1000.0, [1.0, 2.0])
    assert "story" not in kept.model_dump_json()


def test_a_baseline_gives_the_same_metrics() -> None:
    results = [first(), second()]
    kept = [
        result.model_copy(update={"details": baseline_trial(result).details, "checks": [], "message": None})
        for result in results
    ]
    assert measure(kept) == measure(results)


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100), st.booleans()), min_size=1, max_size=8))
def test_the_order_of_tasks_is_no_difference(tasks: list[tuple[float, float, bool]]) -> None:
    results = [
        trial_of(f"t{n}", details(speeds(("m.S.a", agent, oracle)), tests=ran_with(int(bad))), cost=0.1)
        for n, (agent, oracle, bad) in enumerate(tasks)
    ]
    shuffled = random.Random(1).sample(results, len(results))
    assert values(measure(shuffled)) == pytest.approx(values(measure(results)))
