"""A target that a third party adds by an entry point."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalward.config.load import load_config
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.records.problem import InputError
from evalward.runner.measure import prepare
from evalward.suites.command.spec import CommandSuite
from evalward.targets import make_evaluated
from evalward.targets.scripted import Oracle
from support.cases import Silent
from support.plugins import PLUGINS, environment, installed_here

from .conftest import Folder

ECHO = PLUGINS / "evalward-echo"
Make = Callable[[], Folder]


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    with installed_here(ECHO, tmp_path / "site"):
        yield


def problems(here: Folder, target: str, kind: str = "command", **more: object) -> str:
    here.write([target], suite={"kind": kind}, **more)
    with pytest.raises(InputError) as caught:
        load_config(here.path / "evalward.yml")
    return "\n".join(map(str, caught.value.problems))


@pytest.mark.usefixtures("installed")
def test_it_is_measured_as_ours_are(folder: Make) -> None:
    here = folder()
    here.write(["echo:ls -la", "echo"])
    plan = prepare(load_config(here.path / "evalward.yml"), Selection(), {})
    right, parrot = asyncio.run(execute(plan, ExecutionSettings(None, Silent()))).runs
    assert (right.target, parrot.target) == ("echo:ls -la", "echo")
    assert {result.id for result in right.cases if result.status == "passed"} == {"list"}
    assert not [result.id for result in parrot.cases if result.status == "passed"]
    assert {result.reason for result in parrot.cases} <= {"incorrect_command", "backend_error"}


@pytest.mark.usefixtures("installed")
def test_it_takes_the_name_of_none_of_ours(folder: Make) -> None:
    here = folder()
    here.write(["oracle"])
    loaded = load_config(here.path / "evalward.yml")
    assert isinstance(make_evaluated(CommandSuite.takes, "oracle", loaded, {}), Oracle)
    assert 'unknown target "model:x"' in problems(here, "model:x")
    with pytest.raises(InputError, match="there is no target 'model:x'"):
        make_evaluated(CommandSuite.takes, "model:x", loaded, {})


@pytest.mark.usefixtures("installed")
def test_messages_name_it(folder: Make) -> None:
    here = folder()
    assert "Did you mean echo?" in problems(here, "ehco")
    assert 'unknown target "echo/x"' in problems(here, "echo/x")
    here.write(["oracle"])
    with pytest.raises(InputError, match=r"there is no target 'other:x'.*Known: oracle, .*, echo\."):
        make_evaluated(CommandSuite.takes, "other:x", load_config(here.path / "evalward.yml"), {})


@pytest.mark.usefixtures("installed")
def test_kinds_that_talk_with_none_refuse_it(folder: Make) -> None:
    assert 'unknown target "echo:x"' in problems(folder(), "echo:x", "scenario")


def test_where_it_is_not_installed_it_is_unknown(folder: Make) -> None:
    assert 'unknown target "echo:x". Known: oracle, ' in problems(folder(), "echo:x")


@pytest.mark.cold
def test_it_works_from_the_command_line(folder: Make, tmp_path: Path) -> None:
    here = folder()
    here.write(["echo:ls -la"])
    evalward = environment(tmp_path / "venv", ECHO)
    command = [*evalward, "run", "--output", "out"]
    done = subprocess.run(command, cwd=here.path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((here.path / "out" / "report.json").read_text("utf-8"))["runs"]
    assert run["target"] == "echo:ls -la"
    assert [case["id"] for case in run["cases"] if case["status"] == "passed"] == ["list"]
