"""Graders are code of the head: what a hostile one reaches, and what a hostile target makes of an honest one."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from evalward.engine.plan import make_plan
from evalward.engine.scheduler import ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.graders import Grade
from evalward.graders.grading import Grader, GraderError
from evalward.graders.source import read_source
from evalward.records.report import Run
from evalward.render.escape import md_cell
from evalward.sandbox.base import NoWorkspaceError
from evalward.sandbox.process import available
from evalward.sandbox.process.workspace import WORK
from support.cases import Silent, write_suite
from support.graders import FUNCTION, Left, checked_by, grade, put
from support.sandboxes import use, walls_named

pytestmark = pytest.mark.cold

WALLS = ("own user, namespaces", "own user, Landlock", "namespaces", "bubblewrap", "Landlock")
TELL = """
from evalward.graders import Grade
def right(graded):
    import {imports}
    return Grade(True, detail={detail})
"""
KEY = "sk-ant-api03-of-the-tests"


def tell(imports: str, detail: str) -> str:
    return TELL.format(imports=imports, detail=detail)


def run_all(root: Path, *checks: str, **task: object) -> Run:
    loaded = write_suite(root, [checked_by(*checks, **task)])
    (run,) = asyncio.run(execute(make_plan(loaded, Selection()), ExecutionSettings(None, Silent()))).runs
    return run


async def test_no_secret_is_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", "/of/the/tests")
    found = await grade(tmp_path, FUNCTION, tell("os", "' '.join(sorted(os.environ))"))
    known = {"HOME", "LANG", "LC_CTYPE", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "TMPDIR", "PWD", "_"}
    assert set(found.detail.split()) <= known
    script = "#!/bin/sh\nenv | grep -c ANTHROPIC; exit 0\n"
    assert (await grade(tmp_path, "checks/mine.sh", script)).detail == "0"


@pytest.mark.parametrize("walls", WALLS)
async def test_it_sees_neither_us_nor_the_rest_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walls: str
) -> None:
    use(monkeypatch, walls_named(walls))
    secret = put(tmp_path, {"secret.txt": KEY, "checks/next.txt": KEY}) / "secret.txt"
    paths = [secret, tmp_path / "checks/next.txt", f"/proc/{os.getpid()}/environ", Path.home() / ".netrc", "next.txt"]
    code = "".join(f"cat '{path}' 2>/dev/null && echo 'got {path}'\n" for path in paths) + "true\n"
    assert await grade(tmp_path, "checks/mine.sh", code) == Grade(True, None, "exit code 0")


async def test_it_reaches_no_network(tmp_path: Path) -> None:
    if available().network != "none":
        pytest.skip("no network namespace here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
import socket
def right(graded):
    try:
        socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 2)
    except OSError:
        return True
    return False
"""
        assert (await grade(tmp_path, FUNCTION, code)).passed


@pytest.mark.parametrize("walls", WALLS)
async def test_it_writes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walls: str) -> None:
    use(monkeypatch, walls_named(walls))
    report = put(tmp_path, {"evalward-out/report.json": "{}", "checks/other.py": "x = 1\n"}) / "evalward-out"
    places = [
        report / "report.json",
        tmp_path / "new",
        tmp_path / "checks/other.py",
        "/usr/new",
        "/etc/new",
        "/opt/new",
    ]
    code = "".join(f"(echo forged > '{place}') 2>/dev/null && echo 'wrote {place}'\n" for place in places) + "true\n"
    found = await grade(tmp_path, "checks/mine.sh", code)
    assert (report / "report.json").read_text() == "{}"
    assert (tmp_path / "checks/other.py").read_text() == "x = 1\n"
    assert not (tmp_path / "new").exists()
    assert found == Grade(True, None, "exit code 0")


@pytest.mark.parametrize("walls", WALLS)
async def test_a_function_is_graded_behind_every_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walls: str
) -> None:
    """Where our own interpreter lies in a folder that others may not enter, that is said, and is not the suite's."""
    use(monkeypatch, walls_named(walls))
    code = "import json\ndef right(graded):\n    return graded.text('out.txt') == 'O'\n"
    try:
        assert (await grade(tmp_path, FUNCTION, code, {"out.txt": "O"})).passed
    except NoWorkspaceError as error:
        if walls != "own user, Landlock" or f"{sys.executable} can't be started there" not in str(error):
            raise
        pytest.skip("our interpreter lies where only we may go")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_is_read_and_dropped(tmp_path: Path, stream: str) -> None:
    code = f"""
import sys
def right(graded):
    for _ in range(1024):
        sys.{stream}.write("x" * (1 << 20))
    return {{"passed": True, "detail": "y" * (1 << 20)}}
"""
    found = await grade(tmp_path, FUNCTION, code, timeout_s=120)
    assert found.passed
    assert len(found.detail) == 500


async def test_a_script_that_floods_gives_no_more_than_a_line(tmp_path: Path) -> None:
    found = await grade(tmp_path, "checks/mine.sh", "head -c 300000000 /dev/zero | tr '\\0' x; exit 1\n", timeout_s=120)
    assert (found.passed, len(found.detail)) == (False, 500)


@pytest.mark.parametrize("code", ["time.sleep(600)", "while True: pass", "os.kill(os.getpid(), signal.SIGSTOP)"])
async def test_it_is_ended_at_its_time(tmp_path: Path, code: str) -> None:
    with pytest.raises(GraderError, match="gave no answer in 2 s"):
        await grade(tmp_path, FUNCTION, f"import os, signal, time\ndef right(graded):\n    {code}\n", timeout_s=2)


async def test_a_module_that_never_ends_is_no_answer_either(tmp_path: Path) -> None:
    put(tmp_path, {"checks/mine.py": "while True: pass\n"})
    with pytest.raises(GraderError, match="can't be imported in 2 s"):
        await Grader(read_source(tmp_path, FUNCTION), 2).look_up()


async def test_what_it_forks_ends_with_it(tmp_path: Path) -> None:
    """Children that hold its output open, in sessions of their own: nobody waits for them, and they are gone."""
    mark = f"600.{uuid4().int}"
    code = f"""
import subprocess
def right(graded):
    started = 0
    try:
        while started < 500:
            subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
            started += 1
    except OSError:
        pass
    return {{"passed": started < 500, "detail": str(started)}}
"""
    found = await grade(tmp_path, FUNCTION, code)
    assert int(found.detail) > 0
    assert not [one for one in Path("/proc").glob("[0-9]*") if mark.encode() in _command(one)]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


async def test_memory_is_bounded(tmp_path: Path) -> None:
    code = "def right(graded):\n    return len(bytearray(8 << 30)) > 0\n"
    with pytest.raises(GraderError, match=r"MemoryError|too much memory|without an answer"):
        await grade(tmp_path, FUNCTION, code)


@pytest.mark.parametrize(
    "answer",
    [
        "float('nan')",
        "{'passed': True, 'score': float('nan')}",
        "{'passed': 1}",
        "type('T', (), {'passed': True})()",
        "(True, 'x')",
        "True if False else ...",
    ],
)
async def test_nonsense_is_no_answer(tmp_path: Path, answer: str) -> None:
    with pytest.raises(GraderError, match=r"^the grader checks\.mine:right: "):
        await grade(tmp_path, FUNCTION, f"def right(graded):\n    return {answer}\n")


@pytest.mark.parametrize(
    "said",
    [
        "{" * 100_000,
        '{"passed": true, "score": 1e999}',
        '{"passed": true, "detail": "\\ud800"}',
        '{"passed": true, "passed": "x"}',
        '{"found": true}',
        "[true]",
        "\x00\x1b[31m",
    ],
)
async def test_forged_lines_are_read_like_any_text(tmp_path: Path, said: str) -> None:
    code = "import os\nos.write(1, {!r}.encode('utf-8', 'surrogatepass') + b'\\n')\nos._exit(0)\n"
    try:
        found = await grade(tmp_path, FUNCTION, code.format(said))
    except GraderError as error:
        json.dumps(str(error)).encode("utf-8")
    else:
        assert found.passed
        found.detail.encode("utf-8")


async def test_a_module_called_as_ours_gains_nothing(tmp_path: Path) -> None:
    """It comes first in the grader's own process, and only there."""
    put(tmp_path, {"evalward/graders/__init__.py": "raise SystemExit(0)\n", "evalward/mine.py": "right = print\n"})
    with pytest.raises(GraderError):
        await Grader(read_source(tmp_path, "evalward.mine:right")).look_up()


# --- what a target does to an honest grader ---------------------------------------------------------------------------

SAME = """
def right(graded):
    expected = open(__file__.replace("mine.py", "expected.py")).read()
    return graded.text("answer.txt") == expected
"""


@pytest.mark.parametrize(
    "link",
    [
        "../grader/checks/expected.py",
        f"../../{WORK}/grader/checks/expected.py",
        "folder/expected.py",
        "/etc/passwd",
        "other",
    ],
)
async def test_a_link_of_the_targets_doesnt_lead_to_the_graders_files(tmp_path: Path, link: str) -> None:
    put(tmp_path, {"checks/expected.py": "ANSWER = 42\n", "checks/mine.py": SAME})
    left = tmp_path / "left-by-the-target"
    left.mkdir()
    (left / "folder").symlink_to("../grader/checks")
    (left / "other").symlink_to("../grader/checks/expected.py")
    (left / "answer.txt").symlink_to(link)
    assert not (await grade(tmp_path, FUNCTION, SAME, leaves=Left(left))).passed


async def test_links_within_what_was_left_stay(tmp_path: Path) -> None:
    left = put(tmp_path / "left-by-the-target", {"a/real.txt": "R"})
    (left / "link.txt").symlink_to("a/real.txt")
    (left / "whole.txt").symlink_to("/home/eval/a/real.txt")
    (left / "folder").symlink_to("../eval/a")
    (left / "loop").symlink_to("loop")
    names = "link.txt", "whole.txt", "folder/real.txt"
    code = f"def right(graded):\n    return {{graded.text(name) for name in {names}}} == {{'R'}}\n"
    assert (await grade(tmp_path, FUNCTION, code, leaves=Left(left))).passed


async def test_modules_that_a_target_left_are_not_imported(tmp_path: Path) -> None:
    left = dict.fromkeys(("json.py", "csv.py", "sitecustomize.py", "checks/mine.py"), "raise SystemExit(7)\n")
    code = "import csv, json\ndef right(graded):\n    import sqlite3\n    return True\n"
    assert (await grade(tmp_path, FUNCTION, code, left)).passed
    assert (await grade(tmp_path, "checks/mine.py", "import csv, json\n", left)).passed


def test_odd_names_that_a_target_left(tmp_path: Path) -> None:
    """Names that another file system can't hold are left out, and the rest is graded."""
    code = "def right(graded):\n    return {'passed': graded.text('out.txt') == 'hello\\n', 'detail': 'odd'}\n"
    odd = r"""'-rf' '*' $'new\nline' '..x' "$(printf 'x%.0s' $(seq 1 250))" '<b>'"""
    made = f"echo hello > out.txt; touch -- {odd}; ln -s . l"
    run = run_all(put(tmp_path, {"checks/mine.py": code}), "checks.mine:right", solution=made)
    assert [result.status for result in run.cases] == ["passed"]


def test_what_a_grader_says_is_escaped_and_cut(tmp_path: Path) -> None:
    hostile = "</details>](javascript:x) \x1b[31m ::error::x \u202e" + "z" * 5000
    code = f"def right(graded):\n    return {{'passed': False, 'detail': {hostile!r}}}\n"
    (result,) = run_all(put(tmp_path, {"checks/mine.py": code}), "checks.mine:right").cases
    assert len(result.checks[0].detail) <= 500
    assert "</details>" not in md_cell(result.checks[0].detail, 300)
