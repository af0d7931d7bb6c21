"""Mode `run`: the loop with a server that executes the calls, its state, its failures, and recordings against it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Result, Status
from evalward.records.sections import Facts
from evalward.records.trace import Trace
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.details import McpDetails
from evalward.suites.mcp.kind import MCP
from evalward.suites.mcp.own_server import NOT_LISTED
from evalward.suites.mcp.trial_sections import trial_sections
from evalward.targets.replay import ReplayChat
from evalward.targets.scripted import Nop, Oracle
from support.mcp import checkout
from support.mcp_http import http_server
from support.mcp_suites import Talking, called, prepared_suite

ECHO = {
    "id": "echo",
    "prompt": "Say hello.",
    "expect": {"calls": [{"tool": "echo", "args": {"text": "hello"}}]},
}
NOTE = {
    "id": "note",
    "prompt": "Write a note.",
    "expect": {"calls": [{"tool": "write_note", "args": {"name": "a.txt", "text": "milk"}}]},
    "state": "grep -qx milk a.txt && grep -qx given old.txt",
    "files": {"old.txt": "given"},
}
QUIET = {"id": "quiet", "prompt": "Do nothing.", "expect": {"none": True}}


@pytest.fixture
def root() -> Iterator[Path]:
    with checkout() as folder:
        yield folder


def suite(root: Path, *odd: str, lines: Any = (ECHO, NOTE, QUIET), **more: Any) -> McpPrepared:
    """A suite in mode `run` with the small server, made to misbehave as these words say."""
    command = [sys.executable, "-I", "-S", "./server.py", *odd]
    given = {"server": {"command": command, "env": {"NOTES": "{folder}"}}, "mode": "run", **more}
    return prepared_suite(root, lines, **given)


async def played(prepared: McpPrepared, target: Any, name: str = "echo", trial: int = 1) -> TrialOutcome:
    case = next(each for each in prepared.cases if each.id == name)
    return await MCP.run_trial(prepared, case, target, trial)


async def result(prepared: McpPrepared, target: Any, name: str = "echo") -> Result:
    return (await played(prepared, target, name)).result


def details(result: Result) -> McpDetails:
    assert isinstance(result.details, McpDetails)
    return result.details


# --- what happens -----------------------------------------------------------------------------------------------------


async def test_calls_are_executed_and_their_results_read(root: Path) -> None:
    target = Talking(called("echo", {"text": "hello"}), called("add", {"a": 1, "b": 2}, 2))
    outcome = await played(suite(root), target)
    assert outcome.result.status is Status.PASSED
    read = [block for request in target.requests[1:] for block in request.messages[-1].content]
    assert [block.content for block in read if block.type == "tool_result"] == ["hello", "3"]
    assert [call.commands for call in outcome.trace.tool_calls] == ['echo {"text": "hello"}', 'add {"a": 1, "b": 2}']
    found = details(outcome.result)
    assert (found.mode, found.executed, found.failed, found.turns, found.answer) == ("run", 2, 0, 3, "Done.")


async def test_the_oracle_passes_and_doing_nothing_passes_where_nothing_is_to_be_done(root: Path) -> None:
    prepared = suite(root)
    assert [(await result(prepared, Oracle(), name)).status for name in ("echo", "note", "quiet")] == ["passed"] * 3
    nothing = [(await result(prepared, Nop(), name)).status for name in ("echo", "note", "quiet")]
    assert nothing == ["failed", "failed", "passed"]


async def test_a_state_that_is_wrong_fails_the_case(root: Path) -> None:
    failed = await result(suite(root, lines=[{**NOTE, "state": "grep -qx bread a.txt"}]), Oracle(), "note")
    assert (failed.status, failed.reason) == (Status.FAILED, "checks_failed")
    check = next(check for check in failed.checks if check.check == "state")
    assert (check.passed, check.detail) == (False, "exit code 1")


async def test_a_script_that_looks_at_the_state_finds_nothing_else_of_the_server(root: Path) -> None:
    lines = [{**NOTE, "state": "test ! -e ~/.profile && test ! -e $TMPDIR/left"}]
    prepared = suite(root, "litter", lines=lines)
    assert (await result(prepared, Oracle(), "note")).status is Status.PASSED


async def test_a_call_that_the_server_refuses_is_executed_and_failed(root: Path) -> None:
    target = Talking(called("look", {}), called("add", {"a": "x"}, 2), called("echo", {"text": "hello"}, 3))
    lines = [{**ECHO, "expect": {**ECHO["expect"], "max_extra": 9}}]  # type: ignore[dict-item]
    found = details(await result(suite(root, "refuse=add", lines=lines), target))
    unknown, refused, _ = found.calls
    assert (unknown.known, unknown.executed, unknown.error) == (False, False, None)
    assert (refused.valid, refused.executed, refused.error) == (False, True, True)
    assert refused.why == "MCP error -32602: add is refused"
    assert (found.executed, found.failed, found.unknown) == (2, 1, 1)


async def test_arguments_that_are_no_object_are_not_sent(root: Path) -> None:
    target = Talking(called("echo", "hello"), called("echo", {"text": "hello"}, 2))
    outcome = await played(suite(root), target)
    first, second = details(outcome.result).calls
    assert (first.executed, second.executed) == (False, True)
    assert outcome.trace.tool_calls[0].ran is False
    assert outcome.trace.tool_calls[0].stderr == "the arguments are not a JSON object"


async def test_tools_of_other_servers_are_offered_and_not_executed(root: Path) -> None:
    other = {"server": "mail", "tools": [{"name": "send", "inputSchema": {"type": "object"}}]}
    prepared = suite(root, files={"mail.json": other}, distractors=["mail.json"])
    target = Talking(called("mail__send", {}), called("small__echo", {"text": "hello"}, 2))
    outcome = await played(prepared, target)
    assert [tool.name for tool in target.requests[0].tools][-1] == "mail__send"
    assert outcome.trace.tool_calls[0].stderr == "this tool's server is not running"
    assert [call.executed for call in details(outcome.result).calls] == [False, True]
    assert [use.name for message in outcome.trace.messages for use in message.tool_uses] == ["mail:send", "echo"]


async def test_a_conversation_ends_at_the_turn_limit(root: Path) -> None:
    calls = [called("add", {"a": 1, "b": number}, number) for number in range(9)]
    failed = await result(suite(root, max_turns=3), Talking(*calls))
    assert (failed.status, failed.reason) == (Status.FAILED, "turn_limit")
    assert details(failed).turns == 3


async def test_what_a_server_wants_of_a_host_is_in_the_result(root: Path) -> None:
    prepared = suite(root, "ask=sampling/createMessage")
    assert details(await result(prepared, Oracle())).refused == {"sampling/createMessage": 1}


async def test_that_a_server_changed_its_list_is_in_the_trials_view(root: Path) -> None:
    found = await result(suite(root, "changed"), Oracle())
    more = trial_sections(found, [])[-1]
    assert isinstance(more, Facts)
    assert ("times that the server changed its list of tools", ["1"]) in [(row.label, row.values) for row in more.rows]


async def test_a_server_at_an_address_executes_calls(root: Path) -> None:
    with http_server() as server:
        prepared = prepared_suite(root, [ECHO], server={"url": server.url}, mode="run")
        assert (await result(prepared, Oracle())).status is Status.PASSED


# --- servers that fail ------------------------------------------------------------------------------------------------


async def test_a_server_that_dies_in_a_call_fails_the_trial_with_the_reason(root: Path) -> None:
    target = Talking([called("echo", {"text": "hello"}), called("add", {"a": 1, "b": 2}, 2)])
    outcome = await played(suite(root, "die=call"), target)
    assert (outcome.result.status, outcome.result.reason) == (Status.FAILED, "server_died")
    assert outcome.result.message == (
        "the server failed: it ended with exit code 7: no database: the reason stands here"
    )
    assert len(target.requests) == 1
    assert [(call.executed, call.error) for call in details(outcome.result).calls] == [(True, True), (False, None)]


async def test_a_server_that_hangs_fails_the_trial_with_the_reason(root: Path) -> None:
    failed = await result(suite(root, "hang=call", timeout_s=0.05), Oracle())
    assert (failed.status, failed.reason) == (Status.FAILED, "server_hung")
    assert failed.message == "the server failed: it gave no answer to 'echo' within 0.05 s"


async def test_an_answer_that_is_no_result_fails_the_trial_with_the_reason(root: Path) -> None:
    target = Talking(called("echo", {"text": "hello"}))
    failed = await result(suite(root, 'answer={"result": {"content": 3}}'), target)
    assert (failed.status, failed.reason) == (Status.FAILED, "server_bad_answer")
    assert failed.message is not None
    assert failed.message.startswith("the server failed: its answer to 'echo' is not the result of a call: content: ")
    assert len(target.requests) == 1


async def test_the_state_after_a_servers_death_is_not_looked_at(root: Path) -> None:
    failed = await result(suite(root, "die=call"), Oracle(), "note")
    assert failed.reason == "server_died"
    assert next(check.detail for check in failed.checks if check.check == "state") == "the server failed before"


@pytest.mark.parametrize("mode", ["select", "run"])
async def test_a_server_that_never_lists_its_tools_makes_every_trial_an_error(root: Path, mode: str) -> None:
    prepared = suite(root, "die=list", mode=mode, lines=[ECHO, QUIET])
    for target in (Oracle(), Nop()):
        with pytest.raises(TrialBrokenError) as broken:
            await played(prepared, target)
        assert (broken.value.reason, broken.value.stops_run) == (NOT_LISTED, False)
        assert broken.value.message == (
            "the server didn't list its tools: it ended with exit code 7: no database: the reason stands here"
        )
    (problem,) = (await MCP.prove(prepared)).problems
    assert str(problem).startswith("evalward.yml:")
    assert "suites[0].server: the server didn't list its tools: it ended with exit code 7" in str(problem)


async def test_a_server_without_tools_makes_every_trial_an_error(root: Path) -> None:
    with pytest.raises(TrialBrokenError, match=r"^the server lists no tools$"):
        await played(suite(root, "tools=0"), Oracle())


async def test_a_server_that_lists_once_and_never_again_breaks_the_trial(root: Path) -> None:
    prepared = suite(root)
    (root / "server.py").write_text("raise SystemExit('gone')")
    with pytest.raises(TrialBrokenError) as broken:
        await played(prepared, Oracle())
    assert (broken.value.reason, broken.value.begun) == (NOT_LISTED, False)
    assert broken.value.message == "the server didn't list its tools: it ended with exit code 1: gone"


# --- whose server -----------------------------------------------------------------------------------------------------


async def test_each_trial_has_a_server_and_a_folder_of_its_own(root: Path) -> None:
    lines = [{**NOTE, "state": "test ! -e b.txt"}]
    prepared = suite(root, lines=lines)
    leaves = Talking(called("write_note", {"name": "b.txt", "text": "x"}))
    assert (await result(prepared, leaves, "note")).status is Status.FAILED
    assert (await result(prepared, Oracle(), "note")).status is Status.PASSED


@pytest.mark.parametrize(("scope", "counted"), [("shared", ["1", "2", "3"]), ("trial", ["1", "1", "1"])])
async def test_trials_may_share_one_server(root: Path, scope: str, counted: list[str]) -> None:
    prepared = suite(root, "counting", lines=[ECHO], scope=scope)
    answers = [(await played(prepared, Oracle())).trace.tool_calls[0].stdout for _ in range(3)]
    assert answers == counted


async def test_after_its_end_a_shared_server_is_a_fresh_one(root: Path) -> None:
    prepared = suite(root, "counting", "last=add", lines=[ECHO], scope="shared")
    await played(prepared, Oracle())
    ends = Talking(called("add", {"a": 1, "b": 2}), called("echo", {"text": "hello"}, 2))
    assert (await result(prepared, ends)).reason == "server_died"
    assert (await played(prepared, Oracle())).trace.tool_calls[0].stdout == "1"


async def test_a_shared_server_that_cannot_be_started_again_breaks_each_trial(root: Path) -> None:
    prepared = suite(root, lines=[ECHO], scope="shared")
    (root / "server.py").write_text("raise SystemExit('gone')")
    for _ in range(2):
        with pytest.raises(TrialBrokenError, match="exit code 1: gone"):
            await played(prepared, Oracle())


async def test_trials_at_once_share_one_server(root: Path) -> None:
    prepared = suite(root, "counting", lines=[ECHO], scope="shared")
    done = await asyncio.gather(*(played(prepared, Oracle(), trial=number) for number in range(1, 5)))
    assert sorted(outcome.trace.tool_calls[0].stdout for outcome in done) == ["1", "2", "3", "4"]


def test_files_and_state_need_a_folder(root: Path) -> None:
    with pytest.raises(InputError, match="a server that trials share has no folder for a case") as refused:
        suite(root, scope="shared")
    assert [problem.field for problem in refused.value.problems] == ["note: files", "note: state"]
    with http_server() as server, pytest.raises(InputError, match="a server at an address has no folder for a case"):
        prepared_suite(root, [NOTE], server={"url": server.url}, mode="run")


# --- recordings -------------------------------------------------------------------------------------------------------


class Recorded(Talking):
    """A target that plays a recording again."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(id="replay:main")
        self._trace = trace

    def open(self, case: Any, trial: int) -> Any:
        return ReplayChat(self._trace)


async def test_recorded_calls_are_executed_by_todays_server(root: Path) -> None:
    recorded = (await played(suite(root), Talking(called("echo", {"text": "hello"})))).trace
    same = await result(suite(root), Recorded(recorded))
    assert (same.status, details(same).replayed, details(same).diverged_at) == (Status.PASSED, True, None)
    other = await result(suite(root, "size=9"), Recorded(recorded))
    assert (other.status, details(other).diverged_at) == (Status.PASSED, 1)
    dead = await result(suite(root, "die=call"), Recorded(recorded))
    assert (dead.status, dead.reason, details(dead).diverged_at) == (Status.FAILED, "server_died", 1)


# --- validate ---------------------------------------------------------------------------------------------------------


async def test_a_suite_is_proven_by_executing_the_expected_calls(root: Path) -> None:
    proof = await MCP.prove(suite(root))
    assert (list(proof.problems), proof.summary) == ([], "2 expected calls executed by the server; every check holds")


async def test_a_case_whose_expected_calls_do_not_lead_to_its_state_is_a_mistake(root: Path) -> None:
    proof = await MCP.prove(suite(root, lines=[ECHO, {**NOTE, "state": "test -e b.txt"}]))
    (problem,) = proof.problems
    assert str(problem).startswith("cases.jsonl:2: note: the executed calls fail 'state': exit code 1")


async def test_a_server_that_dies_of_an_expected_call_is_told(root: Path) -> None:
    proof = await MCP.prove(suite(root, "die=call", lines=[ECHO]))
    assert "the server failed: it ended with exit code 7" in str(proof.problems[0])


async def test_a_server_at_an_address_executes_nothing_for_a_proof(root: Path) -> None:
    with http_server() as server:
        prepared = prepared_suite(root, [ECHO], server={"url": server.url}, mode="run")
        listed = len(server.headers)
        proof = await MCP.prove(prepared)
        assert len(server.headers) == listed
    assert "none of them executed" in proof.summary


async def test_a_variant_is_what_models_read__and_the_server_executes_its_calls(root: Path) -> None:
    prepared = suite(root, files={"better.json": {"echo": "Says it back."}}, variants={"better": "better.json"})
    target = Talking(called("echo", {"text": "hello"}))
    found = await result(MCP.variants(prepared)["better"], target)
    assert found.status is Status.PASSED
    assert isinstance(found.details, McpDetails)
    assert found.details.executed == 1
    assert target.requests[0].tools[0].description == "Says it back."
