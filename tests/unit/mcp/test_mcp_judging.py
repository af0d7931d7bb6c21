"""What an expectation says of a trial's calls: counts, checks, and what people read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.result import CheckResult
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.details import AttemptedCall, InventedArgument, JudgedCalls, McpDetails, ToolTally
from evalward.suites.mcp.judging import asked_text, made_text
from support.mcp_calls import SERVER, call, judged, mcp_case, said, shop, undeclared

TULIP = {"tool": "echo", "args": {"text": "tulip"}}
ROSE = {"tool": "echo", "args": {"text": "rose"}}


def counts(case: McpCase, *calls: AttemptedCall) -> JudgedCalls:
    return judged(case, *calls).details.judged


def failing(case: McpCase, *calls: AttemptedCall) -> dict[str, str]:
    """The checks that don't hold, with what was there instead."""
    return {check.check: check.detail for check in judged(case, *calls).checks if not check.passed}


# --- the reference's worked examples --------------------------------------------------------------------------------


def test_pairing_is_not_greedy() -> None:
    case = mcp_case("echo", TULIP)
    found = judged(case, said("tulip"), said("x"))
    assert (found.details.judged.matched, found.details.judged.expected, found.passed) == (2, 2, True)


def test_a_repeat_is_an_extra() -> None:
    found = counts(mcp_case(TULIP), said("tulip"), said("tulip"))
    assert (found.matched, found.expected, found.counted) == (1, 1, 2)
    assert failing(mcp_case(TULIP), said("tulip"), said("tulip")) == {
        "no other call": "called beyond what is expected: echo"
    }


def test_arguments_are_counted_where_the_tool_was_called() -> None:
    """Two of the three tools were called, and one of them with the expected text."""
    case = mcp_case(TULIP, ROSE, {"tool": "list_orders", "args": {"customer": "x"}})
    found = counts(case, said("tulip"), said("iris"))
    assert (found.args_matched, found.args_tried) == (1, 2)


def test_calls_without_arguments_are_no_part_of_the_argument_match_rate() -> None:
    found = counts(mcp_case("list_orders", TULIP), call("list_orders"), said("rose"))
    assert (found.args_matched, found.args_tried) == (0, 1)


def test_arguments_match_in_any_order_even_where_calls_have_one() -> None:
    found = counts(mcp_case(TULIP, ROSE, order="in_order"), said("rose"), said("tulip"))
    assert (found.matched, found.args_matched, found.args_tried) == (1, 2, 2)


# --- order ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "calls", "matched", "passed"),
    [
        ("any", ["rose", "tulip"], 2, True),
        ("in_order", ["rose", "tulip"], 1, False),
        ("in_order", ["tulip", "rose"], 2, True),
        ("exact", ["tulip", "rose"], 2, True),
        ("exact", ["rose", "tulip"], 1, False),
        ("any", ["tulip", "iris", "rose"], 2, True),
        ("in_order", ["tulip", "iris", "rose"], 2, True),
        ("exact", ["tulip", "iris", "rose"], 2, False),
        ("exact", ["iris", "tulip", "rose"], 2, True),
        ("exact", [], 0, False),
    ],
)
def test_orders_in_run_mode_where_other_calls_are_free(
    order: Any, calls: list[str], matched: int, passed: bool
) -> None:
    found = judged(mcp_case(TULIP, ROSE, order=order, mode="run"), *map(said, calls))
    assert (found.details.judged.matched, found.passed) == (matched, passed)


def test_a_call_out_of_order_is_said_to_be() -> None:
    case = mcp_case(TULIP, ROSE, order="in_order", mode="run")
    assert failing(case, said("rose"), said("tulip")) == {'call echo {"text": "rose"}': "called, but not in this order"}


# --- the first choice -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "first", "selected"),
    [
        ("any", "echo", True),
        ("any", "list_orders", True),
        ("any", "delete_order", False),
        ("in_order", "echo", True),
        ("in_order", "list_orders", False),
        ("exact", "list_orders", False),
    ],
)
def test_the_first_counted_call_decides_about_the_selection(order: Any, first: str, selected: bool) -> None:
    found = counts(
        mcp_case(TULIP, "list_orders", order=order), call(first, arguments={"text": "anything"}), said("tulip")
    )
    assert found.selected is selected
    assert (found.wanted, found.taken) == ("echo", first)


def test_no_call_is_no_selection() -> None:
    found = counts(mcp_case(TULIP))
    assert (found.selected, found.taken, found.wanted) == (False, None, "echo")


def test_allowed_calls_do_not_count() -> None:
    case = mcp_case(TULIP, allow=["list_orders"])
    found = judged(case, call("list_orders"), said("tulip"))
    assert found.passed
    assert (found.details.judged.selected, found.details.judged.counted, found.details.total) == (True, 1, 2)


def test_a_tool_of_another_server_is_not_the_expected_one() -> None:
    found = counts(mcp_case(TULIP), said("tulip", server="neighbour"))
    assert (found.selected, found.matched, found.taken, found.taken_from) == (False, 0, "echo", "neighbour")
    assert found.tools == [
        ToolTally(tool="echo", expected=1),
        ToolTally(tool="echo", server="neighbour", called=1, wrong=1),
    ]


def test_an_undeclared_name_is_a_wrong_choice_even_if_it_is_the_expected_word() -> None:
    found = counts(mcp_case("echo"), undeclared("echo"))
    assert (found.selected, found.matched, found.counted, found.taken_known) == (False, 0, 1, False)


def test_arguments_that_are_none_still_select_the_tool() -> None:
    found = counts(mcp_case("echo"), call("echo", arguments=None, raw="{", valid=False, why="broken"))
    assert (found.selected, found.matched, found.args_tried) == (True, 0, 0)
    broken = call("echo", arguments=None, raw="{", valid=False, why="no object")
    assert failing(mcp_case("echo", max_extra=1), broken) == {"call echo": "called with { (no object)"}


# --- none, forbidden, extras ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [call("echo"), undeclared(), call("echo", arguments=None, raw="{", valid=False)])
def test_a_call_of_any_sort_is_one_where_none_is_expected(made: AttemptedCall) -> None:
    found = judged(mcp_case(none=True), made)
    assert not found.passed
    assert found.details.judged.expects == "none"
    assert found.details.judged.counted == 1


def test_no_call_where_none_is_expected_passes() -> None:
    assert judged(mcp_case(none=True)).passed
    assert judged(mcp_case(none=True, allow=["echo"]), call("echo")).passed


def test_a_forbidden_call_fails_whether_it_was_refused_or_not() -> None:
    case = mcp_case(TULIP, forbid=["delete_order"], max_extra=3)
    for made in (call("delete_order"), undeclared("delete_order"), call("delete_order", executed=True, error=True)):
        found = judged(case, said("tulip"), made)
        assert not found.passed
        assert found.details.judged.forbidden == 1
    assert judged(case, said("tulip")).details.judged.forbidden == 0
    assert judged(mcp_case(TULIP), said("tulip")).details.judged.forbidden is None


def test_allowing_a_tool_does_not_undo_a_forbidden_call_of_it() -> None:
    case = mcp_case(TULIP, forbid=[{"tool": "list_orders", "args": {"customer": "*"}}], allow=["list_orders"])
    assert judged(case, call("list_orders", arguments={"customer": "a"}), said("tulip")).passed
    assert not judged(case, call("list_orders", arguments={"customer": "*"}), said("tulip")).passed


@pytest.mark.parametrize(
    ("mode", "max_extra", "others", "passed"),
    [
        ("select", None, 0, True),
        ("select", None, 1, False),
        ("select", 1, 1, True),
        ("run", None, 9, True),
        ("run", 2, 3, False),
    ],
)
def test_other_calls_are_bounded_as_the_mode_or_the_case_says(
    mode: Any, max_extra: Any, others: int, passed: bool
) -> None:
    case = mcp_case(TULIP, mode=mode, **({} if max_extra is None else {"max_extra": max_extra}))
    assert judged(case, said("tulip"), *(call("list_orders") for _ in range(others))).passed is passed


def test_a_case_that_only_forbids_bounds_other_calls_only_if_it_says_so() -> None:
    assert judged(mcp_case(forbid=["delete_order"]), call("echo"), call("list_orders")).passed
    assert not judged(mcp_case(forbid=["delete_order"], max_extra=1), call("echo"), call("list_orders")).passed


# --- counts over calls ----------------------------------------------------------------------------------------------


def test_the_numbers_of_all_calls() -> None:
    calls = [
        call("echo", executed=True, error=False),
        call("echo", executed=True, error=True),
        call("echo", valid=False),
        call("echo", valid=None),
        call("list_orders", invented=["limit"]),
        undeclared(),
    ]
    details = judged(mcp_case("echo", mode="run"), *calls).details
    assert (details.total, details.unknown, details.checked, details.valid) == (6, 1, 4, 3)
    assert (details.executed, details.failed) == (2, 1)
    assert details.unjudged == ["echo"]
    assert details.invented == [InventedArgument(tool="list_orders", argument="limit")]
    assert details.catalogue_tokens == shop().tokens


def test_tallies_say_what_became_of_each_tool() -> None:
    found = counts(mcp_case("search_orders", TULIP, mode="run"), call("list_orders"), said("tulip"), undeclared())
    assert found.tools == [
        ToolTally(tool="search_orders", expected=1),
        ToolTally(tool="echo", expected=1, called=1, matched=1),
        ToolTally(tool="list_orders", called=1, wrong=1),
    ]


def test_numbers_count_calls_that_are_not_kept() -> None:
    details = judged(mcp_case("echo", mode="run"), *(said(str(at)) for at in range(300))).details
    assert (len(details.calls), details.total, details.judged.counted, details.valid) == (50, 300, 300, 300)


# --- words ----------------------------------------------------------------------------------------------------------


def test_checks_say_what_was_there_instead() -> None:
    case = mcp_case(TULIP)
    name = 'call echo {"text": "tulip"}'
    assert failing(case) == {name: "not called"}
    assert failing(case, said("rose")) == {
        name: 'called with {"text": "rose"}',
        "no other call": "called beyond what is expected: echo",
    }
    other = failing(case, call("list_orders"), undeclared("grep"))
    assert other == {
        name: "not called; called instead: list_orders, grep",
        "no other call": "called beyond what is expected: list_orders, grep",
    }


def test_the_names_of_checks_are_the_cases_alone() -> None:
    case = mcp_case(TULIP, "echo", "echo", forbid=["delete_order"], order="exact", max_extra=2)
    names = [check.check for check in judged(case).checks]
    assert names == [
        'call echo {"text": "tulip"}',
        "call echo",
        "call echo (number 2)",
        "these calls one after the other",
        "no call of delete_order",
        "at most 2 other calls",
    ]
    assert [check.check for check in judged(case, said("x"), call("delete_order")).checks] == names


def test_what_was_asked_and_what_was_made() -> None:
    assert asked_text(mcp_case(TULIP, "list_orders")) == 'echo {"text": "tulip"}\nlist_orders'
    assert asked_text(mcp_case(none=True)) == "(no call)"
    assert asked_text(mcp_case(forbid=["delete_order"])) == "(no call of delete_order)"
    calls = [said("x"), call("echo", server="near"), undeclared(), call("echo", arguments=None, raw="{te")]
    assert made_text(calls, SERVER) == 'echo {"text": "x"}\necho of near {}\nnope (not declared) {}\necho {te'
    assert made_text([], SERVER) == "(no call)"


def test_a_baseline_keeps_numbers_and_names_of_declared_tools_alone() -> None:
    found = judged(mcp_case("echo", mode="run"), undeclared("sk-secret"), call("echo", invented=["sk-secret"]))
    kept = found.details.model_copy(update={"answer": "sk-secret"}).summary()
    assert "sk-secret" not in kept.model_dump_json()
    assert kept.judged.taken == "(undeclared)"
    assert (kept.total, kept.unknown, kept.judged.tools) == (2, 1, found.details.judged.tools)
    assert McpDetails.model_validate_json(kept.model_dump_json()) == kept


# --- properties -----------------------------------------------------------------------------------------------------

texts = st.sampled_from(["tulip", "rose", "iris"])
made_calls = st.lists(
    st.one_of(
        st.builds(said, texts),
        st.builds(call, st.sampled_from(["list_orders", "delete_order"])),
        st.builds(undeclared, st.sampled_from(["nope", "echo"])),
        st.builds(lambda: call("echo", arguments=None, raw="{", valid=False)),
    ),
    max_size=6,
)
expected_calls = st.lists(
    st.one_of(
        st.sampled_from(["echo", "list_orders"]),
        st.builds(lambda text: {"tool": "echo", "args": {"text": text}}, texts),
        st.just({"tool": "echo", "match": "schema"}),
    ),
    min_size=1,
    max_size=4,
)


@given(expected_calls, made_calls, st.randoms(use_true_random=False))
def test_the_order_of_calls_changes_nothing_but_the_first_choice(
    calls: list[Any], made: list[Any], random: Any
) -> None:
    case = mcp_case(*calls, mode="run", forbid=["delete_order"], max_extra=2)
    shuffled = random.sample(made, len(made))
    one, other = judged(case, *made), judged(case, *shuffled)
    assert [check.passed for check in one.checks] == [check.passed for check in other.checks]
    first: dict[str, Any] = {"selected": None, "taken": None, "taken_known": True, "taken_from": "", "tools": []}
    assert one.details.judged.model_copy(update=first) == other.details.judged.model_copy(update=first)


@given(expected_calls, made_calls, st.sampled_from(["any", "in_order", "exact"]))
def test_counts_are_within_each_other(calls: list[Any], made: list[Any], order: Any) -> None:
    case = mcp_case(*calls, order=order)
    found = judged(case, *made)
    numbers = found.details.judged
    assert numbers.matched <= min(numbers.expected, numbers.counted)
    assert numbers.args_matched <= numbers.args_tried <= numbers.expected
    assert sum(each.expected for each in numbers.tools) == numbers.expected
    assert sum(each.matched for each in numbers.tools) == numbers.matched
    assert sum(each.called for each in numbers.tools) == sum(each.known for each in made)
    assert found.passed == all(check.passed for check in found.checks)
    if found.passed:
        assert numbers.matched == numbers.expected


@given(expected_calls)
def test_the_expected_calls_themselves_pass_whatever_the_order_means(calls: list[Any]) -> None:
    for order in ("any", "in_order", "exact"):
        case = mcp_case(*calls, order=order)
        made = [call(each.tool, arguments=each.args or {}) for each in case.expect.calls]
        found = judged(case, *made)
        assert found.passed
        assert found.details.judged.selected is True


def test_checks_are_plain_results() -> None:
    assert judged(mcp_case("echo"), call("echo")).checks == [
        CheckResult(check="call echo", passed=True, detail=""),
        CheckResult(check="no other call", passed=True, detail=""),
    ]
