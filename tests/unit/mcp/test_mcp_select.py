"""One trial in mode `select`: what is asked, how calls are read, how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalward.records.result import UNREADABLE, Result, Status
from evalward.records.trace import Text, ToolCall, ToolUse
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.kind import MCP
from evalward.suites.mcp.outcome import EXTRA, FORBIDDEN, NEEDLESS, NO_ANSWER, NO_CALL, WRONG_ARGUMENTS, WRONG_TOOL
from evalward.suites.mcp.select import GONE, LEFT_OUT, run_select
from evalward.targets.base import NoAnswerError, TrialSkippedError
from evalward.targets.failures import Cause, TargetError
from evalward.targets.scripted import Nop, Oracle
from support.mcp_suites import CASES, LATEST, ORDERS, SEARCH, Calling, called, prepared_suite

RIGHT = called("search_orders", {"query": "tulips"})


async def played(suite: McpPrepared, target: Any, name: str = "find") -> TrialOutcome:
    case = next(each for each in suite.cases if each.id == name)
    return await run_select(suite, case, target, 1)


async def trial(suite: McpPrepared, target: Any, name: str = "find") -> Result:
    return (await played(suite, target, name)).result


def details(result: Result) -> McpDetails:
    assert isinstance(result.details, McpDetails)
    return result.details


# ------------------------------------------------------------------------------------------- what is asked


async def test_the_model_reads_prompt__tools_and_instructions(tmp_path: Path) -> None:
    files = {"system.md": "Be brief.\n"}
    tools = {"tools": list(ORDERS), "instructions": "Dates are ISO 8601."}
    suite = prepared_suite(tmp_path, tools=tools, files=files, system="system.md")
    target = Calling(RIGHT)
    await trial(suite, target)
    (asked,) = target.requests
    assert asked.system == "Be brief.\n\nInstructions of the server orders:\nDates are ISO 8601."
    assert [message.text for message in asked.messages] == ["Which orders are of tulips?"]
    assert [(tool.name, tool.description) for tool in asked.tools] == [
        ("search_orders", "Find orders by a text."),
        ("list_orders", "List the latest orders."),
        ("order_cancel", "Cancel an order."),
    ]
    assert asked.tools[0].input_schema == SEARCH["inputSchema"]
    assert asked.part == "alone"


async def test_instructions_can_be_kept_back(tmp_path: Path) -> None:
    tools = {"tools": list(ORDERS), "instructions": "Dates are ISO 8601."}
    suite = prepared_suite(tmp_path, tools=tools, instructions=False)
    target = Calling(RIGHT)
    await trial(suite, target)
    assert "ISO" not in target.requests[0].system
    assert "instructions" not in suite.subject


async def test_tools_of_other_servers_stand_beside__and_a_call_of_one_is_wrong(tmp_path: Path) -> None:
    other = {"server": "mail", "tools": [{**SEARCH, "name": "search"}], "instructions": "Be careful."}
    suite = prepared_suite(tmp_path, files={"n/mail.json": other}, distractors="n/*.json")
    target = Calling(called("mail__search", {"query": "tulips"}))
    outcome = await played(suite, target)
    assert [tool.name for tool in target.requests[0].tools] == [
        "orders__search_orders", "orders__list_orders", "orders__order_cancel", "mail__search",
    ]  # fmt: skip
    assert "Instructions of the server mail:\nBe careful." in target.requests[0].system
    assert outcome.result.reason == WRONG_TOOL
    (call,) = details(outcome.result).calls
    assert (call.server, call.tool, call.known, call.valid) == ("mail", "search", True, True)
    assert outcome.trace.messages[-1].tool_uses[0].name == "mail:search"
    right = await trial(suite, Calling(called("orders__search_orders", {"query": "tulips"})))
    assert right.status is Status.PASSED


# ------------------------------------------------------------------------------------------- how it ends


async def test_the_expected_call_passes__under_the_servers_own_name(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path)
    outcome = await played(suite, Calling(called("order_cancel", {"id": "A-7"}), text="At once."), "stop")
    assert outcome.result.status is Status.PASSED
    assert (outcome.result.score, outcome.result.max_score) == (1.0, 1.0)
    assert outcome.trace.messages[-1].content == [Text(text="At once."), called("order.cancel", {"id": "A-7"})]
    found = details(outcome.result)
    assert [(call.tool, call.valid, call.executed) for call in found.calls] == [("order.cancel", True, False)]
    assert (found.answer, found.turns, found.catalogue_tokens) == ("At once.", 1, suite.settings.tools.own.tokens)
    assert outcome.result.usage.cost_usd == 0.5
    assert outcome.trace.tool_calls == [ToolCall(commands='order.cancel {"id": "A-7"}', exit_code=None, ran=False)]


@pytest.mark.parametrize(
    ("uses", "name", "reason"),
    [
        ((), "find", NO_CALL),
        ((called("list_orders", {}),), "find", WRONG_TOOL),
        ((called("nope", {}),), "find", WRONG_TOOL),
        ((called("search_orders", {"query": "roses"}),), "find", WRONG_ARGUMENTS),
        ((called("search_orders", "tulips"),), "find", WRONG_ARGUMENTS),
        ((RIGHT, called("list_orders", {}, 2)), "find", EXTRA),
        ((RIGHT, called("order_cancel", "what", 2)), "find", FORBIDDEN),
        ((called("list_orders", {"limit": 5, "page": 1}),), "newest", WRONG_ARGUMENTS),
        ((called("list_orders", {}),), "hello", NEEDLESS),
        ((called("nope", None),), "hello", NEEDLESS),
    ],
)
async def test_why_a_trial_fails(tmp_path: Path, uses: tuple[ToolUse, ...], name: str, reason: str) -> None:
    result = await trial(prepared_suite(tmp_path), Calling(*uses), name)
    assert (result.status, result.reason) == (Status.FAILED, reason)
    assert result.score == 0.0
    assert any(not check.passed for check in result.checks)


async def test_the_answer_is_looked_at(tmp_path: Path) -> None:
    cases = [{"id": "a", "prompt": "p", "expect": {"none": True}, "answer": [{"contains": "hello"}]}]
    suite = prepared_suite(tmp_path, cases)
    assert (await trial(suite, Calling(text="hello you", stop="end"), "a")).status is Status.PASSED
    result = await trial(suite, Calling(text="hi", stop="end"), "a")
    assert result.checks[-1].detail == 'the answer is "hi"'
    assert (await trial(suite, Calling(stop="refusal"), "a")).reason == "refusal"


async def test_an_answer_that_doesnt_come__or_comes_too_late(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path, timeout_s=0.001)
    late = await trial(suite, Calling(RIGHT))
    assert (late.status, late.reason) == (Status.FAILED, NO_ANSWER)
    assert late.message == "the answer took 0.0 s, more than 0.001 s"
    assert details(late).total == 0
    none = await trial(suite, Calling(error=NoAnswerError("it crashed")))
    assert (none.status, none.reason, none.message) == (Status.FAILED, NO_ANSWER, "it crashed")


async def test_a_providers_fault_is_no_failure_of_the_models(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path)
    with pytest.raises(TrialBrokenError):
        await trial(suite, Calling(error=TargetError(Cause.NETWORK, "gone", target="x")))


async def test_what_cant_be_read_fails_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = prepared_suite(tmp_path)

    def broken(*_: Any) -> None:
        raise ValueError("what is this?")

    monkeypatch.setattr("evalward.suites.mcp.select.score_calls", broken)  # whatever judging may trip over
    result = await trial(suite, Calling(RIGHT))
    assert (result.status, result.reason) == (Status.FAILED, UNREADABLE)
    assert "what is this?" in (result.message or "")
    found = MCP.measure([result]).metrics
    assert (found["tool_selection_accuracy"].value, found["unknown_tool_rate"].value) == (0.0, None)
    calm = MCP.measure([await trial(suite, Calling(RIGHT), "hello")]).metrics
    assert calm["abstention_accuracy"].value == 0.0


async def test_a_tool_that_a_provider_refuses_is_no_failure_of_its_models(tmp_path: Path) -> None:
    bad = {**LATEST, "inputSchema": {"type": "object", "anyOf": [{}]}}
    suite = prepared_suite(tmp_path, tools=[SEARCH, bad, ORDERS[2]], targets=["openai/gpt-5", "oracle"])
    assert suite.warnings == [
        "list_orders is left out for models of OpenAI: its input schema has anyOf at the top",
    ]
    target = Calling(RIGHT)
    assert (await trial(suite, target)).status is Status.PASSED
    assert [tool.name for tool in target.requests[0].tools] == ["search_orders", "order_cancel"]
    with pytest.raises(TrialSkippedError, match='"list_orders": its input schema has anyOf at the top') as skipped:
        await trial(suite, target, "newest")
    assert skipped.value.reason == LEFT_OUT
    assert len(target.requests) == 1
    assert (await trial(suite, Oracle(), "newest")).status is Status.PASSED


async def test_a_models_words_for_arguments_are_the_servers_own_again(tmp_path: Path) -> None:
    odd = {"name": "odd", "inputSchema": {"type": "object", "properties": {"$top": {"type": "integer"}}}}
    cases = [{"id": "a", "prompt": "p", "expect": {"calls": [{"tool": "odd", "args": {"$top": 3}}]}}]
    suite = prepared_suite(tmp_path, cases, tools=[odd])
    target = Calling(called("odd", {"_top": 3}), id="anthropic/claude-haiku-4-5")
    outcome = await played(suite, target, "a")
    assert list(target.requests[0].tools[0].input_schema["properties"]) == ["_top"]
    assert outcome.result.status is Status.PASSED
    assert outcome.trace.messages[-1].tool_uses[0].input == {"$top": 3}
    assert (await trial(suite, Calling(called("odd", {"$top": 3})), "a")).status is Status.PASSED


# ------------------------------------------------------------------------------------------- oracle and nop


async def test_the_oracle_passes_all__and_doing_nothing_what_wants_nothing(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path)
    assert [(await trial(suite, Oracle(), case.id)).status for case in suite.cases] == [Status.PASSED] * len(CASES)
    nop = {case.id: (await trial(suite, Nop(), case.id)).status for case in suite.cases}
    assert {name for name, status in nop.items() if status is Status.PASSED} == {"hello"}


async def test_the_oracle_fills_in_what_a_tool_requires(tmp_path: Path) -> None:
    cases = [{"id": "a", "prompt": "p", "expect": {"calls": [{"tool": "search_orders", "match": "schema"}]}}]
    outcome = await played(prepared_suite(tmp_path, cases), Oracle(), "a")
    assert outcome.result.status is Status.PASSED
    assert details(outcome.result).valid == 1


# ------------------------------------------------------------------------------------------- the subject


def test_each_tool_is_a_part_of_the_subject__with_its_text(tmp_path: Path) -> None:
    before = prepared_suite(tmp_path)
    assert set(before.subject) == {"system", "tools", *(f"tool:{tool['name']}" for tool in ORDERS)}
    assert all(before.texts[key] for key in before.subject.values())
    assert before.texts[before.subject["tool:order.cancel"]] == (
        "Cancel an order.\n\nInput schema:\n{\n"
        '  "type": "object",\n  "properties": {\n    "id": {\n      "type": "string"\n    }\n  },\n'
        '  "required": [\n    "id"\n  ]\n}\n\nAnnotations:\n{\n  "destructiveHint": true\n}\n'
    )
    changed = prepared_suite(tmp_path, tools=[{**SEARCH, "description": "Find."}, *ORDERS[1:]])
    assert {part for part in before.subject if before.subject[part] != changed.subject[part]} == {"tool:search_orders"}
    moved = prepared_suite(tmp_path, tools=[*reversed(ORDERS)])
    assert {part for part in before.subject if before.subject[part] != moved.subject[part]} == {"tools"}
    assert [case.definition for case in moved.cases] == [case.definition for case in before.cases]


def test_other_servers_are_one_part(tmp_path: Path) -> None:
    suite = prepared_suite(tmp_path, files={"mail.json": [SEARCH]}, distractors="mail.json")
    assert "mail:" in suite.texts[suite.subject["other_tools"]]


async def test_a_case_of_a_tool_that_is_gone__is_asked_of_nobody_and_named(tmp_path: Path) -> None:
    renamed = [{**SEARCH, "name": "find_by_text"}, *ORDERS[1:]]
    suite = prepared_suite(tmp_path, tools=renamed)
    assert list(suite.warnings) == [
        'the server "orders" lists no tool "search_orders"; 1 case names it and is not measured: find. '
        "Did you mean find_by_text, which takes the same arguments?"
    ]
    for target in (Calling(RIGHT), Oracle(), Nop()):
        with pytest.raises(TrialSkippedError, match=r'lists no tool "search_orders"\. Did you mean') as error:
            await trial(suite, target)
        assert error.value.reason == GONE
    assert (await trial(suite, Oracle(), "newest")).status is Status.PASSED
