"""The real agents, installed from npm, at a local model server through the proxy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.records.trace import ToolCall
from evalward.targets.agents.base import AgentRun
from evalward.targets.base import BrokeOffError
from evalward.targets.failures import Cause, TargetError
from support.agent_cases import CASE, agent, job
from support.agent_programs import bin_folder
from support.model_server import KEY, Answer, Call, Fault, ModelServer, Script, Tokens
from support.needs import missing
from support.npm import UnavailableError

TOKENS = (Tokens(input=101, cache_read=7, output=20), Tokens(input=102, output=21), Tokens(input=130, output=5))
COMMANDS = ("echo hello > a.txt; cat a.txt", "echo oops >&2; exit 3")
SHELLS = {"claude": ("Bash", "command"), "codex": ("exec_command", "cmd"), "opencode": ("bash", "command")}


def script(program: str) -> Script:
    tool, key = SHELLS[program]
    more: dict[str, object] = {} if key == "cmd" else {"description": "x"}
    calls = [Call({key: command, **more}, tool) for command in COMMANDS]
    answers = [
        Answer(text="Working.", calls=(call,), tokens=tokens) for call, tokens in zip(calls, TOKENS, strict=False)
    ]
    return Script(default=(*answers, Answer(text="All done.", tokens=TOKENS[2])))


def path_of(package: str) -> str:
    try:
        return f"{bin_folder(package)}:{os.environ['PATH']}"
    except UnavailableError as error:
        missing("agents", error)


def server_for(program: str, *faults: Fault) -> ModelServer:
    tolerated = ("client_metadata",) if program == "codex" else ()
    return ModelServer(script(program), faults=faults, tolerated=tolerated)


CLAUDE = ("claude-code/claude-sonnet-5", "claude", "@anthropic-ai/claude-code")
ALL = [
    CLAUDE,
    pytest.param("codex/gpt-5", "codex", "@openai/codex", marks=pytest.mark.agents),
    pytest.param("opencode/anthropic/claude-sonnet-5", "opencode", "opencode-ai", marks=pytest.mark.agents),
    pytest.param("opencode/openai/gpt-4.1", "opencode", "opencode-ai", marks=pytest.mark.agents),
    pytest.param("opencode/openai-responses/gpt-5", "opencode", "opencode-ai", marks=pytest.mark.agents),
]


def shown(calls: list[ToolCall]) -> list[tuple[str, str, int | None]]:
    return [(call.commands, (call.stdout + call.stderr).strip(), call.exit_code) for call in calls]


def says_key(run: AgentRun) -> bool:
    return KEY in run.transcript + run.trace.model_dump_json()


@pytest.mark.parametrize(("name", "program", "package"), ALL)
async def test_an_agent_works_in_its_folder_and_every_token_is_counted(
    name: str, program: str, package: str, tmp_path: Path
) -> None:
    path = path_of(package)
    with server_for(program) as server:
        made = agent(name, server, path)
        try:
            run = await made.work(CASE, 1, job(tmp_path, 'Make a.txt, "please"', system="Be brief."))
        finally:
            await made.close()
        asked = [logged.body for logged in server.requests]
    assert run.completed, run.transcript[-2000:]
    assert (tmp_path / "work" / "a.txt").read_text() == "hello\n"
    assert shown(run.trace.tool_calls) == [(COMMANDS[0], "hello", 0), (COMMANDS[1], "oops", 3)]
    assert run.trace.messages[-1].text == "All done."
    assert run.trace.natural_stop
    assert [turn.usage.input_tokens for turn in run.trace.turns] == [101, 102, 130]
    usage = run.trace.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (333, 7, 46)
    assert usage.cost_usd == pytest.approx((333 * 1.0 + 7 * 0.1 + 46 * 2.0) / 1_000_000)
    assert made.subject["agent_version"] != "unknown"
    assert not says_key(run)
    assert 'Make a.txt, \\"please\\"' in str(asked[0]).replace('"', '\\"')
    assert "Be brief." in str(asked[0])


@pytest.mark.parametrize(("name", "program", "package"), ALL)
async def test_the_turn_limit_ends_an_agent_at_once(name: str, program: str, package: str, tmp_path: Path) -> None:
    path = path_of(package)
    with server_for(program) as server:
        made = agent(name, server, path)
        try:
            run = await made.work(CASE, 1, job(tmp_path, max_turns=1, timeout_s=20))
        finally:
            await made.close()
    assert (run.limit, run.completed, run.timed_out) == ("turns", False, False)
    assert len(run.trace.turns) == 1
    assert not run.trace.natural_stop
    assert shown(run.trace.tool_calls) == [(COMMANDS[0], "hello", 0)]


async def test_a_provider_that_refuses_the_key_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    path = path_of(CLAUDE[2])
    with server_for("claude", Fault("key_echoed")) as server:
        made = agent(CLAUDE[0], server, path)
        try:
            with pytest.raises(BrokeOffError) as caught:
                await made.work(CASE, 1, job(tmp_path))
        finally:
            await made.close()
    assert isinstance(caught.value.error, TargetError)
    assert caught.value.error.cause == Cause.KEY
    assert KEY not in str(caught.value)


async def test_an_agent_that_tries_again_after_an_overload_goes_on(tmp_path: Path) -> None:
    path = path_of(CLAUDE[2])
    with server_for("claude", Fault("unavailable", nth=(2,))) as server:
        made = agent(CLAUDE[0], server, path)
        try:
            run = await made.work(CASE, 1, job(tmp_path))
        finally:
            await made.close()
    assert run.completed
    assert len(run.trace.turns) == 3
