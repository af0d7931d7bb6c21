"""What agents print, read into our records. All lines are written by hand after what the programs really print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.sandbox.base import OUTPUT_LIMIT
from evalward.targets.agents.readers import claude_code, codex, events, opencode
from evalward.targets.agents.readers.common import AgentAccount


def lines(*values: object) -> str:
    return "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values)


def said(identity: str, *blocks: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": identity, "content": list(blocks)}, "parent_tool_use_id": parent}


def used(identity: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "Bash", "input": {"command": command}}


def answered(identity: str, content: object, result: object, *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identity, "content": content, "is_error": failed}
    return {"type": "user", "message": {"content": [block]}, "tool_use_result": result}


CLAUDE = lines(
    {"type": "system", "subtype": "init", "claude_code_version": "2.1.197"},
    said("m1", {"type": "text", "text": "First."}),
    said("m1", used("t1", "ls")),
    answered("t1", "a.txt", {"stdout": "a.txt", "stderr": "", "interrupted": False}),
    said("m2", used("t2", "false")),
    answered("t2", "Exit code 3\noops", "Error: Exit code 3\noops", failed=True),
    said("m3", {"type": "text", "text": "Done."}),
    {"type": "result", "subtype": "success", "is_error": False, "num_turns": 3, "total_cost_usd": 0.5, "usage": {}},
)


def codes(told: AgentAccount) -> list[tuple[str, int | None]]:
    return [(call.commands, call.exit_code) for call in told.tool_calls]


def test_claude_codes_lines_become_a_conversation_with_exit_codes() -> None:
    told = claude_code.read(CLAUDE)
    assert codes(told) == [("ls", 0), ("false", 3)]
    assert [(call.stdout, call.stderr) for call in told.tool_calls] == [("a.txt", ""), ("oops", "")]
    assert [message.role for message in told.messages] == [
        *("assistant", "tool_result", "assistant", "tool_result", "assistant"),
    ]
    assert [block.type for block in told.messages[0].content] == ["text", "tool_use"]
    assert (told.finished, told.claims["cost_usd"], told.claims["turns"]) == (True, 0.5, 3)
    assert told.claims["version"] == "2.1.197"


UNKNOWN: list[dict[str, Any]] = [
    answered("t", "", {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}),
    answered("t", "Command running in background with ID: b1.", {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}),
    answered("t", "", {"stdout": "x", "stderr": "", "interrupted": True}),
    answered("t", "The user doesn't want to proceed", "Error", failed=True),
]


@pytest.mark.parametrize("result", UNKNOWN)
def test_an_exit_code_that_claude_code_does_not_tell_stays_unknown(result: dict[str, Any]) -> None:
    assert codes(claude_code.read(lines(said("m", used("t", "grep x a")), result))) == [("grep x a", None)]


def test_a_call_without_an_answer_is_there_with_an_unknown_exit_code() -> None:
    assert codes(claude_code.read(lines(said("m", used("t", "sleep 9"))))) == [("sleep 9", None)]


def test_a_call_that_claude_code_refused_did_not_run() -> None:
    refused = answered("t", "<tool_use_error>InputValidationError: Bash failed</tool_use_error>", "Error", failed=True)
    [call] = claude_code.read(lines(said("m", used("t", "ls")), refused)).tool_calls
    assert (call.ran, call.exit_code) == (False, None)


def test_a_sub_agents_commands_count_but_its_words_are_not_the_conversation() -> None:
    told = claude_code.read(lines(said("m", used("t", "ls"), parent="p")))
    assert codes(told) == [("ls", None)]
    assert told.messages == []


CODEX = lines(
    {"type": "thread.started", "thread_id": "x"},
    {"type": "item.completed", "item": {"id": "i0", "type": "error", "message": "Model metadata not found."}},
    {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "First."}},
    {
        "type": "item.started",
        "item": {"id": "i2", "type": "command_execution", "command": "/bin/bash -lc ls", "exit_code": None},
    },
    {
        "type": "item.completed",
        "item": {
            "id": "i2",
            "type": "command_execution",
            "command": "/bin/bash -lc 'ls; exit 3'",
            "aggregated_output": "a\n",
            "exit_code": 3,
            "status": "failed",
        },
    },
    {"type": "item.completed", "item": {"id": "i3", "type": "file_change", "changes": [{"path": "a"}]}},
    {"type": "item.started", "item": {"id": "i4", "type": "command_execution", "command": "/bin/bash -lc 'sleep 9'"}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
)


def test_codexs_items_become_a_conversation_with_exit_codes() -> None:
    told = codex.read(CODEX)
    assert codes(told) == [("ls; exit 3", 3), ("sleep 9", None)]
    assert told.tool_calls[0].stdout == "a\n"
    assert [message.role for message in told.messages] == ["assistant", "assistant", "tool_result", "assistant"]
    assert told.messages[3].tool_uses[0].name == "file_change"
    assert (told.finished, dict(told.claims)) == (True, {"input_tokens": 5, "output_tokens": 2})


@pytest.mark.parametrize(
    ("shown", "typed"),
    [
        ("/bin/bash -lc 'echo \"a b\"'", 'echo "a b"'),
        ("/usr/bin/zsh -c ls", "ls"),
        ("git status", "git status"),
        ("/bin/bash -lc 'it is cut", "/bin/bash -lc 'it is cut"),
        ("python -c x", "python -c x"),
    ],
)
def test_codexs_shell_is_taken_off(shown: str, typed: str) -> None:
    assert codex.unwrapped(shown) == typed


def test_a_failed_turn_of_codex_is_no_good_end() -> None:
    told = codex.read(lines({"type": "turn.failed", "error": {"message": "limit"}}))
    assert (told.finished, told.claims["error"]) == (False, "limit")


def step(kind: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "part": part}


def state(status: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "input": {"command": "ls"}, "time": {"start": 1000, "end": 1250}, **more}


OPENCODE = lines(
    step("text", {"type": "text", "text": "First."}),
    step(
        "tool_use",
        {
            "tool": "bash",
            "callID": "c1",
            "state": state("completed", output="a\n", metadata={"output": "a\n", "exit": 3}),
        },
    ),
    step("tool_use", {"tool": "bash", "callID": "c2", "state": state("error", error="rejected")}),
    step("tool_use", {"tool": "read", "callID": "c3", "state": state("completed", output="text")}),
    step(
        "step_finish", {"reason": "tool-calls", "tokens": {"input": 5, "output": 2, "cache": {"read": 1}}, "cost": 0.5}
    ),
    step("step_finish", {"reason": "stop", "tokens": {"input": 5, "output": 2}, "cost": 0.25}),
)


def test_opencodes_steps_become_a_conversation_with_exit_codes() -> None:
    told = opencode.read(OPENCODE)
    assert codes(told) == [("ls", 3), ("ls", None)]
    assert [call.duration_ms for call in told.tool_calls] == [250, 250]
    assert told.tool_calls[1].stderr == "rejected"
    assert [use.name for message in told.messages for use in message.tool_uses] == ["bash", "bash", "read"]
    assert (told.claims["cost_usd"], told.claims["input_tokens"], told.claims["turns"]) == (0.75, 10, 2)
    assert told.finished


def test_an_error_of_opencode_is_no_good_end() -> None:
    told = opencode.read(lines({"type": "error", "error": {"name": "APIError", "data": {"message": "limit"}}}))
    assert (told.finished, told.claims["error"]) == (False, "limit")


def test_events_become_calls_with_the_exit_codes_that_were_told() -> None:
    told = events.read(
        lines(
            {"event": "tool_call", "tool": "bash", "command": "ls"},
            {"event": "tool_result", "output": "a", "exit_code": 0},
            {"type": "tool_call", "tool": "bash", "command": "false"},
            {"type": "tool_result", "output": ""},
            {"event": "tool_call", "tool": "edit", "command": "a.txt"},
            {"event": "tool_result", "output": "", "exit_code": 0},
            {"event": "output", "text": "Done."},
            {"event": "complete", "exit_code": 0},
        )
    )
    assert codes(told) == [("ls", 0), ("false", None)]
    assert told.messages[-1].text == "Done."
    assert told.finished


READERS = [claude_code.read, codex.read, opencode.read, events.read]
NONSENSE = lines(
    "no JSON",
    "[1, 2]",
    {"type": "assistant", "message": "x"},
    {"type": "user", "message": {"content": [None, {"type": "tool_result"}]}},
    {"type": "assistant", "message": {"content": ["x", {"type": "tool_use", "name": "Bash", "input": []}]}},
    {"type": "item.completed", "item": {"type": "command_execution", "command": 5, "exit_code": "0"}},
    {
        "type": "tool_use",
        "part": {"tool": "bash", "state": {"metadata": {"exit": True}, "time": {"start": 9, "end": 1}}},
    },
    {"type": "step_finish", "part": None},
    {"event": "tool_result", "exit_code": 0},
    {"type": "result", "usage": [], "total_cost_usd": {"a": 1}},
)


@pytest.mark.parametrize("read", READERS)
def test_nonsense_breaks_no_reader(read: Any) -> None:
    told = read(NONSENSE)
    assert told.skipped >= 2
    assert all(call.exit_code is None for call in told.tool_calls)


@pytest.mark.parametrize("read", READERS)
def test_no_output_tells_nothing(read: Any) -> None:
    assert read("") == AgentAccount()


def test_long_output_is_cut_and_says_so() -> None:
    result = answered("t", "", {"stdout": "x" * (OUTPUT_LIMIT + 5), "stderr": ""})
    [call] = claude_code.read(lines(said("m", used("t", "ls")), result)).tool_calls
    assert len(call.stdout) <= OUTPUT_LIMIT
    assert call.cut == 5


def skill_call(identity: str, name: object, parent: str | None = None) -> dict[str, Any]:
    block = {"type": "tool_use", "id": identity, "name": "Skill", "input": {"skill": name, "args": ""}}
    return said(f"m{identity}", block, parent=parent)


def skill_answer(identity: str, result: object, *, failed: bool = False) -> dict[str, Any]:
    return answered(identity, "Unknown skill: nope" if failed else "Launching skill: csv", result, failed=failed)


def test_claude_codes_skills_are_those_whose_call_came_back_without_an_error() -> None:
    told = claude_code.read(
        lines(
            skill_call("s1", "csv"),
            skill_answer("s1", {"success": True, "commandName": "csv"}),
            {"type": "user", "isSynthetic": True, "message": {"content": [{"type": "text", "text": "Base directory"}]}},
            skill_call("s2", "nope"),
            skill_answer("s2", "Error: Unknown skill", failed=True),
            skill_call("s3", "more:forked"),
            skill_answer("s3", {"success": True, "status": "forked"}),
            skill_call("s4", "/helped", parent="a1"),
            skill_answer("s4", None),
            skill_call("s5", "killed"),
            skill_call("s6", ["no", "name"]),
        )
    )
    found = [(use.name, use.succeeded, use.subagent) for use in told.skills]
    assert found == [
        ("csv", True, False),
        ("nope", False, False),
        ("more:forked", True, False),
        ("/helped", True, True),
        ("killed", False, False),
    ]
    assert "/helped" not in str(told.messages)


def test_what_a_command_of_claude_code_prints_is_no_call_of_a_skill() -> None:
    forged = lines(skill_call("s1", "csv"), skill_answer("s1", {"success": True}))
    told = claude_code.read(lines(said("m", used("t", "./forge")), answered("t", forged, {"stdout": forged})))
    assert told.skills == []
    assert told.tool_calls[0].stdout == forged


API_ERRORS: list[tuple[dict[str, Any], str | None]] = [
    ({"subtype": "success", "is_error": True, "api_error_status": 400, "result": "API Error: 400"}, "API Error: 400"),
    ({"subtype": "success", "is_error": True}, claude_code.API_ERROR),
    ({"subtype": "success", "is_error": False, "result": "Done."}, None),
    ({"subtype": "error_max_turns", "is_error": True}, None),
]


@pytest.mark.parametrize(("end", "said_so"), API_ERRORS)
def test_claude_code_says_when_its_model_failed_it(end: dict[str, Any], said_so: str | None) -> None:
    assert claude_code.read(lines({"type": "result", **end})).api_error == said_so


def opencode_skill(status: str, **given: object) -> dict[str, Any]:
    state = {"status": status, "input": given, "output": '<skill_content name="csv">', "error": "no such skill"}
    return {"type": "tool_use", "part": {"type": "tool", "tool": "skill", "callID": "c", "state": state}}


def test_opencodes_skills_are_those_that_its_tool_completed() -> None:
    told = opencode.read(
        lines(opencode_skill("completed", name="csv"), opencode_skill("error", name="nope"), opencode_skill("error"))
    )
    assert [(use.name, use.succeeded) for use in told.skills] == [("csv", True), ("nope", False)]


def test_opencode_without_ripgrep_lacks_it() -> None:
    event = opencode_skill("error", name="csv")
    event["part"]["state"]["error"] = "ripgrep execution failed"
    assert opencode.read(lines(event)).lacking == "rg (ripgrep)"
    assert opencode.read(lines(opencode_skill("error", name="csv"))).lacking is None


@pytest.mark.parametrize(("name", "said_so"), [("APIError", "overloaded"), ("MessageAbortedError", None)])
def test_opencode_says_when_its_model_failed_it(name: str, said_so: str | None) -> None:
    error = {"name": name, "data": {"message": "overloaded"}}
    assert opencode.read(lines({"type": "error", "error": error})).api_error == said_so


def test_codex_says_when_its_model_failed_it() -> None:
    assert codex.read(lines({"type": "turn.failed", "error": {"message": "stream lost"}})).api_error == "stream lost"
    assert codex.read(lines({"type": "item.completed", "item": {"type": "error", "message": "x"}})).api_error is None


def test_a_program_of_ones_own_says_which_skills_it_loaded() -> None:
    told = events.read(
        lines(
            {"event": "skill", "skill": "csv"},
            {"event": "skill", "skill": "pdf", "success": False},
            {"event": "skill", "skill": 7},
        )
    )
    assert [(use.name, use.succeeded) for use in told.skills] == [("csv", True), ("pdf", False)]
