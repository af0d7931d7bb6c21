"""Scripts that stand in for an agent, and programs of one's own, in a real folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from evalward.config.agents import AgentProgram
from evalward.records.case import Case
from evalward.records.problem import InputError
from evalward.records.trace import Message, ToolUse
from evalward.targets.agents.base import AgentRun
from evalward.targets.agents.scripted import NopAgent, OracleAgent, load_scripts
from evalward.targets.base import TrialSkippedError
from support.agent_cases import CASE, agent, job
from support.model_server import KEY, Answer, ModelServer, Script, Tokens
from support.patience import patiently


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


async def played(tmp_path: Path, steps: list[Any], **more: Any) -> AgentRun:
    made = load_scripts("s", written(tmp_path / "scripts", "s.json", json.dumps({"greet": steps})), "s.json")
    return await made.work(CASE, 1, job(tmp_path, **more))


async def test_a_script_works_in_the_folder_with_exact_exit_codes(tmp_path: Path) -> None:
    run = await played(tmp_path, ["echo hello > a.txt", {"run": "cat a.txt; exit 3"}, {"sleep": 0}, {"say": "Ready."}])
    assert (tmp_path / "work" / "a.txt").read_text() == "hello\n"
    assert [(call.commands, call.stdout, call.exit_code) for call in run.trace.tool_calls] == [
        ("echo hello > a.txt", "", 0),
        ("cat a.txt; exit 3", "hello\n", 3),
    ]
    assert run.transcript == "$ echo hello > a.txt\n$ cat a.txt; exit 3\nhello\nReady.\nDone.\n"
    assert run.completed
    assert run.trace.usage.cost_usd == 0.0


async def test_a_script_can_fail_like_an_agent(tmp_path: Path) -> None:
    run = await played(tmp_path, ["true", {"exit": 7}, "echo never"])
    assert (run.exit_code, run.completed, len(run.trace.tool_calls)) == (7, False, 1)


async def test_a_script_can_hang_like_an_agent(tmp_path: Path) -> None:
    run = await played(tmp_path, [{"hang": True}], timeout_s=0.2)
    assert (run.timed_out, run.exit_code, run.completed) == (True, None, False)


async def test_a_command_that_hangs_has_an_unknown_exit_code(tmp_path: Path) -> None:
    async def attempt(factor: int) -> AgentRun:
        folder = tmp_path / f"{factor}"
        folder.mkdir()
        return await played(folder, ["sleep 6000"], timeout_s=0.2 * factor)

    run = await patiently(attempt, lambda run: run.trace.tool_calls != [])  # it has begun
    assert run.timed_out
    assert run.trace.tool_calls[0].exit_code is None


async def test_a_script_can_crash_like_an_agent(tmp_path: Path) -> None:
    run = await played(tmp_path, [{"crash": True}])
    assert (run.exit_code, run.completed, run.timed_out) == (128 + 11, False, False)


async def test_scripts_lie_in_a_folder_too_one_per_case(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    written(folder, "greet.sh", "#!/bin/sh\n# make it\necho one > a.txt\n\ncat a.txt\n")
    written(folder, "other.yaml", "- echo two\n")
    made = load_scripts("s", folder, "scripts")
    run = await made.work(CASE, 1, job(tmp_path))
    assert [call.commands for call in run.trace.tool_calls] == ["echo one > a.txt", "cat a.txt"]
    with pytest.raises(TrialSkippedError, match="no script"):
        await made.work(CASE.model_copy(update={"id": "third"}), 1, job(tmp_path / "third"))


async def test_a_list_alone_is_for_every_case(tmp_path: Path) -> None:
    made = load_scripts("s", written(tmp_path, "s.yaml", "- echo hello\n"), "s.yaml")
    assert (await made.work(CASE, 1, job(tmp_path))).trace.tool_calls[0].stdout == "hello\n"


def test_every_mistake_in_a_script_is_told(tmp_path: Path) -> None:
    steps: Mapping[str, Any] = {"a": [{"run": "x", "say": "y"}, {"jump": 1}, {}, 5], "b": "ls", "c": [{"sleep": -1}]}
    path = written(tmp_path, "s.json", json.dumps(steps))
    with pytest.raises(InputError) as caught:
        load_scripts("s", path, "evals/s.json")
    fields = [problem.field for problem in caught.value.problems]
    assert [(field or "").split(".")[0] for field in fields] == ["a[1]", "a[2]", "a[3]", "a[4]", "", "c[1]"]
    assert all(problem.place.file == "evals/s.json" and problem.remedy for problem in caught.value.problems)


@pytest.mark.parametrize("text", ["a: [", "{}", ""])
def test_a_file_without_steps_is_a_mistake(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        load_scripts("s", written(tmp_path, "s.yaml", text), "s.yaml")


class Solved(Case):
    def reference(self) -> list[Message]:
        use = ToolUse(id="1", name="bash", input={"command": "echo solved > a.txt"})
        return [Message(role="assistant", content=[use])]


async def test_the_oracle_runs_the_solution(tmp_path: Path) -> None:
    solved = Solved(**CASE.model_dump())
    run = await OracleAgent().work(solved, 1, job(tmp_path))
    assert run.completed
    assert (tmp_path / "work" / "a.txt").read_text() == "solved\n"
    with pytest.raises(TrialSkippedError, match="no reference solution"):
        await OracleAgent().work(CASE, 1, job(tmp_path / "again"))


async def test_nop_does_nothing(tmp_path: Path) -> None:
    run = await NopAgent().work(CASE, 1, job(tmp_path))
    assert run.completed
    assert run.trace.tool_calls == []


# ------------------------------------------------------------------------------------------- programs of one's own


ASKING = """
import json, os, sys, urllib.request
body = {"model": os.environ["EVALWARD_MODEL"], "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
)
answer = json.load(urllib.request.urlopen(request))
print(json.dumps({"event": "tool_call", "tool": "bash", "command": "ls"}))
print(json.dumps({"event": "tool_result", "output": "", "exit_code": 0}))
print(json.dumps({"event": "output", "text": answer["choices"][0]["message"]["content"]}))
print(sorted(name for name in os.environ if "KEY" in name or "EVALWARD" in name), file=sys.stderr)
"""


async def test_a_program_asks_its_model_with_a_token(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ASKING, "{prompt}"]
    program = AgentProgram(command=command, output="events", model="openai/gpt-4.1")
    script = Script(default=(Answer(text="Hello.", tokens=Tokens(input=11, output=3)),))
    with ModelServer(script) as server:
        made = agent("agent:own", server, programs={"own": program})
        try:
            run = await made.work(CASE, 1, job(tmp_path, "Say hello"))
        finally:
            await made.close()
        asked = server.requests[0]
    assert run.completed, run.transcript
    assert asked.asked is not None
    assert asked.asked.prompt == "Say hello"
    assert run.trace.messages[-1].text == "Hello."
    assert [(call.commands, call.exit_code) for call in run.trace.tool_calls] == [("ls", 0)]
    assert (run.trace.usage.input_tokens, run.trace.usage.output_tokens) == (11, 3)
    assert run.trace.usage.cost_usd == pytest.approx((11 + 6) / 1e6)
    assert "['EVALWARD_BASE_URL', 'EVALWARD_MODEL', 'EVALWARD_TOKEN', 'OPENAI_API_KEY']" in run.transcript
    assert KEY not in run.transcript
    assert made.priced
    assert "TEST_KEY" not in str(made.subject)


async def test_a_program_without_a_model_costs_an_unknown_amount(tmp_path: Path) -> None:
    program = AgentProgram(command=[sys.executable, "-c", "import sys; print(sys.stdin.read().upper())"])
    with ModelServer() as server:
        made = agent("agent:own", server, programs={"own": program})
    run = await made.work(CASE, 1, job(tmp_path, "hi \ud800\0"))
    assert run.trace.messages[-1].text == "HI \ufffd"
    assert run.trace.usage.cost_usd is None
    assert (made.priced, made.missing_key, made.at_once) == (False, None, None)


async def test_a_program_has_its_own_time_limit(tmp_path: Path) -> None:
    program = AgentProgram(command=["sleep", "60"], timeout_s=0.2)
    with ModelServer() as server:
        made = agent("agent:own", server, path="/usr/bin:/bin", programs={"own": program})
    run = await made.work(CASE, 1, structs.replace(job(tmp_path), timeout_s=50))
    assert (run.timed_out, run.completed) == (True, False)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("agent:none", "there is no target"),
        ("codex/", "there is no target"),
        ("cursor/x", "there is no target"),
        ("opencode/gpt-5", "provider and model"),
        ("claude-code/claude-sonnet-5", "npm install --global @anthropic-ai/claude-code"),
        ("agent:own", "can be started"),
    ],
)
def test_an_agent_that_is_not_there_is_told_with_a_remedy(name: str, told: str) -> None:
    with ModelServer() as server, pytest.raises(InputError, match=told):
        agent(name, server, path="/nowhere", programs={"own": AgentProgram(command=["./no-such-program"])})
