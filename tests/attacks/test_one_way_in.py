"""Nobody reads a path of the repository, or asks git, but by the one way that is made for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import evalward

SOURCE = Path(evalward.__file__).parent
LOADERS = ("config", "suites", "targets")
READING = {"read_text", "read_bytes", "iterdir", "rglob", "glob", "copytree", "walk", "scandir", "listdir", "copyfile"}
OURS = {
    "suites/put_back.py": "copies that we made of a workspace and of a fixture, in folders of our own",
    "suites/scenario/judging.py": "copies that we made of a workspace, in a folder of our own",
    "suites/speedup/measure/record_script.py": "runs in the workspace",
    "suites/speedup/measure/recorded.py": "scripts of ours",
    "suites/speedup/trial.py": "a copy that we made of the code, in a folder of our own",
    "suites/mcp/server/folder.py": "names alone, for links that the server follows behind its walls",
    "targets/repository.py": "names alone: what is to be hidden from a program",
    "suites/scenario/artifacts.py": "a copy that we made of a workspace, in a folder of our own",
    "suites/scenario/results_folder.py": "a folder of a workspace, opened without following links",
    "suites/speedup/measure/changes.py": "copies that we made of the code, in a folder of our own",
    "suites/speedup/measure/session.py": "a script of ours",
    "suites/speedup/measure/capture_script.py": "runs in the workspace",
    "targets/agents/driver.py": "the package.json of an installed program",
    "targets/prices.py": "a table of ours",
    **{
        f"suites/external/formats/{name}.py": "result files, which `formats/find.py` opens through no link"
        for name in ("archive", "copies", "inspect/format", "junit_tests", "rows", "values")
    },
}
GIT = {"git/program.py": "the one way", "suites/speedup/measure/changes.py": "git apply, in a workspace"}


def test_loaders_read_by_the_one_way_only() -> None:
    found = {place for place, call in _calls(*LOADERS) if _reads(call)}
    assert found - set(OURS) == set()


def test_git_is_started_in_one_way_only() -> None:
    words = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "safety" not in path.as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.List | ast.Tuple) and node.elts and _is(node.elts[0], "git")
    }
    assert words - set(GIT) == set()


def _calls(*rooms: str) -> Iterator[tuple[str, ast.Call]]:
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield path.relative_to(SOURCE).as_posix(), node


def _reads(call: ast.Call) -> bool:
    called = call.func
    if isinstance(called, ast.Name):
        return called.id == "open"
    if not isinstance(called, ast.Attribute):
        return False
    module = called.value.id if isinstance(called.value, ast.Name) else ""
    if called.attr == "walk":
        return module == "os"
    return called.attr in READING or (called.attr == "open" and module in {"os", "io", "path", "file"})


def _is(node: ast.expr, word: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == word
