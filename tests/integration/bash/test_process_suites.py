"""A bash suite with a real program as its shell."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.engine.plan import make_plan
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.records.problem import InputError
from evalward.records.report import Run
from evalward.suites.base import kind_named
from support.cases import Silent, task, write_suite

ECHO_SHELL = '#!/bin/sh\n# a shell of the repository\nprintf "mine: "; exec sh "$@"\n'
TASKS: list[dict[str, Any]] = [
    task(expectations=[{"check": "stdout_contains:hello"}, {"check": "exit_code:0"}]),
    task(
        id="files",
        files={"in.txt": "3\n4\n"},
        solution=["sort -r in.txt > out.txt", "cat out.txt"],
        expectations=[{"check": "file_contains:out.txt:4\n3"}, {"check": "stdout_regex:(?m)^4$"}],
    ),
]


def run_all(loaded: LoadedConfig) -> list[Run]:
    return list(asyncio.run(execute(make_plan(loaded, Selection()), ExecutionSettings(None, Silent()))).runs)


async def test_a_set_is_proved_in_real_processes(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, TASKS, sandbox="process")
    kind = kind_named("bash")
    proof = await kind.prove(kind.prepare(loaded.config.suites[0], loaded))
    assert [problem.message for problem in proof.problems] == []


def test_a_shell_of_the_repository_is_run_and_is_the_subject(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "mysh"
    program.parent.mkdir()
    program.write_text(ECHO_SHELL)
    program.chmod(0o755)
    mine = [{**TASKS[0], "expectations": [{"check": "stdout_contains:mine: hello"}]}]
    loaded = write_suite(tmp_path, mine, sandbox="process", shell=["./bin/mysh", "-c"])
    (run,) = run_all(loaded)
    assert [result.status for result in run.cases] == ["passed"]
    subject = run.subject.model_dump()
    assert subject["shell"] == "./bin/mysh -c"
    program.write_text(ECHO_SHELL + "# changed\n")
    (again,) = run_all(loaded)
    assert again.subject.model_dump()["shell_program"] != subject["shell_program"]


def test_a_shell_that_is_not_there_is_told(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, TASKS, sandbox="process", shell=["./target/mybash", "-c"])
    with pytest.raises(InputError, match="there is no program"):
        kind_named("bash").prepare(loaded.config.suites[0], loaded)


def test_a_shell_needs_real_processes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only real processes have a shell"):
        write_suite(tmp_path, TASKS, shell=["dash", "-c"])
