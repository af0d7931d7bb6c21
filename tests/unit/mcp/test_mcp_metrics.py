"""The metrics of the kind mcp: worked examples of each definition, and what their tests see as the unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evalward.decide.portions import NONE, Portion
from evalward.records.metric import Metric
from evalward.records.result import Result, Status
from evalward.suites.mcp.metrics import METRIC_IDS, PER_TRIAL, measure
from support.mcp_calls import call, mcp_case, mcp_result, said, undeclared

TULIP = {"tool": "echo", "args": {"text": "tulip"}}
ECHO, ORDERS, NONE_CASE = (
    mcp_case(TULIP, id_="echo"),
    mcp_case("search_orders", id_="orders"),
    mcp_case(none=True, id_="none"),
)
FORBIDS = mcp_case(forbid=["delete_order"], id_="forbids")


def measured(*results: Result) -> Mapping[str, Metric]:
    return measure(results).metrics


def quotient(metric: str, *results: Result) -> tuple[float | None, float | None]:
    found = measured(*results)[metric]
    return found.numerator, found.denominator


def test_every_metric_is_measured_and_made_of_trials() -> None:
    assert list(measured(mcp_result(ECHO))) == list(METRIC_IDS)
    assert set(PER_TRIAL) == set(METRIC_IDS)


def test_without_a_trial_nothing_is_available() -> None:
    broken = mcp_result(ECHO, said("tulip"), status=Status.ERROR)
    for results in ([], [broken]):
        found = measure(results).metrics
        assert {name for name, metric in found.items() if metric.value is not None} <= {"harness_error_rate"}
        assert found["call_recall"].reason == "no valid trial"


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("tool_selection_accuracy", "no case expects a call"),
        ("call_recall", "no case expects a call"),
        ("call_precision", "no case expects a call"),
        ("argument_match_rate", "no case expects a call"),
        ("missed_call_rate", "no case expects a call"),
        ("argument_validity_rate", "no call of a known tool was made"),
        ("forbidden_call_rate", "no case forbids a call"),
        ("unknown_tool_rate", "no call was made"),
        ("tool_error_rate", "no call was executed"),
        ("tool_call_success_rate", "no call was executed"),
    ],
)
def test_a_metric_without_a_denominator_is_not_available(metric: str, reason: str) -> None:
    found = measured(mcp_result(NONE_CASE))[metric]
    assert (found.value, found.reason) == (None, reason)


def test_others_without_a_denominator() -> None:
    found = measured(mcp_result(ORDERS))
    assert (found["abstention_accuracy"].value, found["abstention_accuracy"].reason) == (None, "no case has none: true")
    assert (found["call_precision"].value, found["call_precision"].reason) == (None, "no counted call was made")
    why = "no tool was called whose arguments are expected"
    assert (found["argument_match_rate"].value, found["argument_match_rate"].reason) == (None, why)


def test_tool_selection_accuracy_is_over_trials_of_cases_with_calls() -> None:
    right, wrong_text, other = said("tulip"), said("rose"), call("list_orders")
    results = [mcp_result(ECHO, right), mcp_result(ECHO, wrong_text), mcp_result(ECHO, other), mcp_result(ECHO)]
    assert quotient("tool_selection_accuracy", *results, mcp_result(NONE_CASE, other)) == (2, 4)


def test_recall_and_precision_pool_the_calls_of_cases_that_expect_some() -> None:
    both = mcp_case(TULIP, "search_orders", id_="both", mode="run")
    results = [
        mcp_result(both, said("tulip"), said("x")),
        mcp_result(ECHO, said("tulip")),
        mcp_result(NONE_CASE, said("x")),
    ]
    assert quotient("call_recall", *results) == (2, 3)
    assert quotient("call_precision", *results) == (2, 3)


def test_arguments_are_valid_by_schema_or_not_judged() -> None:
    calls = [call(), call(valid=False), call(valid=None), undeclared(), call(arguments=None, raw="{", valid=False)]
    assert quotient("argument_validity_rate", mcp_result(NONE_CASE, *calls)) == (1, 3)


def test_arguments_match_where_the_tool_was_called() -> None:
    results = [mcp_result(ECHO, said("tulip")), mcp_result(ECHO, said("x")), mcp_result(ECHO), mcp_result(ORDERS)]
    assert quotient("argument_match_rate", *results) == (1, 2)


def test_abstention_and_missed_calls() -> None:
    results = [
        mcp_result(NONE_CASE),
        mcp_result(NONE_CASE, undeclared()),
        mcp_result(ECHO),
        mcp_result(ECHO, said("x")),
    ]
    assert quotient("abstention_accuracy", *results) == (1, 2)
    assert quotient("missed_call_rate", *results) == (1, 2)
    assert measured(*results)["missed_call_rate"].better == "lower"


def test_a_trial_with_several_forbidden_calls_counts_once() -> None:
    results = [mcp_result(FORBIDS, call("delete_order"), call("delete_order")), mcp_result(FORBIDS), mcp_result(ECHO)]
    assert quotient("forbidden_call_rate", *results) == (1, 2)


def test_undeclared_names_are_over_all_calls() -> None:
    assert quotient(
        "unknown_tool_rate", mcp_result(ECHO, undeclared(), said("x")), mcp_result(NONE_CASE, said("x"))
    ) == (1, 3)


def test_errors_are_over_executed_calls() -> None:
    calls = [said("a", executed=True, error=True), said("b", executed=True, error=False), said("c")]
    assert quotient("tool_error_rate", mcp_result(ECHO, *calls)) == (1, 2)
    assert quotient("tool_call_success_rate", mcp_result(ECHO, *calls)) == (1, 2)


def test_calls_and_tokens() -> None:
    found = measured(mcp_result(ECHO, said("a"), undeclared()), mcp_result(ECHO))
    assert found["calls_per_task"].value == 1.0
    assert found["catalogue_tokens"].value == mcp_result(ECHO).details.model_dump()["catalogue_tokens"]
    assert found["catalogue_tokens"].unit == "tokens"


def test_categories_have_their_own_score() -> None:
    other = mcp_case("search_orders", id_="b", category="orders")
    categories = measure([mcp_result(ECHO, said("tulip")), mcp_result(other)]).categories
    assert {name: (each.passed, each.tasks) for name, each in categories.items()} == {
        "general": (1, 1),
        "orders": (0, 1),
    }


# --- the unit of the tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "result", "portion"),
    [
        ("tool_selection_accuracy", mcp_result(ECHO, said("x")), Portion(1, 1)),
        ("tool_selection_accuracy", mcp_result(ECHO), Portion(0, 1)),
        ("tool_selection_accuracy", mcp_result(NONE_CASE), NONE),
        ("call_recall", mcp_result(mcp_case(TULIP, "search_orders"), said("tulip")), Portion(1, 2)),
        ("call_precision", mcp_result(ECHO, said("tulip"), said("a"), said("b")), Portion(1, 3)),
        ("call_precision", mcp_result(ECHO), NONE),
        ("argument_validity_rate", mcp_result(ECHO, call(), call(valid=False)), Portion(1, 2)),
        ("abstention_accuracy", mcp_result(NONE_CASE), Portion(1, 1)),
        ("abstention_accuracy", mcp_result(ECHO), NONE),
        ("forbidden_call_rate", mcp_result(FORBIDS, call("delete_order"), call("delete_order")), Portion(1, 1)),
        ("forbidden_call_rate", mcp_result(ECHO), NONE),
        ("tool_error_rate", mcp_result(ECHO, said("a", executed=True, error=True)), Portion(1, 1)),
    ],
)
def test_a_trial_adds_its_calls_as_one_portion(metric: str, result: Result, portion: Any) -> None:
    assert PER_TRIAL[metric].portion(result) == portion
