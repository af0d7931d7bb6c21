"""Graders in their own processes, behind the real walls: what they are given, and what becomes of what they answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.graders import Grade
from evalward.graders.grading import Grader, GraderError, TooMuchLeftError
from evalward.graders.source import Source, read_source
from support.graders import FUNCTION, Left, grade, put

RETURN = "def right(graded):\n    return {}\n"


async def test_a_function_is_given_the_trial(tmp_path: Path) -> None:
    code = """
from evalward.graders import Graded, Grade
from checks.more import words

def right(graded: Graded) -> Grade:
    print("what it prints is not its answer")
    (call,) = graded.calls
    found = [graded.id, graded.category, graded.prompt, graded.answer, call.commands, call.stdout, call.exit_code,
             graded.text("out.txt"), graded.text("/home/eval/a/b.txt"), graded.text("/data/x"), graded.case["solution"]]
    return Grade(True, 0.5, words(found))
"""
    put(tmp_path, {"checks/more.py": "def words(found):\n    return '|'.join(map(repr, found))\n"})
    found = await grade(tmp_path, FUNCTION, code, {"out.txt": "O", "a/b.txt": "B"})
    said = "'hello'|'basic'|'Print hello.'|'Done.'|'echo hello'|'hello\\n'|0|'O'|'B'|None|'echo hello'"
    assert found == Grade(True, 0.5, said)


async def test_a_script_is_given_the_same_on_standard_input(tmp_path: Path) -> None:
    code = """
import json, os, sys
told = json.load(sys.stdin)
assert os.path.samefile(told["files"], ".")
print("some words first")
print(json.dumps({"passed": told["id"] == "hello", "score": 0.75, "detail": open("out.txt").read()}))
"""
    assert await grade(tmp_path, "checks/mine.py", code, {"out.txt": "O"}) == Grade(True, 0.75, "O")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("exit 0", Grade(True, None, "exit code 0")),
        ("echo right; echo noise >&2", Grade(True, None, "right")),
        ("echo wrong; exit 1", Grade(False, None, "wrong")),
        ("echo why >&2; exit 1", Grade(False, None, "why")),
        ("""echo '{"passed": false, "detail": "no"}'""", Grade(False, None, "no")),
        ("""echo '{"passed": true}'; exit 1""", Grade(True)),
        ("""echo '{"other": true}'""", Grade(True, None, '{"other": true}')),
        ('grep -q "$(basename "$PWD")" out.txt', Grade(True, None, "exit code 0")),
    ],
)
async def test_answers_of_a_script(tmp_path: Path, code: str, found: Grade) -> None:
    assert await grade(tmp_path, "checks/mine.sh", f"#!/bin/sh\n{code}\n", {"out.txt": "files"}) == found


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("exit 2", r"ended without an answer \(exit code 2\)"),
        ("no-such-command", r"ended without an answer \(exit code 127: .*no-such-command"),
        ("kill -9 $$", r"ended without an answer \(exit code 137\)"),
        ("""echo '{"passed": NaN}'""", "has NaN in it"),
        ("""echo '{"passed": "yes"}'""", "`passed` in its answer is str"),
        ("""echo '{"passed": true, "score": 7}'""", "its score is 7"),
        ("cat <<E >&2\nTraceback (most recent call last):\nKeyError: 1\nE\nexit 1", "KeyError: 1"),
    ],
)
async def test_scripts_that_give_no_answer(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(GraderError, match=f"^the grader checks/mine.sh: .*{why}"):
        await grade(tmp_path, "checks/mine.sh", f"#!/bin/sh\n{code}\n")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (RETURN.format("None"), "it answered NoneType"),
        (RETURN.format("float('nan')"), "its score is nan"),
        (RETURN.format("{}['key']"), r"File \"checks/mine.py\", line 2, in right / .*KeyError: 'key'"),
        ("def right(graded)\n", "SyntaxError"),
        ("import not_installed_anywhere\n", "ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        ("wrong = 1\n", "the module checks.mine has no function right"),
        ("right = 1\n", "the module checks.mine has no function right"),
        ("import os\nos._exit(0)\n", r"ended without an answer \(exit code 0\)"),
        ("raise SystemExit('enough')\n", "SystemExit: enough"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0"),
    ],
)
async def test_functions_that_give_no_answer(tmp_path: Path, code: str, why: str) -> None:
    with pytest.raises(GraderError, match=f"^the grader checks.mine:right: .*{why}"):
        await grade(tmp_path, FUNCTION, code)


async def test_what_breaks_is_told_alike_each_time(tmp_path: Path) -> None:
    """Without the names of temporary folders: what several targets met is compared."""
    told = set()
    for _ in range(2):
        with pytest.raises(GraderError) as caught:
            await grade(tmp_path, FUNCTION, RETURN.format("open(graded.path('gone'))"))
        told.add(str(caught.value))
    assert len(told) == 1


async def test_each_run_has_a_copy_of_its_own(tmp_path: Path) -> None:
    code = "def right(g):\n    g.path('new').write_text('x')\n    return len(list(g.files.iterdir())) == 2\n"
    assert (await grade(tmp_path, FUNCTION, code, {"out.txt": ""})).passed
    assert (await grade(tmp_path, FUNCTION, code, {"out.txt": ""})).passed
    assert [path.name for path in (tmp_path / "left-by-the-target").iterdir()] == ["out.txt"]


async def test_more_than_a_grader_is_given_is_the_targets_doing(tmp_path: Path) -> None:
    with pytest.raises(TooMuchLeftError, match="more than 512 MB"):
        await grade(tmp_path, FUNCTION, RETURN.format("True"), leaves=Left(put(tmp_path / "l", {"a": ""}), full=True))


async def test_a_python_script_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    put(tmp_path, {"checks/more.py": "OK = 0\n"})
    assert (await grade(tmp_path, "checks/mine.py", "import sys, more\nsys.exit(more.OK)\n")).passed


async def test_functions_are_looked_up_without_a_trial(tmp_path: Path) -> None:
    put(tmp_path, {"checks/mine.py": RETURN.format("1 / 0")})
    await Grader(read_source(tmp_path, FUNCTION)).look_up()
    with pytest.raises(
        GraderError, match=r"^the grader checks.mine:left: the module checks.mine has no function left$"
    ):
        await Grader(read_source(tmp_path, "checks.mine:left")).look_up()
    with pytest.raises(GraderError, match="No module named 'checks'"):
        await Grader(Source(reference=FUNCTION, installed="gone 1.0")).look_up()


async def test_an_installed_function_is_found(tmp_path: Path) -> None:
    await Grader(read_source(tmp_path, "pydantic.version:version_short")).look_up()


async def test_a_module_that_an_installed_one_shadows_is_told(tmp_path: Path) -> None:
    put(tmp_path, {"code/mine.py": RETURN.format("True")})  # a module of the standard library comes before a folder
    with pytest.raises(GraderError, match="'code' is not a package"):
        await Grader(read_source(tmp_path, "code.mine:right")).look_up()
