"""The real agents load skills: a local model server calls their tool, and a trial says what was loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evalward.records.result import Status
from evalward.suites.base import TrialBrokenError
from support.agent_programs import bin_folder
from support.model_server import Answer, Call, Fault, ModelServer, Script
from support.needs import missing
from support.npm import UnavailableError
from support.skill_runs import CSV_LINE, NEAR, QUERY, READ, SOLUTION, TASK, SkillBench, TriedSkill, tried_skill

CLAUDE = ("claude-code/claude-sonnet-5", "@anthropic-ai/claude-code")
OPENCODE = ("opencode/anthropic/claude-sonnet-5", "opencode-ai")
CODEX = ("codex/gpt-5", "@openai/codex")


def path_of(package: str) -> str:
    try:
        return f"{bin_folder(package)}:{os.environ['PATH']}"
    except UnavailableError as error:
        missing("agents", error)


def skill_of(name: str) -> Call:
    return Call({"skill": name}, "Skill")


def bash_of(command: str) -> Call:
    return Call({"command": command, "description": "x"}, "Bash")


async def answered(
    folder: Path,
    agent: tuple[str, str],
    case: dict[str, Any],
    *calls: Call,
    faults: tuple[Fault, ...] = (),
) -> tuple[TriedSkill, list[Any]]:
    """A trial of an agent whose model makes these calls, one a turn; and what the model was asked."""
    target, package = agent
    bench = SkillBench(folder)
    bench.env["PATH"] = path_of(package)
    answers = [Answer(text="Working.", calls=(call,)) for call in calls]
    tolerated = ("client_metadata",) if agent == CODEX else ()
    script = Script(default=(*answers, Answer(text="Done.")))
    with ModelServer(script, faults=faults, tolerated=tolerated) as server:
        bench.serve(server)
        done = await tried_skill(bench, target, case)
        return done, [logged.body for logged in server.requests]


async def test_claude_code_is_told_of_the_skills_and_loads_one(tmp_path: Path) -> None:
    done, asked = await answered(tmp_path, CLAUDE, QUERY, bash_of("ls"), skill_of("csv"))
    assert "Counts and sums columns of CSV files" in str(asked[0])
    assert "Reads Excel workbooks" in str(asked[0])
    assert CSV_LINE in str(asked[-1])
    assert done.loaded == [("csv", "suite", "called")]
    assert (done.outcome.result.status, done.details.triggered, done.details.won) == (Status.PASSED, True, "csv")


async def test_a_call_that_claude_code_refuses_and_a_file_that_it_prints_are_no_trigger(tmp_path: Path) -> None:
    done, _ = await answered(tmp_path, CLAUDE, QUERY, skill_of("cvs"), bash_of(READ.format("csv")))
    assert done.loaded == [("csv", "suite", "read")]
    assert (done.outcome.result.reason, done.details.triggered) == ("not_triggered", False)


@pytest.mark.agents
async def test_claude_codes_own_skills_are_named_as_its_own(tmp_path: Path) -> None:
    done, _ = await answered(tmp_path, CLAUDE, NEAR, skill_of("simplify"))
    assert done.loaded == [("simplify", "agent", "called")]
    assert (done.outcome.result.status, done.details.won) == (Status.PASSED, "simplify")


async def test_claude_code_works_on_a_task_with_the_skill_and_without(tmp_path: Path) -> None:
    done, asked = await answered(tmp_path, CLAUDE, TASK, skill_of("csv"), bash_of(SOLUTION))
    first, second = done.details.arms
    assert [(each.name, each.how) for each in first.loaded] == [("csv", "called")]
    assert (first.status, first.held, second.status, second.held, second.loaded) == (
        *(Status.PASSED, 1),
        *(Status.FAILED, 0),
        [],
    )
    assert done.outcome.result.usage.input_tokens == (first.usage.input_tokens or 0) + (second.usage.input_tokens or 0)
    listed = ["Counts and sums columns" in str(body) for body in asked]
    assert sum(listed) * 2 == len(listed)


@pytest.mark.agents
@pytest.mark.parametrize(("fault", "reason"), [("context_length", "api_error"), ("forbidden", "key")])
async def test_a_model_that_fails_claude_code_is_an_error_and_not_a_skill_that_was_not_loaded(
    fault: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await answered(tmp_path, CLAUDE, QUERY, faults=(Fault(fault),))
    assert (caught.value.reason, caught.value.begun) == (reason, True)


@pytest.mark.agents
async def test_opencode_is_told_of_the_skills_and_loads_one(tmp_path: Path) -> None:
    refused, loads = Call({"name": "cvs"}, "skill"), Call({"name": "csv"}, "skill")
    done, asked = await answered(tmp_path, OPENCODE, QUERY, refused, loads)
    assert "Counts and sums columns of CSV files" in str(asked[0])
    assert CSV_LINE in str(asked[-1])
    assert done.loaded == [("csv", "suite", "called")]
    assert (done.outcome.result.status, done.details.won) == (Status.PASSED, "csv")


@pytest.mark.agents
async def test_codex_is_told_of_the_skills_and_loads_one_by_reading_it(tmp_path: Path) -> None:
    reads = Call({"cmd": READ.format("csv")}, "exec_command")
    done, asked = await answered(tmp_path, CODEX, QUERY, reads)
    assert "Counts and sums columns of CSV files" in str(asked[0])
    assert done.loaded == [("csv", "suite", "read")]
    assert (done.outcome.result.status, done.details.won) == (Status.PASSED, "csv")
