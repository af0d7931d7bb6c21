"""What an mcp run shows: confused tools, arguments that no schema knows, tools that no case expects, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.records.report import Finding, Run, Subject
from evalward.records.result import Result, Status
from evalward.suites.mcp.confusion import ConfusedPair, ToolTotal, confused_pairs, tool_uses
from evalward.suites.mcp.findings import diagnose, interpret
from support.mcp_calls import call, mcp_case, mcp_result, undeclared
from support.mcp_reports import CALM, ORDERS, confused, fine, mcp_run, trials


def found(results: Sequence[Result]) -> dict[str, Finding]:
    """The first finding of each sort."""
    return {finding.id: finding for finding in reversed(interpret(results))}


# --- pairs and tools ------------------------------------------------------------------------------------------------


def test_confused_pairs_are_counted_in_trials() -> None:
    searches = ("search-1", "search-2", "search-3")
    assert confused_pairs(confused()) == [
        ConfusedPair("search_orders", "list_orders", 7, 9, searches),
        ConfusedPair("(nothing)", "echo", 1, 2, ("calm",)),
    ]
    assert confused_pairs(fine()) == []


def test_only_the_first_counted_call_of_a_valid_trial_confuses() -> None:
    later = mcp_result(mcp_case("search_orders", mode="run"), call("search_orders"), call("list_orders"))
    allowed = mcp_result(mcp_case("search_orders", allow=["list_orders"]), call("list_orders"), call("search_orders"))
    broken = mcp_result(ORDERS[0], call("list_orders"), status=Status.ERROR)
    forbidding = mcp_result(mcp_case(forbid=["delete_order"]), call("echo"))
    assert confused_pairs([later, allowed, broken, forbidding]) == []


@pytest.mark.parametrize(
    ("calls", "taken"),
    [
        ([], "(nothing)"),
        ([undeclared("grep")], "(undeclared)"),
        ([call("search_orders", server="another")], "search_orders of another"),
    ],
)
def test_what_was_taken_is_named_for_people(calls: list[Any], taken: str) -> None:
    assert [pair.taken for pair in confused_pairs([mcp_result(ORDERS[0], *calls)])] == [taken]


def test_each_tool_over_all_trials() -> None:
    assert tool_uses(confused()) == [
        ToolTotal("search_orders", expected=9, matched=2, called=2),
        ToolTotal("list_orders", called=7, wrong=7),
        ToolTotal("echo", called=1, wrong=1),
    ]


# --- findings -------------------------------------------------------------------------------------------------------


def test_a_pair_that_is_a_pattern_is_a_finding() -> None:
    finding = found(confused())["confused_tools"]
    assert finding.message == "Asked for `search_orders`, took `list_orders`"
    assert finding.evidence == "7 of 9 trials that asked for it"
    assert finding.cases == ["search-1", "search-2", "search-3"]
    assert finding.level == "warning"


def test_one_trial_and_a_rare_slip_are_no_pattern() -> None:
    assert "confused_tools" not in found(trials(ORDERS[0], "list_orders"))
    rare = trials(ORDERS[0], *["list_orders"] * 2, *["search_orders"] * 9)
    assert "confused_tools" not in found(rare)


def test_no_call_and_a_needless_call_have_words_of_their_own() -> None:
    silent = found([*trials(ORDERS[0], None, None), *trials(ORDERS[1], "search_orders")])
    needless = found(trials(CALM, "echo", "echo"))
    assert silent["confused_tools"].message == "Asked for `search_orders`, and no tool was called"
    assert needless["confused_tools"].message == "No tool was needed, and `echo` was called"
    assert needless["confused_tools"].evidence == "2 of 2 trials that expected no call"


def test_a_run_without_any_call_is_one_finding() -> None:
    finding = found(trials(ORDERS[0], None, None, None))["no_call_at_all"]
    assert (finding.message, finding.evidence) == ("No tool was called in 3 trials", "3 expected a call")
    assert "confused_tools" not in found(trials(ORDERS[0], None, None, None))
    assert "no_call_at_all" not in found(trials(CALM, None, None))


def test_names_that_are_not_declared_are_one_in_a_pattern() -> None:
    results = [mcp_result(ORDERS[0], undeclared("grep")), mcp_result(ORDERS[1], undeclared("find"))]
    assert found(results)["confused_tools"].message == "Asked for `search_orders`, took one that no server declares"


def test_a_run_without_trouble_has_no_finding() -> None:
    assert interpret(fine()) == []


def test_without_a_valid_trial_nothing_is_found() -> None:
    assert interpret([]) == []
    assert interpret(trials(ORDERS[0], "list_orders", "list_orders", status=Status.ERROR)) == []


def test_forbidden_calls_come_first() -> None:
    case = mcp_case("search_orders", forbid=["delete_order"])
    first = interpret([mcp_result(case, call("delete_order")), mcp_result(case, call("search_orders"))])[0]
    assert first.message == "1 trial tried a call that the case forbids"
    assert first.evidence == "1 of 2 trials of cases that forbid calls"


def test_undeclared_tools_are_named() -> None:
    finding = found([mcp_result(CALM, undeclared("grep"), undeclared("find"), undeclared("grep"))])["undeclared_tools"]
    assert finding.message == "3 calls named a tool that no server declares"
    assert finding.evidence == "grep, find"


def test_arguments_that_do_not_fit_are_shown_with_the_reason() -> None:
    calls = [call(), call(valid=False, why="'text' is a required property")]
    finding = found([mcp_result(CALM, *calls)])["invalid_arguments"]
    assert finding.message == "1 call had arguments that don't fit the tool's input schema"
    assert finding.evidence == "1 of 2 calls; echo: 'text' is a required property"


def test_invented_arguments_are_named_by_tool() -> None:
    results = [mcp_result(CALM, call(invented=["loud"])), mcp_result(CALM, call(invented=["loud", "fast"]))]
    finding = found(results)["invented_arguments"]
    assert finding.message == "Models send `echo` arguments that its input schema doesn't have: `loud`, `fast`"
    assert finding.evidence == "in 2 trials"


def test_a_schema_that_judges_nobody_is_named_with_the_reason() -> None:
    finding = found([mcp_result(CALM, call(valid=None, why="the schema is no JSON Schema"))])["unjudged_arguments"]
    assert finding.message == "Arguments of `echo` can't be judged by the input schema"
    assert finding.evidence == "the schema is no JSON Schema"


def test_many_errors_of_the_server() -> None:
    def ran(error: bool) -> Any:
        return call("echo", executed=True, error=error, why="no such table" if error else "")

    finding = found([mcp_result(CALM, ran(True), ran(True), ran(False))])["failing_calls"]
    assert finding.evidence == "2 of 3 calls; echo: no such table"
    assert "failing_calls" not in found([mcp_result(CALM, ran(True), ran(True), *[ran(False)] * 6)])


def test_refused_requests_of_the_server() -> None:
    one = mcp_result(CALM)
    asking = one.model_copy(
        update={"details": one.details.model_copy(update={"refused": {"sampling/createMessage": 2}})}
    )
    finding = found([asking, asking])["refused_requests"]
    assert finding.evidence == "sampling/createMessage 4 times"


# --- over targets ---------------------------------------------------------------------------------------------------


def test_a_tool_that_no_model_takes() -> None:
    never, twice = trials(ORDERS[0], "list_orders", None), trials(ORDERS[1], "list_orders")
    (finding,) = diagnose([mcp_run(never), mcp_run(twice, "openai/gpt")])
    assert finding.message == "None of 2 models ever takes `search_orders`"
    assert finding.evidence == "3 calls expected"
    assert finding.cases == ["search-1", "search-2"]
    (alone,) = diagnose([mcp_run(never)])
    assert alone.message == "The model never takes `search_orders`"


def test_a_tool_that_one_model_takes_is_no_finding() -> None:
    assert diagnose([mcp_run(trials(ORDERS[0], "list_orders")), mcp_run(fine(), "openai/gpt")]) == []


def test_targets_that_are_no_models_say_nothing_about_models() -> None:
    idle = mcp_run(trials(ORDERS[0], None), "nop").model_copy(update={"random": False})
    assert diagnose([idle]) == []


def of_server(run: Run, *tools: str) -> Run:
    """The run, whose server lists these tools."""
    parts = {f"tool:{name}": "sha256:t" for name in tools}
    return run.model_copy(update={"subject": Subject(hash="sha256:s", tools="sha256:l", **parts)})


def test_tools_that_no_case_expects_are_named_once_for_all_targets() -> None:
    tools = ("search_orders", "list_orders", "echo")
    runs = [of_server(mcp_run(fine(), target), *tools) for target in ("anthropic/haiku", "openai/gpt", "nop")]
    (finding,) = diagnose(runs)
    assert (finding.id, finding.level) == ("unused_tools", "info")
    assert finding.message == "No measured case expects 2 of 3 tools: `list_orders`, `echo`"
    assert diagnose([of_server(mcp_run(fine()), "search_orders")]) == []


# --- hostile names --------------------------------------------------------------------------------------------------


def test_names_are_cut_and_stay_in_their_backticks() -> None:
    finding = found([mcp_result(CALM, undeclared("`\n" * 5 + "x" * 5000))])["undeclared_tools"]
    assert finding.evidence == "' " * 5 + "x" * 150 + "…"
