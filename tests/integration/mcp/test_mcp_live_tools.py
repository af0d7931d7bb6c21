"""Suites in mode select whose server is a program: it is asked for its tools once, before the trials."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.mcp.context import McpPrepared
from evalward.suites.mcp.prepare import prepare
from evalward.suites.mcp.spec import McpSuite
from support.live_runs import CHAT, Repo
from support.mcp import checkout
from support.mcp_http import http_server
from support.mcp_suites import prepared_suite, write_json, write_suite
from support.model_server import Answer, Call, Conversation, ModelServer, Script

ECHO = {"id": "say", "prompt": "Say tulip.", "expect": {"calls": [{"tool": "echo", "args": {"text": "tulip"}}]}}
ADD = {"id": "sum", "prompt": "What is 2 + 3?", "expect": {"calls": [{"tool": "add", "args": {"a": 2, "b": 3}}]}}


def command(*odd: str) -> dict[str, Any]:
    return {"command": [sys.executable, "-I", "-S", "./server.py", *odd]}


@pytest.fixture
def root() -> Iterator[Path]:
    with checkout() as folder:
        yield folder


def repo_of(
    root: Path, models: ModelServer, server: Mapping[str, Any], targets: Sequence[str] = (CHAT, "oracle")
) -> Repo:
    repo = Repo(root, models)
    repo.write(targets, (), suite={"name": "t", "kind": "mcp", "server": server, "cases": "c.jsonl"})
    write_json(root, "c.jsonl", json.dumps(ECHO) + "\n" + json.dumps(ADD))
    return repo


def suite(root: Path, *odd: str, **server: Any) -> McpPrepared:
    loaded = write_suite(root, [ECHO, ADD], server={**command(*odd), **server})
    spec = loaded.config.suites[0]
    assert isinstance(spec, McpSuite)
    return prepare(spec, loaded)


def test_the_tools_are_those_that_the_server_lists(root: Path) -> None:
    found = suite(root)
    assert [named.sent for named in found.settings.tools.names.tools] == ["echo", "add", "write_note"]
    assert found.settings.tools.own.server == "small"
    assert "Instructions of the server small:" in found.settings.system
    assert set(found.subject) == {"system", "tools", "instructions", "tool:echo", "tool:add", "tool:write_note"}
    assert suite(root, name="notes").settings.tools.own.server == "notes"


def test_a_server_that_lists_nothing_is_said_with_its_place(root: Path) -> None:
    problem = suite(root, "die=start").settings.unlisted
    assert problem is not None
    assert str(problem.place) == "evalward.yml:7"
    assert str(problem).startswith("evalward.yml:7: suites[0].server: the server didn't list its tools: it ended with")
    assert problem.remedy == "Start it by hand to see what is wrong; `evalward mcp snapshot` tries it alone."


def test_a_run_with_a_server_that_lists_nothing_can_not_be_judged(root: Path) -> None:
    with ModelServer(Script()) as server:
        repo = repo_of(root, server, command("die=start"), ["oracle"])
        validated = repo.run("validate")
        done = repo.run("run")
    assert (validated.code, done.code) == (2, 3)
    assert "the server didn't list its tools: it ended with exit code 7" in validated.err
    (run,) = repo.report()["runs"]
    assert [(case["status"], case["reason"]) for case in run["cases"]] == [("error", "server_not_listed")] * 2


def test_nothing_is_started_where_something_else_is_wrong(root: Path) -> None:
    loaded = write_suite(root, '{"id": 1}', server=command("die=start"))
    spec = loaded.config.suites[0]
    assert isinstance(spec, McpSuite)
    with pytest.raises(InputError) as error:
        prepare(spec, loaded)
    assert {problem.place.file for problem in error.value.problems} == {"cases.jsonl"}


def test_a_run_asks_for_the_tools__and_its_trials_are_judged_by_them(root: Path) -> None:
    script = Script(
        (
            Conversation("tulip", (Answer(calls=(Call({"text": "tulip"}, "echo"),)),)),
            Conversation("2 + 3", (Answer(calls=(Call({"a": 2, "b": 3}, "add"),)),)),
        )
    )
    with ModelServer(script) as server:
        repo = repo_of(root, server, command())
        done = repo.run("run")
    assert done.code == 0, done.err
    runs = repo.report()["runs"]
    assert [case["status"] for run in runs for case in run["cases"]] == ["passed"] * 4
    assert {run["subject"]["tool:echo"] for run in runs} == {runs[0]["subject"]["tool:echo"]}
    assert {run["metrics"]["tool_call_success_rate"]["value"] for run in runs} == {None}


def test_a_server_at_an_address_is_asked_once_a_run(root: Path) -> None:
    with http_server() as there, ModelServer(Script()) as server:
        repo = repo_of(root, server, {"url": there.url}, ["oracle", "nop"])
        assert repo.run("validate").code == 0
        once = len(there.headers)
        assert once > 0
        done = repo.run("run", "--trials", "3")
    assert done.code == 0, done.err
    assert len(there.headers) == 2 * once


def test_a_snapshot_needs_no_sdk(tmp_path: Path) -> None:
    prepared_suite(tmp_path)
    code = """
import asyncio, sys
from pathlib import Path
from evalward.config.load import load_config
from evalward.suites.mcp.kind import MCP
from evalward.targets.scripted import Oracle
loaded = load_config(Path("evalward.yml"))
suite = MCP.prepare(loaded.config.suites[0], loaded)
done = asyncio.run(MCP.run_trial(suite, suite.cases[0], Oracle(), 1))
MCP.measure([done.result])
print(done.result.status, [name for name in sys.modules if name.split(".")[0] in ("mcp", "mcp_types")])
print([name for name in sys.modules if name.startswith("evalward.suites.mcp.server")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "passed []\n[]\n"
