"""Suites with graders from their files to the results: bash tasks in both sandboxes, scenarios, proofs, the base."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.commit_files import FilesOfCommit
from evalward.commands.validate import validate
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.decide.worst import may_hide_a_failure
from evalward.engine.beside import NotMeasuredError, equally_defined
from evalward.engine.plan import make_plan
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.git import GitTree
from evalward.graders import Graded, grading
from evalward.graders.grading import MOST_LEFT_FILES, MOST_LEFT_MB, SECONDS
from evalward.records.problem import InputError
from evalward.records.result import GRADER_ERROR, Result
from evalward.runner.base_side import BaseCommit
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process import Workspace
from evalward.suites.base import kind_named
from evalward.wire import messages as m
from support.cases import Silent, write_suite
from support.git_repo import commit, init
from support.graders import checked_by, put

RIGHT = """
def right(graded):
    return graded.text("out.txt") == "hello\\n"

def half(graded):
    return 0.5

def breaks(graded):
    return graded.path("gone").read_text() == ""
"""
SCRIPT = '#!/bin/sh\n[ "$(cat out.txt 2>/dev/null)" = hello ] && echo "it says hello"\n'
CHECKS = {"checks/mine.py": RIGHT, "checks/mine.sh": SCRIPT}
EXAMPLE = Path(__file__).parents[3] / "examples" / "graders" / "evalward.yml"


def results(loaded: LoadedConfig) -> list[Result]:
    (run, *_) = asyncio.run(execute(make_plan(loaded, Selection()), ExecutionSettings(None, Silent()))).runs
    return list(run.cases)


def problems(loaded: LoadedConfig) -> list[str]:
    kind = kind_named(loaded.config.suites[0].kind)
    proof = asyncio.run(kind.prove(kind.prepare(loaded.config.suites[0], loaded)))
    return [problem.message for problem in proof.problems]


@pytest.mark.parametrize("sandbox", ["virtual", "process"])
def test_graders_check_what_a_task_left(tmp_path: Path, sandbox: str) -> None:
    tasks = [checked_by("checks.mine:right", "checks/mine.sh", "exit_code:0"), checked_by(id="no", solution="true")]
    tasks[1]["expectations"] = tasks[0]["expectations"]
    passed, failed = results(write_suite(put(tmp_path, CHECKS), tasks, sandbox=sandbox))
    assert (passed.status, passed.score, [check.detail for check in passed.checks][1]) == (
        "passed",
        3.0,
        "it says hello",
    )
    assert (failed.status, failed.reason, failed.score) == ("failed", "checks_failed", 1.0)


def test_files_of_the_virtual_system(tmp_path: Path) -> None:
    code = """
def right(graded):
    return {"passed": False, "detail": repr([graded.text(n) for n in
        ("a b/ü.txt", "/data/in", "link", "/etc/hostname", "/bin/ls")] + [graded.path("empty").is_dir()])}
"""
    made = "mkdir empty 'a b'; echo 1 > 'a b/ü.txt'; ln -s /data/in link"
    task = checked_by("checks.mine:right", files={"/data/in": "2"}, solution=made)
    (result,) = results(write_suite(put(tmp_path, {"checks/mine.py": code}), [task]))
    assert result.checks[0].detail == "['1\\n', '2', '2', 'bashkit-eval\\n', None, True]"


def test_a_score_is_a_share_of_the_weight(tmp_path: Path) -> None:
    task = checked_by(expectations=[{"check": "checks.mine:half", "weight": 3}, {"check": "exit_code:0"}])
    (result,) = results(write_suite(put(tmp_path, CHECKS), [task]))
    assert (result.status, result.score, result.max_score) == ("failed", 2.5, 4.0)
    assert result.checks[0].detail == "score 0.5"


def test_a_grader_that_breaks_is_an_error__that_may_hide_a_failure(tmp_path: Path) -> None:
    (result,) = results(write_suite(put(tmp_path, CHECKS), [checked_by("checks.mine:breaks", "exit_code:0")]))
    assert (result.status, result.reason) == ("error", "grader_error")
    assert "FileNotFoundError" in (result.message or "")
    assert may_hide_a_failure(result)


def test_a_trial_that_fails_anyway_has_failed(tmp_path: Path) -> None:
    (result,) = results(write_suite(put(tmp_path, CHECKS), [checked_by("checks.mine:breaks", "exit_code:7")]))
    assert (result.status, result.reason, result.max_score) == ("failed", "checks_failed", 2.0)


@pytest.mark.parametrize("sandbox", ["virtual", "process"])
def test_walls_that_can_not_be_built_are_nobodys_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    async def refused(*_: Any, **__: Any) -> Workspace:
        raise SandboxError("there is no isolation")

    loaded = write_suite(put(tmp_path, CHECKS), [checked_by("checks.mine:right", "checks/mine.sh")], sandbox=sandbox)
    monkeypatch.setattr(grading, "Workspace", type("Refusing", (), {"create": refused}))
    (result,) = results(loaded)
    assert (result.status, result.reason, result.begun) == ("error", "sandbox", True)
    assert result.message == "a grader can't be run here: there is no isolation"
    assert problems(loaded) == [result.message] * 2


def test_a_changed_grader_redefines_its_cases_alone(tmp_path: Path) -> None:
    tasks = [checked_by("checks/mine.sh"), checked_by("exit_code:0", id="other")]
    loaded = write_suite(put(tmp_path, CHECKS), tasks)
    before = make_plan(loaded, Selection()).runs[0].cases
    put(tmp_path, {"checks/mine.sh": SCRIPT + "# changed\n"})
    after = make_plan(loaded, Selection()).runs[0].cases
    assert [a.definition == b.definition for a, b in zip(after, before, strict=True)] == [False, True]


def test_graders_that_are_not_there_are_problems_of_their_lines(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, [checked_by("checks.gone:right", "./gone.sh")])
    with pytest.raises(InputError) as caught:
        make_plan(loaded, Selection())
    assert [(str(p.place), p.field, p.message.partition(":")[0]) for p in caught.value.problems] == [
        ("cases.jsonl:1", "expectations[0].check", "there is no module checks.gone"),
        (
            "cases.jsonl:1",
            "expectations[1].check",
            "there is no script gone.sh; its path counts from the configuration's folder",
        ),
    ]


def test_a_set_with_graders_is_proved(tmp_path: Path) -> None:
    assert problems(write_suite(put(tmp_path, CHECKS), [checked_by("checks.mine:right", "checks/mine.sh")])) == []


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("checks.mine:gone", ["the grader checks.mine:gone: the module checks.mine has no function gone"]),
        (
            "checks.mine:half",
            ["the solution fails 'checks.mine:half': score 0.5"],
        ),
        ("./yes.sh", ["the task passes by doing nothing", "no wrong answer that was tried fails './yes.sh'"]),
    ],
)
def test_what_a_proof_finds(tmp_path: Path, check: str, told: list[str]) -> None:
    assert problems(write_suite(put(tmp_path, {**CHECKS, "yes.sh": "exit 0\n"}), [checked_by(check)])) == told


def test_a_proof_finds_graders_that_break_where_a_target_fails(tmp_path: Path) -> None:
    """They would be errors of trials that have failed."""
    fragile = "def right(graded):\n    return 'hello' in graded.path('out.txt').read_text()\n"
    root = put(tmp_path, {"checks/mine.py": fragile})
    (message,) = problems(write_suite(root, [checked_by("checks.mine:right")]))
    assert message.startswith("no verdict on doing nothing: the grader checks.mine:right: ")
    assert "FileNotFoundError" in message


def test_the_example_is_proved_and_passes() -> None:
    loaded = load_config(EXAMPLE)
    assert problems(loaded) == []
    assert [result.status for result in results(loaded)] == ["passed"]


# --- scenarios --------------------------------------------------------------------------------------------------------

SCENARIO: dict[str, Any] = {
    "name": "hello",
    "template_folder": "fixture",
    "target": {"binary": "sh"},
    "task": {"prompt": "Write hello to out.txt."},
    "solution": ["echo hello > out.txt"],
}


def write_scenario(root: Path, *gates: dict[str, Any], targets: tuple[str, ...] = ("oracle",)) -> LoadedConfig:
    put(root, {**CHECKS, "evals/fixture/AGENTS.md": "Be quick.", "evals/fixture/check.sh": "exit 0\n"})
    put(root, {"evals/hello.yaml": json.dumps({**SCENARIO, "evaluation": {"gates": list(gates)}})})
    suite = {"name": "s", "kind": "scenario", "cases": "evals/*.yaml", "targets": list(targets)}
    put(root, {"evalward.yml": json.dumps({"version": 1, "suites": [suite]})})
    return load_config(root / "evalward.yml")


def grader(check: str, **more: Any) -> dict[str, Any]:
    return {"type": "grader", "check": check, **more}


def test_a_gate_can_be_a_grader(tmp_path: Path) -> None:
    loaded = write_scenario(tmp_path, grader("checks.mine:right"), grader("checks/mine.sh", timeout_secs=20))
    (result,) = results(loaded)
    assert (result.status, [check.detail for check in result.checks]) == ("passed", ["", "it says hello"])
    assert [check.check for check in result.checks] == ["grader: checks.mine:right", "grader: checks/mine.sh"]
    assert problems(loaded) == []


def test_a_grader_sees_what_earlier_gates_made(tmp_path: Path) -> None:
    made = {"type": "command_succeeds", "command": "cp out.txt built.txt"}
    put(tmp_path, {"built.sh": "grep -qx hello built.txt\n"})
    (result,) = results(write_scenario(tmp_path, made, grader("./built.sh")))
    assert result.status == "passed"


def test_a_gate_that_breaks_is_an_error_unless_another_has_failed(tmp_path: Path) -> None:
    (result,) = results(write_scenario(tmp_path, grader("checks.mine:breaks")))
    assert (result.status, result.reason) == ("error", "grader_error")
    (result,) = results(
        write_scenario(tmp_path, grader("checks.mine:breaks"), {"type": "file_exists", "path": "gone.txt"})
    )
    assert (result.status, result.reason) == ("failed", "gates_failed")


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("checks.gone:right", "there is no module checks.gone"),
        ("evals/fixture/check.sh", "is in the fixture"),
        ("nonsense", "names no grader"),
    ],
)
def test_gates_with_unusable_graders_are_told(tmp_path: Path, check: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        make_plan(write_scenario(tmp_path, grader(check)), Selection())


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("checks.mine:gone", "the grader checks.mine:gone: the module checks.mine has no function gone"),
        ("checks.mine:half", "the solution of 'hello' fails the gate grader: score 0.5"),
        ("./yes.sh", "all gates of 'hello' pass when nothing is done"),
        ("checks.mine:breaks", "'hello' can't be tried: the grader checks.mine:breaks: "),
    ],
)
def test_what_a_proof_of_scenarios_finds(tmp_path: Path, check: str, told: str) -> None:
    put(tmp_path, {"yes.sh": "exit 0\n"})
    (message,) = problems(write_scenario(tmp_path, grader(check)))
    assert message.startswith(told)


def test_a_changed_grader_redefines_a_scenario(tmp_path: Path) -> None:
    loaded = write_scenario(tmp_path, grader("checks/mine.sh"))
    (before,) = make_plan(loaded, Selection()).runs[0].cases
    put(tmp_path, {"checks/mine.sh": SCRIPT + "# changed\n"})
    (after,) = make_plan(loaded, Selection()).runs[0].cases
    assert after.definition != before.definition


# --- the base ---------------------------------------------------------------------------------------------------------


def base_of(root: Path, into: Path) -> BaseCommit:
    """The commit of everything below `root`, as the runner has it."""
    sha = commit(root, {})
    tree = GitTree(root, search_path=os.environ["PATH"])
    there = FilesOfCommit.at(tree, sha, "")

    def listed(folder: str) -> list[m.BaseFile] | None:
        found = there.listed(folder)
        return None if found is None else [m.BaseFile(path=f.path, program=f.program, link=f.link) for f in found]

    into.mkdir()
    loaded = load_config(root / "evalward.yml")
    return BaseCommit(m.BaseSide(commit=sha, config="evalward.yml"), loaded, {}, None, there.read, listed, into)


MORE = {"checks/helpers/deep.py": "x = 1\n", "checks/__init__.py": "", "checks/data.json": "{}", "other.py": ""}


def test_the_base_is_graded_by_its_own_graders(tmp_path: Path) -> None:
    root = put(init(tmp_path / "repo"), {**CHECKS, **MORE})
    tasks = [checked_by("checks.mine:right"), checked_by("./checks/mine.sh", id="script")]
    loaded = write_suite(root, tasks)
    base = base_of(root, tmp_path / "base")
    same = equally_defined(make_plan(loaded, Selection()).runs[0].cases, base.run("shell", "oracle").cases)
    assert sorted(same) == ["hello", "script"]
    assert sorted(str(path.relative_to(base.folder)) for path in base.folder.rglob("*.*")) == [
        "cases.jsonl",
        "checks/__init__.py",
        "checks/helpers/deep.py",
        "checks/mine.py",
        "checks/mine.sh",
    ]
    put(root, {"checks/mine.py": RIGHT + "# the head's\n"})
    cases = make_plan(loaded, Selection()).runs[0].cases
    assert list(equally_defined(cases, base.run("shell", "oracle").cases)) == ["script"]


def test_the_bases_scenario_is_graded_by_its_own_graders(tmp_path: Path) -> None:
    root = init(tmp_path / "repo")
    put(root, {"evals/fixture/tool": "#!/bin/sh\n"})
    gates = [grader("checks.mine:right"), grader("checks/mine.sh")]
    loaded = write_scenario(root, *gates)
    own = {**SCENARIO, "target": {"binary": "./tool"}, "evaluation": {"gates": gates}}
    put(root, {"evals/hello.yaml": json.dumps(own)})
    base = base_of(root, tmp_path / "base")
    head = make_plan(loaded, Selection()).runs[0].cases
    assert list(equally_defined(head, base.run("s", "oracle").cases)) == ["hello"]


def test_a_grader_that_the_base_lacks_is_a_reason_not_to_measure_it(tmp_path: Path) -> None:
    root = init(tmp_path / "repo")
    write_suite(root, [checked_by("checks.mine:right")])
    base = base_of(root, tmp_path / "base")
    with pytest.raises(NotMeasuredError, match=r"the base can't be measured: .*there is no module checks\.mine"):
        base.run("shell", "oracle")


# --- what the page says -----------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "graders.md"


@pytest.mark.parametrize(
    ("solution", "status", "detail"),
    [
        ("printf 'a 20\\nb 20.0\\nc 20.00\\n' > totals.txt", "passed", "score 1: 3 of 3 totals are right"),
        ("printf 'a 20\\nb 2\\nc 3\\n' > totals.txt", "failed", "score 0.333: 1 of 3 totals are right"),
        ("true", "failed", "there is no totals.txt"),
    ],
)
def test_the_pages_grader_grades(tmp_path: Path, solution: str, status: str, detail: str) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    root = put(tmp_path, {"graders/totals.py": code})
    (result,) = results(write_suite(root, [checked_by("graders.totals:total_is_right", solution=solution)]))
    assert (result.status, result.checks[0].detail) == (status, detail)


def test_the_page_names_all_that_a_grader_is_given() -> None:
    page = PAGE.read_text("utf-8")
    given = {field.name for field in dataclasses.fields(Graded)} | {"answer"}
    assert all(f"`{name}`" in page for name in given | {"path(NAME)", "text(NAME)", GRADER_ERROR})
    assert f"{MOST_LEFT_MB} MB or {MOST_LEFT_FILES:,} files" in page
    assert f"{SECONDS:.0f} seconds" in page


# --- the command ------------------------------------------------------------------------------------------------------


def test_validate_names_file_line_and_remedy(tmp_path: Path) -> None:
    """Before anything runs, and as the user's mistake."""
    write_suite(put(tmp_path, CHECKS), [checked_by("checks.mine:right"), checked_by("checks.mine:gone", id="second")])
    world = World(out=io.StringIO(), err=io.StringIO(), now=lambda: "2031-01-01T00:00:00Z")
    with pytest.raises(InputError) as caught:
        validate(world, [tmp_path / "evalward.yml"])
    (problem,) = caught.value.problems
    assert str(problem.place) == "cases.jsonl:2"
    assert problem.message == "the grader checks.mine:gone: the module checks.mine has no function gone"
    assert problem.remedy == "Fix the grader, or the name in the check."
