"""The specification's metrics, with the worked examples of its reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.metric import Measurement
from evalward.records.result import OtherDetails, Result
from evalward.suites.bash.kind import BASH
from evalward.suites.bash.metrics import METRIC_IDS, measure
from support.results import result

SPECIFICATION = {
    "overall_rate", "pass_rate", "total_tasks", "total_passed", "total_score", "total_max_score", "total_tool_calls",
    "tool_calls_ok", "tool_calls_error", "tool_call_success_rate", "total_turns", "avg_turns_per_task",
    "avg_tool_calls_per_task", "total_input_tokens", "total_output_tokens", "total_duration_ms", "avg_duration_ms",
    "natural_stop_rate", "cost_usd", "harness_error_rate",
}  # fmt: skip
A = result("A", "failed", score=4, most=5, calls=(2, 3), turns=3, tokens=(100, 10), duration_ms=1000, cost=0.25)
B = result("B", "passed", score=2, most=2, calls=(1, 1), turns=2, tokens=(50, 5), duration_ms=500, cost=0.5)


def value(measured: Measurement, metric: str) -> float | None:
    return measured.metrics[metric].value


def counts(measured: Measurement, metric: str) -> tuple[float | None, float | None]:
    return measured.metrics[metric].numerator, measured.metrics[metric].denominator


def test_every_metric_of_the_contract_is_there_in_order() -> None:
    assert set(METRIC_IDS) == SPECIFICATION
    assert tuple(measure([A, B]).metrics) == METRIC_IDS == tuple(BASH.metric_ids)


def test_first_worked_example() -> None:
    measured = measure([A, B])
    assert counts(measured, "overall_rate") == (6, 7)
    assert counts(measured, "pass_rate") == (1, 2)
    assert counts(measured, "tool_call_success_rate") == (3, 4)
    expected = {
        "overall_rate": 6 / 7,
        "pass_rate": 0.5,
        "tool_call_success_rate": 0.75,
        "avg_turns_per_task": 2.5,
        "avg_tool_calls_per_task": 2.0,
        "natural_stop_rate": 1.0,
        "total_tasks": 2.0,
        "total_passed": 1.0,
        "total_score": 6.0,
        "total_max_score": 7.0,
        "total_tool_calls": 4.0,
        "tool_calls_ok": 3.0,
        "tool_calls_error": 1.0,
        "total_turns": 5.0,
        "total_input_tokens": 150.0,
        "total_output_tokens": 15.0,
        "total_duration_ms": 1500.0,
        "avg_duration_ms": 750.0,
        "cost_usd": 0.75,
        "harness_error_rate": 0.0,
    }
    assert {name: value(measured, name) for name in METRIC_IDS} == expected


def test_second_worked_example_only_a_judge_check() -> None:
    measured = measure([result("A", score=0, most=0, calls=(0, 0), turns=1)])
    for metric, why in (
        ("overall_rate", "no check carries weight"),
        ("tool_call_success_rate", "no tool call was made"),
    ):
        assert measured.metrics[metric].value is None
        assert measured.metrics[metric].reason == why
    assert value(measured, "pass_rate") == 1.0
    assert value(measured, "total_tool_calls") == 0.0
    assert measured.categories["basic"].rate is None


def test_the_published_haiku_run() -> None:
    rows = [result(f"c{n}", "passed" if n < 32 else "failed", score=5, most=5) for n in range(36)]
    assert counts(measure([*rows, result("c36", "failed", score=0, most=4)]), "pass_rate") == (32, 37)
    assert value(measure([result("one", "failed", score=174, most=184)]), "overall_rate") == 0.9456521739130435


@pytest.mark.parametrize("metric", METRIC_IDS)
@pytest.mark.parametrize(
    "rows", [[], [result("a", "skipped")], [result("a", "error")]], ids=["none", "skipped", "error"]
)
def test_without_a_valid_trial_nothing_is_available_but_the_count_of_tasks(metric: str, rows: list[Result]) -> None:
    found = measure(rows).metrics[metric]
    if metric == "total_tasks":
        assert found.value == 0.0
    elif metric == "harness_error_rate" and rows and rows[0].status == "error":
        assert found.value == 1.0
    else:
        assert found.value is None
        assert found.reason in {"no valid trial", "no trial was run"}


def test_errors_and_skipped_trials_are_in_no_rate_but_the_error_rate() -> None:
    measured = measure([A, B, result("C", "error"), result("D", "skipped")])
    for metric in METRIC_IDS:
        if metric != "harness_error_rate":
            assert measured.metrics[metric] == measure([A, B]).metrics[metric]
    assert counts(measured, "harness_error_rate") == (1, 3)


def test_several_trials_count_per_pass_and_rates_pool() -> None:
    rows = [
        result("a", "passed", trial=1, calls=(2, 2), turns=2),
        result("a", "failed", trial=2, calls=(0, 4), turns=6),
        result("b", "passed", trial=1, calls=(1, 1), turns=1),
        result("b", "passed", trial=2, calls=(1, 1), turns=1),
    ]
    measured = measure(rows)
    assert value(measured, "total_tasks") == 2.0
    assert value(measured, "total_passed") == 1.5
    assert value(measured, "total_tool_calls") == 4.0
    assert value(measured, "total_turns") == 5.0
    assert counts(measured, "pass_rate") == (3, 4)
    assert counts(measured, "tool_call_success_rate") == (4, 8)
    assert value(measured, "avg_turns_per_task") == 2.5
    category = measured.categories["basic"]
    assert (category.tasks, category.passed, category.score, category.max_score, category.rate) == (
        2,
        1.5,
        1.5,
        2,
        0.75,
    )


def test_a_case_that_lost_a_trial_counts_as_one_case() -> None:
    rows = [result("a", trial=1), result("a", "error", trial=2), result("b", trial=1), result("b", trial=2)]
    measured = measure(rows)
    assert (value(measured, "total_tasks"), value(measured, "total_passed")) == (2.0, 2.0)
    assert counts(measured, "pass_rate") == (3, 3)


def test_one_trial_that_tells_no_tokens_makes_the_total_unknown() -> None:
    measured = measure([A, result("B", tokens=None, cost=None)])
    assert measured.metrics["total_input_tokens"].value is None
    assert measured.metrics["total_input_tokens"].reason == "the target reported no tokens"
    assert measured.metrics["cost_usd"].reason == "the price is unknown"
    assert value(measured, "total_turns") == 5.0


def test_natural_stops() -> None:
    assert counts(measure([A, result("B", natural=False)]), "natural_stop_rate") == (1, 2)


def test_categories_are_sorted_and_only_of_valid_trials() -> None:
    rows = [
        result("a", category="z"),
        result("b", "failed", category="m", score=1, most=4),
        result("c", "error", category="a"),
    ]
    categories = measure(rows).categories
    assert list(categories) == ["m", "z"]
    assert (categories["m"].tasks, categories["m"].passed, categories["m"].rate) == (1, 0, 0.25)


def test_details_of_another_kind_count_as_no_calls() -> None:
    assert value(measure([result("a", details=OtherDetails(kind="x"))]), "total_tool_calls") == 0.0


@given(st.lists(st.builds(
    result,
    st.sampled_from("abc"),
    st.sampled_from(["passed", "failed", "error", "skipped"]),
    score=st.integers(0, 3).map(float),
    most=st.just(3.0),
    calls=st.integers(0, 3).map(lambda n: (n, 3)),
), max_size=12))  # fmt: skip
def test_every_rate_is_a_share_with_its_counts(rows: list[Result]) -> None:
    metrics = measure(rows).metrics
    for metric in metrics.values():
        if metric.unit == "ratio" and metric.value is not None:
            assert 0.0 <= metric.value <= 1.0
            assert metric.numerator is not None
            assert metric.denominator
    assert measure(list(reversed(rows))).metrics == metrics
