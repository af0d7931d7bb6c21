"""How large a case of any kind may be: what is beyond is refused where the case is read, before anything is asked."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from evalward.records.problem import Place
from evalward.suites.bash.case import BashTask
from evalward.suites.bounds import LONGEST_TEXT, MOST_ARGUMENTS, MOST_ENTRIES
from evalward.suites.command.case import CommandTask
from evalward.suites.lines import explained
from evalward.suites.mcp.case import McpTask
from evalward.suites.scenario.model import Scenario
from evalward.suites.skill.task import SkillTask
from evalward.suites.speedup.task import SpeedupTask

BASH = {"id": "a", "category": "b", "prompt": "c", "expectations": [{"check": "exit_code:0"}]}
COMMAND = {"id": "a", "category": "b", "prompt": "c", "expected_command": "ls"}
MCP = {"id": "a", "prompt": "c", "expect": {"none": True}}
SKILL = {"id": "a", "prompt": "c"}
SCENARIO = {"name": "a", "template_folder": "f", "tool": "from_config", "task": {"prompt": "c"}}
SPEEDUP = {
    "id": "a",
    "prompt": "c",
    "folder": "f",
    "tests": {"command": "t", "json": "t.json"},
    "benchmarks": {"command": "b", "format": "json", "output": "b.json"},
    "snapshots": {"command": "s", "json": "s.json"},
    "oracle": "o.patch",
}
LONG = "x" * (LONGEST_TEXT + 1)
MANY = range(MOST_ENTRIES + 1)
GATE = {"type": "no_transcript_errors"}
DEEP = "/".join(["a"] * 2_100)
WIDE = f"a/{'é' * 128}/b"


def words(model: type[BaseModel], case: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(case)
    return " ".join(str(explained(Place(file="f", line=1), error, model)) for error in caught.value.errors())


@pytest.mark.parametrize(
    ("model", "case"),
    [
        (BashTask, {**BASH, "prompt": LONG}),
        (BashTask, {**BASH, "system": LONG}),
        (BashTask, {**BASH, "solution": LONG}),
        (BashTask, {**BASH, "expectations": [{"check": f"stdout_contains:{LONG}"}]}),
        (CommandTask, {**COMMAND, "prompt": LONG}),
        (CommandTask, {**COMMAND, "expected_command": LONG}),
        (McpTask, {**MCP, "prompt": LONG}),
        (McpTask, {**MCP, "answer": [{"contains": LONG}]}),
        (SkillTask, {**SKILL, "prompt": LONG}),
        (Scenario, {**SCENARIO, "task": {"prompt": LONG}}),
        (SpeedupTask, {**SPEEDUP, "prompt": LONG}),
    ],
)
def test_a_text_is_bounded(model: type[BaseModel], case: dict[str, Any]) -> None:
    assert "is longer than 1,000,000 characters. Make it shorter." in words(model, case)


@pytest.mark.parametrize(
    ("model", "case"),
    [
        (BashTask, {**BASH, "expectations": [{"check": "exit_code:0"} for _ in MANY]}),
        (BashTask, {**BASH, "files": {f"/{n}": "" for n in MANY}}),
        (BashTask, {**BASH, "tags": ["t" for _ in MANY]}),
        (CommandTask, {**COMMAND, "accepted": ["ls" for _ in MANY]}),
        (CommandTask, {**COMMAND, "files": {f"{n}": "" for n in MANY}}),
        (McpTask, {**MCP, "files": {f"{n}": "" for n in MANY}}),
        (SkillTask, {**SKILL, "files": {f"{n}": "f" for n in MANY}}),
        (SkillTask, {**SKILL, "checks": [GATE for _ in MANY]}),
        (Scenario, {**SCENARIO, "evaluation": {"gates": [GATE for _ in MANY]}}),
        (SpeedupTask, {**SPEEDUP, "setup": ["true" for _ in MANY]}),
    ],
)
def test_a_list_is_bounded(model: type[BaseModel], case: dict[str, Any]) -> None:
    assert "has more than 1,000 entries. Leave some out." in words(model, case)


def test_a_solution_has_no_more_scripts_than_any_other_list() -> None:
    assert "solution: it has more than 1,000 scripts" in words(BashTask, {**BASH, "solution": ["true" for _ in MANY]})


@pytest.mark.parametrize(
    ("model", "case", "root"),
    [(BashTask, BASH, "/"), (CommandTask, COMMAND, ""), (McpTask, MCP, ""), (SkillTask, SKILL, "")],
)
def test_a_path_is_one_that_a_file_system_takes(model: type[BaseModel], case: dict[str, Any], root: str) -> None:
    assert "has more than 4,096 bytes. Make it shorter" in words(model, {**case, "files": {f"{root}{DEEP}": "f"}})
    assert "has more than 255 bytes. Make it shorter" in words(model, {**case, "files": {f"{root}{WIDE}": "f"}})


def test_a_name_of_a_case_is_bounded() -> None:
    assert "id: is longer than 1,000 characters" in words(BashTask, {**BASH, "id": "x" * 1_001})


def test_arguments_of_a_call_are_bounded() -> None:
    call = {"tool": "t", "args": {"list": [0] * MOST_ARGUMENTS}}
    assert "it has more than 10,000 values" in words(McpTask, {**MCP, "expect": {"calls": [call]}})


def test_as_much_as_is_allowed_is_read() -> None:
    case = {
        **BASH,
        "prompt": LONG[1:],
        "expectations": [{"check": "exit_code:0"} for _ in MANY[1:]],
        "files": {f"/{n}": "" for n in MANY[1:]},
        "solution": ["true" for _ in MANY[1:]],
    }
    assert BashTask.model_validate(case).id == "a"
