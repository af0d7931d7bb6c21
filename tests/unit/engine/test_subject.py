"""What identifies who is evaluated: edits that no commit has are seen, and baselines from before stay comparable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalward.config.load import load_config
from evalward.decide.changes import subject_changes
from evalward.engine.plan import Plan, make_plan
from evalward.engine.selection import Selection
from evalward.engine.shards import KnownTimes, sharded
from evalward.engine.subject import make_subject
from evalward.records.part import Shard
from evalward.records.report import PROGRAM_FILES, SOLUTIONS, Subject
from support.cases import task, write_suite
from support.fuzzing.folders import write_files

COMMAND_CONFIG = """\
version: 1
suites:
  - {name: commands, kind: command, cases: cases.yaml, targets: [oracle, "program:mine"]}
programs:
  mine: {command: [sh, tools/ask.sh, "{prompt}"]}
"""
COMMAND_CASES = """\
- {id: list, category: files, prompt: list files, expected_command: ls, safe: true, posix_compliant: true}
"""


def subjects(plan: Plan) -> dict[str, Subject]:
    return {run.target.id: run.subject for run in plan.runs}


def shell_plan(folder: Path, *solutions: str, selection: Selection | None = None, **suite: Any) -> Plan:
    tasks = [task(id=f"case{number}", solution=text) for number, text in enumerate(solutions)]
    return make_plan(write_suite(folder, tasks, targets=["oracle", "nop"], **suite), selection or Selection())


def test_an_edited_solution_is_another_oracle_and_for_others_the_same(tmp_path: Path) -> None:
    before = subjects(shell_plan(tmp_path, "echo hello"))
    now = subjects(shell_plan(tmp_path, "printf 'hello\\n'"))
    assert before["oracle"].hash != now["oracle"].hash
    assert [change.part for change in subject_changes(before["oracle"], now["oracle"])] == [SOLUTIONS]
    assert before["nop"] == now["nop"]


def test_an_edited_solution_redefines_no_case(tmp_path: Path) -> None:
    definitions = [
        {case.id: case.definition for case in run.cases}
        for solution in ("echo hello", "printf hello")
        for run in shell_plan(tmp_path, solution).runs
    ]
    assert all(each == definitions[0] for each in definitions)


def test_the_solutions_are_those_of_the_suite_whatever_was_chosen(tmp_path: Path) -> None:
    whole = subjects(shell_plan(tmp_path, "echo hello", "echo hello there"))
    part = shell_plan(tmp_path, "echo hello", "echo hello there", selection=Selection(cases=("case0",)))
    assert [case.id for case in part.runs[0].cases] == ["case0"]
    assert subjects(part) == whole


def test_shards_of_an_edited_solution_are_of_another_plan(tmp_path: Path) -> None:
    digests = {
        sharded(shell_plan(tmp_path, text), Shard(1, 2), KnownTimes())[1].plan
        for text in ("echo hello", "printf hello")
    }
    assert len(digests) == 2


def test_an_edited_script_of_a_program_is_another_program(tmp_path: Path) -> None:
    def planned(script: bytes) -> dict[str, Subject]:
        files = {"evalward.yml": COMMAND_CONFIG.encode(), "cases.yaml": COMMAND_CASES.encode(), "tools/ask.sh": script}
        write_files(tmp_path, files)
        return subjects(make_plan(load_config(tmp_path / "evalward.yml"), Selection()))

    before, now = planned(b"echo ls\n"), planned(b"echo ls -l\n")
    changes = subject_changes(before["program:mine"], now["program:mine"])
    assert [change.part for change in changes] == [PROGRAM_FILES]
    assert before["oracle"] == now["oracle"]
    assert SOLUTIONS not in before["oracle"].parts  # what is expected belongs to the definition


def test_a_baseline_from_before_lacks_the_part_and_nothing_is_said_to_have_changed() -> None:
    old = make_subject({"program": "sha256:a", "bashkit": "1"})
    new = make_subject({"program": "sha256:a", "bashkit": "2", PROGRAM_FILES: "sha256:f", SOLUTIONS: "sha256:s"})
    assert [change.part for change in subject_changes(old, new)] == ["bashkit"]
    assert [change.part for change in subject_changes(new, old)] == ["bashkit"]
