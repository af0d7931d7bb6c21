"""Agents that are about to fail and break their trial instead: it is their failure, and no error of somebody else's."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.engine.plan import make_plan
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.records.result import Result, Status, Trial
from evalward.sandbox.process.probe import Layers, candidates, works
from evalward.sandbox.process.workspace import Workspace
from evalward.suites.base import TrialBrokenError
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.kind import SCENARIO
from support.cases import Silent, task, write_suite
from support.model_server import Fault, ModelServer, Script
from support.sandboxes import NAMES, name_of, use
from support.scenario_runs import Bench, scenario


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture(params=[name for name in NAMES.values() if name != "own user"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each combination of walls that this machine can build."""
    wanted = [layers for layers in [*candidates(), Layers()] if name_of(layers) == request.param]
    found = next((layers for layers in wanted if works(layers)), None)
    if found is None:
        pytest.skip(f"this machine can't build: {request.param}")
    use(monkeypatch, found)
    return str(request.param)


async def outcome_of(bench: Bench, target: str, **more: Any) -> Result:
    """One trial, in which nothing is done that the gates want."""
    prepared, (made,) = bench.prepared(bench.write((target,), scenario(**more)))
    made.prepare()
    try:
        return (await SCENARIO.run_trial(prepared, prepared.cases[0], made, 1)).result
    finally:
        await made.close()


def assert_its_failure(result: Result) -> None:
    """It failed, weighs what any failure weighs, and can be written and read again."""
    assert result.status is Status.FAILED
    assert (result.score, result.max_score) == (0.0, 2.0)
    assert result.message
    assert isinstance(result.details, ScenarioDetails)
    assert (result.details.gates_passed, result.details.gates_total) == (0, 2)
    assert Result.model_validate_json(result.model_dump_json()).status is Status.FAILED


# --- what it does to its process and its folders --------------------------------------------------------------------

STOPPED = """python3 -c '
import ctypes, os, signal
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
os.kill(os.getpid(), signal.SIGUSR1)
'"""
NESTED = """python3 -c '
import os
for _ in range(60):
    os.mkdir("x" * 250)
    os.chdir("x" * 250)
open("deep", "w").close()
'"""
TRICKS = {
    "it stops itself": STOPPED,
    "folders whose path is too long": NESTED,
    "a closed folder": "chmod 000 .",
    "a closed folder for temporary files": 'chmod 000 "$TMPDIR"',
    "the results moved away": 'mv "$TMPDIR"/results-* "$TMPDIR/../"; rm -rf "$TMPDIR"/results-*; chmod 500 "$TMPDIR"',
    "the results are a link": 'for d in "$TMPDIR"/results-*; do rmdir "$d"; ln -s /etc "$d"; done; chmod 500 "$TMPDIR"',
    "the folder moved away": 'mv "$PWD" "$PWD.away"; ln -s /etc "$PWD"',
    "pipes and devices": "mkfifo notes.txt; mkdir d; mkfifo d/p; ln -s loop loop",
    "a huge file": "truncate -s 65M tasks.txt",
    "its home closed": 'chmod 000 "$HOME"',
}


@pytest.mark.parametrize("trick", TRICKS)
async def test_breaking_its_own_place_is_a_failure(bench: Bench, walls: str, trick: str) -> None:
    assert_its_failure(await outcome_of(bench, bench.script("s", TRICKS[trick])))


async def test_the_cause_is_in_the_message(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Workspace) -> None:
        raise PermissionError(13, "Permission denied", "odd \ud800 name")

    monkeypatch.setattr(Workspace, "end_processes", broken)
    result = await outcome_of(bench, bench.script("s", "./todo add milk"))
    assert_its_failure(result)
    assert result.reason == "unreadable_result"
    assert "PermissionError" in str(result.message)
    assert "Permission denied" in str(result.message)


async def test_breaking_the_place_of_a_real_shell_is_a_failure(tmp_path: Path, walls: str) -> None:
    closed = task(solution=["chmod 000 .", "echo hello"], expectations=[{"check": "stdout_contains:never"}])
    plan = make_plan(write_suite(tmp_path, [closed], sandbox="process"), Selection())
    (run,) = (await execute(plan, ExecutionSettings(None, Silent()))).runs
    (result,) = run.cases
    assert (result.status, result.score, result.max_score) == (Status.FAILED, 0.0, 1.0), result.message


# --- what it prints -------------------------------------------------------------------------------------------------

HUGE = 10**400
NESTED_LISTS = json.loads("[" * 300 + "]" * 300)


def said(**block: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", **block}]}}


LINES: Mapping[str, tuple[str, Any]] = {
    "claude: no number": ("claude-code", {"type": "result", "subtype": "success", "total_cost_usd": float("nan")}),
    "claude: a huge number": ("claude-code", {"type": "result", "subtype": "success", "num_turns": HUGE}),
    "claude: a lone surrogate": ("claude-code", said(name="\ud800", input={"\udfff": "\ud800"})),
    "claude: nested": ("claude-code", said(input=NESTED_LISTS)),
    "codex: a huge number": ("codex", {"type": "turn.completed", "usage": {"input_tokens": HUGE}}),
    "codex: a type that is a list": ("codex", {"type": ["a"]}),
    "codex: a huge code": (
        "codex", {"type": "item.completed", "item": {"type": "command_execution", "command": "x", "exit_code": HUGE}},
    ),
    "opencode: no number": ("opencode", {"type": "step_finish", "part": {"cost": float("inf")}}),
    "opencode: a huge number": ("opencode", {"type": "step_finish", "part": {"tokens": {"input": HUGE}}}),
    "opencode: a sum that overflows": (
        "opencode", [{"type": "step_finish", "part": {"cost": cost}} for cost in (HUGE, 1.5, 1.7e308, 1.7e308)],
    ),
    "opencode: huge times": (
        "opencode",
        {"type": "tool_use", "part": {"tool": "bash", "state": {"time": {"start": 0, "end": HUGE}, "status": "x"}}},
    ),
    "events: a type that is an object": ("events", {"event": {"a": 1}}),
    "events: nested": ("events", {"event": "tool_call", "tool": NESTED_LISTS, "command": NESTED_LISTS}),
    "events: a huge code": (
        "events", [{"event": "tool_call", "command": "todo x"}, {"event": "tool_result", "exit_code": HUGE}],
    ),
    "events: a lone surrogate": ("events", {"event": "output", "text": "\ud800"}),
}  # fmt: skip


def in_fixture(bench: Bench, name: str, text: str) -> None:
    fixture = bench.root / "evals" / "fixture"
    fixture.mkdir(parents=True, exist_ok=True)
    (fixture / name).write_text(text, "utf-8")


def printing(bench: Bench, form: str, events: Any) -> str:
    """An agent that prints these lines, in the form of a known one."""
    lines = events if isinstance(events, list) else [events]
    in_fixture(bench, "lines.txt", "".join(json.dumps(line) + "\n" for line in lines))
    bench.more["agents"] = {"own": {"command": ["cat", "lines.txt"], "output": form}}
    return "agent:own"


async def ran(bench: Bench, *targets: str) -> Executed:
    """A whole run, kept in `out`."""
    plan = make_plan(bench.write(targets), Selection(), dict(os.environ))
    return await execute(plan, ExecutionSettings(Store(bench.root / "out"), Silent()))


@pytest.mark.parametrize("line", LINES)
async def test_a_printed_line_breaks_neither_trial_nor_run(bench: Bench, line: str) -> None:
    done = await ran(bench, printing(bench, *LINES[line]), "oracle")
    results = {run.target: run.cases[0] for run in done.runs}
    assert_its_failure(results["agent:own"])
    assert results["oracle"].status is Status.PASSED
    text = (bench.root / "out" / str(results["agent:own"].trace)).read_text("utf-8")
    assert Trial.model_validate_json(text).result.status is Status.FAILED


async def test_a_trial_that_no_file_can_hold_ends_no_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store.keep

    def keep(self: Store, trial: Trial) -> str:
        if trial.target == "nop" and trial.trace.messages:
            raise ValueError("Maximum serialization depth exceeded")
        return kept(self, trial)

    monkeypatch.setattr(Store, "keep", keep)
    done = await ran(bench, "nop", "oracle")
    results = {run.target: run.cases[0] for run in done.runs}
    assert (results["nop"].status, results["nop"].reason) == (Status.FAILED, "unreadable_result")
    assert "serialization depth" in str(results["nop"].message)
    assert (bench.root / "out" / str(results["nop"].trace)).is_file()
    assert results["oracle"].status is Status.PASSED


# --- what it asks ---------------------------------------------------------------------------------------------------

ASKS = """
import json, os, urllib.request
for body in BODIES:
    url = os.environ["EVALWARD_BASE_URL"] + "/v1/messages"
    headers = {"content-type": "application/json", "x-api-key": os.environ["EVALWARD_TOKEN"]}
    headers["anthropic-version"] = "2023-06-01"
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
    except OSError:
        pass
"""


def asking(bench: Bench, server: ModelServer, *bodies: Any) -> str:
    bench.serve(server)
    model = "claude-sonnet-5"
    program = ASKS.replace("BODIES", repr([{"model": model, **body} for body in bodies]))
    in_fixture(bench, "ask.py", program)
    bench.more["agents"] = {"own": {"command": ["sh", "-c", "python3 ask.py"], "model": f"anthropic/{model}"}}
    return "agent:own"


async def test_a_request_that_nobody_takes_is_its_own(bench: Bench) -> None:
    with ModelServer(Script()) as server:
        result = await outcome_of(bench, asking(bench, server, {"nonsense": 1}))
    assert_its_failure(result)
    assert "its last request was refused" in str(result.message)


# --- what stays an error --------------------------------------------------------------------------------------------


@pytest.mark.cold
async def test_a_launcher_that_was_killed_stays_an_error_that_may_hide_a_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Workspace.end_processes

    async def killed(self: Workspace) -> None:
        launcher = self._built.client._launcher.process
        assert isinstance(launcher, subprocess.Popen)
        launcher.send_signal(signal.SIGKILL)
        launcher.wait()
        assert self._built.client._control.recv(1, socket.MSG_PEEK) == b""  # until its part inside has gone too
        await ended(self)

    monkeypatch.setattr(Workspace, "end_processes", killed)
    with pytest.raises(TrialBrokenError) as caught:
        await outcome_of(bench, bench.script("s", "true"))
    assert (caught.value.reason, caught.value.begun) == ("sandbox", True)


async def test_a_full_disk_stays_an_error_that_may_hide_a_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: Workspace) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Workspace, "end_processes", full)
    with pytest.raises(TrialBrokenError) as caught:
        await outcome_of(bench, bench.script("s", "true"))
    assert (caught.value.reason, caught.value.begun) == ("sandbox", True)


async def test_an_agent_that_says_that_it_was_never_started_is_not_believed(bench: Bench) -> None:
    program = bench.root / "agent.sh"
    program.write_text('#!/bin/sh\necho "$0: no such file or directory" >&2; exit 127\n', "utf-8")
    program.chmod(0o755)
    bench.more["agents"] = {"own": {"command": ["./agent.sh"]}}
    with pytest.raises(TrialBrokenError, match="could not be started") as caught:
        await outcome_of(bench, "agent:own")
    assert caught.value.begun


async def test_a_provider_without_an_answer_stays_an_error(bench: Bench) -> None:
    good = {"max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
    with ModelServer(Script(), faults=[Fault("unavailable")]) as server:
        target = asking(bench, server, good)
        with pytest.raises(TrialBrokenError) as caught:
            await outcome_of(bench, target)
    assert caught.value.begun
