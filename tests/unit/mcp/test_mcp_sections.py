"""What people see of mcp runs and trials: listings beside the base, facts, words; and nothing hostile survives."""

from __future__ import annotations

from evalward.records.result import Result, Status
from evalward.records.sections import Facts, GridRow, Note, RunListing
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.evidence import as_failed, evidence, trial_text
from evalward.suites.mcp.metrics import measure
from evalward.suites.mcp.sections import sections
from evalward.suites.mcp.trial_sections import trial_sections
from support.mcp_calls import call, mcp_case, mcp_result, said, undeclared
from support.mcp_reports import CALM, ORDERS, confused, fine, mcp_base, mcp_run, trials


def listings(now: list[Result], before: list[Result] | None = None) -> dict[str, RunListing]:
    base = mcp_base(before) if before is not None else None
    return {each.title: each for each in sections(mcp_run(now), base) if isinstance(each, RunListing)}


def cells(listing: RunListing) -> list[list[str]]:
    return [[row.label, *row.values] for row in listing.rows]


def test_confused_tools_alone_and_beside_the_base() -> None:
    alone, compared = listings(confused())["Confused tools"], listings(confused(), fine())["Confused tools"]
    assert [alone.head, *alone.columns] == ["asked for → taken", "trials"]
    assert cells(alone) == [["search_orders → list_orders", "7 of 9"], ["(nothing) → echo", "1 of 2"]]
    assert compared.columns == ["trials", "baseline"]
    assert [row.values[-1] for row in compared.rows] == ["0 of 9", "0 of 2"]
    same = listings(confused(), confused())["Confused tools"]
    assert [row.values[-1] for row in same.rows] == ["7 of 9", "1 of 2"]


def test_a_run_without_confusion_has_no_listing_of_it() -> None:
    assert "Confused tools" not in listings(fine())


def test_a_run_without_any_call_confuses_nothing() -> None:
    idle = listings(trials(ORDERS[0], None, None))
    assert "Confused tools" not in idle
    assert cells(idle["Tools"]) == [["search_orders", "0 of 2", "0"]]


def test_undeclared_names_are_compared_as_one() -> None:
    now, before = [mcp_result(ORDERS[0], undeclared("grep"))], [mcp_result(ORDERS[0], undeclared("find"))]
    assert cells(listings(now, before)["Confused tools"]) == [["search_orders → (undeclared)", "1 of 1", "1 of 1"]]


def test_tools_with_what_was_matched_and_taken_wrongly() -> None:
    alone, compared = listings(confused())["Tools"], listings(confused(), fine())["Tools"]
    assert cells(alone) == [["search_orders", "2 of 9", "0"], ["list_orders", "–", "7"], ["echo", "–", "1"]]
    assert compared.columns == ["matched", "matched, baseline", "taken wrongly", "taken wrongly, baseline"]
    assert cells(compared)[0] == ["search_orders", "2 of 9", "9 of 9", "0", "0"]
    assert cells(compared)[1] == ["list_orders", "–", "–", "7", "0"]


def test_categories_have_a_listing_where_there_are_several() -> None:
    listing = listings(confused(), fine())["Categories by tool choice"]
    assert cells(listing) == [
        ["orders", "2 of 9", "9 of 9", "2 of 9", "9 of 9", "2 of 9", "9 of 9"],
        ["small talk", "n/a", "n/a", "n/a", "n/a", "1 of 2", "2 of 2"],
    ]
    assert "Categories by tool choice" not in listings(trials(ORDERS[0], "list_orders"))


def test_only_cases_of_the_same_definition_are_compared() -> None:
    other = [each.model_copy(update={"definition": "sha256:other"}) for each in fine()]
    assert listings(confused(), other)["Confused tools"].columns == ["trials"]


def with_tokens(results: list[Result], tokens: int) -> list[Result]:
    return [
        each.model_copy(update={"details": each.details.model_copy(update={"catalogue_tokens": tokens})})
        for each in results
    ]


def test_tokens_are_said_to_be_an_estimate() -> None:
    assert listings(with_tokens(fine(), 1235))["Tools"].note.endswith(
        "The server's tools take ≈ 1,235 tokens in every request."
    )


def test_descriptions_that_grew_stand_beside_what_came_of_it() -> None:
    grown = listings(with_tokens(confused(), 1900), with_tokens(confused(), 1235))["Tools"]
    assert grown.note.endswith(
        "The server's tools take ≈ 1,900 tokens in every request, ≈ 1,235 in the baseline; the right tool was taken in "
        "2 of 9 trials, in the baseline in 2 of 9."
    )
    shrunk = listings(with_tokens(fine(), 900), with_tokens(fine(), 1235))["Tools"]
    assert shrunk.note.endswith("≈ 900 tokens in every request, ≈ 1,235 in the baseline.")


def test_a_replay_says_what_it_does_not_see() -> None:
    one = mcp_result(CALM)
    replayed = one.model_copy(update={"details": one.details.model_copy(update={"replayed": True})})
    assert [each.about for each in sections(mcp_run([replayed]), None) if isinstance(each, Note)] == ["replay"]
    assert [each for each in sections(mcp_run([one]), None) if isinstance(each, Note)] == []


# --- one trial ------------------------------------------------------------------------------------------------------

TULIP = {"tool": "echo", "args": {"text": "tulip"}}


def test_evidence_of_a_failed_trial_has_the_calls() -> None:
    found = evidence(mcp_result(mcp_case(TULIP), said("rose"))).wrong
    assert found is not None
    assert (found.expected, found.actual) == ('echo {"text": "tulip"}', 'echo {"text": "rose"}')
    assert found.why.startswith('call echo {"text": "tulip"}: called with {"text": "rose"}')
    assert evidence(mcp_result(mcp_case(TULIP), said("tulip"))).wrong is None


def test_trial_text_says_how_calls_went() -> None:
    ran = [said("a", executed=True, error=True), said("b", executed=True, error=False)]
    case = mcp_case("echo", mode="run")
    assert trial_text(mcp_result(case, *ran)).calls == "1 ok, 1 error"
    assert trial_text(mcp_result(case, said("a"), undeclared())).calls == "2, 1 not valid"
    assert trial_text(mcp_result(case, said("a"))).calls == "1"
    assert trial_text(mcp_result(mcp_case(TULIP))).session == 'expected  echo {"text": "tulip"}\nactual    (no call)'


def test_what_a_trial_shows() -> None:
    calls = [said("x", executed=True, error=True, why="no such text"), undeclared("grep"), call(valid=None, why="bad")]
    facts = {
        each.title: each for each in trial_sections(mcp_result(mcp_case(TULIP), *calls), []) if isinstance(each, Facts)
    }
    assert facts["Calls"].rows[0] == GridRow(label="first tool", values=["echo", "echo"])
    assert facts["Each call"].rows == [
        GridRow(label="1. echo", values=['{"text": "x"}', "yes", "error", "no such text"]),
        GridRow(
            label="2. grep",
            values=["{}", "tool not declared", "not executed", "no server declares a tool of this name"],
        ),
        GridRow(label="3. echo", values=["{}", "n/a", "not executed", "bad"]),
    ]


def test_a_trial_that_failed_in_everything_is_the_worst_case() -> None:
    for case in (mcp_case(TULIP, forbid=["delete_order"]), CALM):
        good = mcp_result(case, *([said("tulip")] if case.expect.calls else []))
        bad = good.model_copy(update={"status": Status.FAILED, "details": as_failed(good.details), "score": 0.0})
        before, after = measure([good]).metrics, measure([bad]).metrics
        for name in ("tool_selection_accuracy", "call_recall", "abstention_accuracy", "pass_rate"):
            assert (before[name].value, after[name].value) in {(1.0, 0.0), (None, None)}
        assert after["forbidden_call_rate"].value == before["forbidden_call_rate"].value


def test_the_worst_case_of_other_details_is_itself() -> None:
    assert as_failed(McpDetails()).kind == "mcp"
