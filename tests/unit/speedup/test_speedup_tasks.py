"""Task files, counts of tests, and what is put back before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.put_back import matches
from evalward.suites.speedup.measure.changes import put_back, put_back_notes
from evalward.suites.speedup.measure.test_counts import read_counts, read_junit
from support.git_repo import git, write_files
from support.speedup_tasks import CODE, prepared, write_suite, write_task


def problems(folder: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        prepared(write_suite(folder, ["oracle"]))
    return [str(problem) for problem in caught.value.problems]


def definition(folder: Path) -> str:
    return prepared(write_suite(folder, ["oracle"]))[1].definition


def test_a_task_is_read(tmp_path: Path) -> None:
    write_task(tmp_path)
    suite, case = prepared(write_suite(tmp_path, ["oracle"]))
    assert (case.id, case.category, str(case.place)) == ("tiny", "small", "tiny.yaml:1")
    assert case.task.tests.command == ["bash", "-c", "sh tests/run.sh"]
    assert case.written()["tests"]["json"] == "tests.json"
    assert set(suite.subject) == {"python"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompt": None}, "prompt"),
        ({"folder": "../code"}, "a path inside of the task's folder is needed"),
        ({"folder": "gone"}, "there is no folder 'gone'"),
        ({"folder": None}, "needs either folder or revision"),
        ({"snapshots": None}, "needs either snapshots or auto"),
        ({"tests": {"command": "true"}}, "tests need either junit or json"),
        ({"oracle": "gone.patch"}, "'gone.patch' can't be read"),
        ({"benchmarks": {"command": "x", "format": "perf", "output": "o"}}, "benchmarks.format"),
        ({"benchmark": 1}, "Did you mean benchmarks?"),
        ({"id": "a/b"}, "id"),
        ({"folder": None, "revision": {"commit": "HEAD"}}, "git"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    write_task(tmp_path, **changes)
    found = problems(tmp_path)
    assert len(found) == 1
    assert found[0].startswith("tiny.yaml:")
    assert said in found[0]


def test_all_mistakes_of_all_files_are_told(tmp_path: Path) -> None:
    write_task(tmp_path, rounds=0, min_effect=-1)
    write_files(tmp_path, {"b.yaml": "- a list", "c.yaml": "a: [", "d.yaml": ""})
    assert [line.partition(":")[0] for line in problems(tmp_path)] == [
        "b.yaml",
        "c.yaml",
        "d.yaml",
        "tiny.yaml",
        "tiny.yaml",
    ]


def test_an_id_is_there_once(tmp_path: Path) -> None:
    write_task(tmp_path)
    write_files(tmp_path, {"z.yaml": (tmp_path / "tiny.yaml").read_text()})
    assert "already used at tiny.yaml:1" in problems(tmp_path)[0]


def test_the_definition_is_content(tmp_path: Path) -> None:
    write_task(tmp_path)
    first = definition(tmp_path)
    write_files(tmp_path, {"code/__pycache__/x.pyc": "left behind"})
    write_task(tmp_path, rounds=9, timeout_s=5)  # how long is measured is no other task
    assert definition(tmp_path) == first
    write_task(tmp_path, {**CODE, "speed": "0.3\n"})
    assert definition(tmp_path) != first


def test_code_may_be_a_folder_of_a_commit(tmp_path: Path) -> None:
    write_task(tmp_path, folder=None, revision={"commit": "v1", "path": "code"})
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1"]):
        git(tmp_path, *command)
    write_files(tmp_path, {"code/speed": "changed since\n"})
    _, case = prepared(write_suite(tmp_path, ["oracle"]))
    case.fixture.copy_to(tmp_path / "copy")
    assert (tmp_path / "copy" / "speed").read_text() == CODE["speed"]


def test_junit_is_counted() -> None:
    xml = b"""<?xml version="1.0"?><testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>
    <testcase name="c"><error/></testcase><testcase name="d"><skipped/></testcase></testsuite></testsuites>"""
    summary, notes = read_junit(xml)
    assert (summary.passed, summary.failed, summary.error, summary.skipped, summary.total) == (1, 1, 1, 1, 4)
    assert (summary.status, notes) == ("failed", [])


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (None, "missing"),
        (b"<a", "invalid"),
        (b"<testsuites/>", "invalid"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a/>', "invalid"),
    ],
)
def test_tests_of_which_nothing_is_known_are_no_pass(content: bytes | None, status: str) -> None:
    assert read_junit(content)[0].status == status


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (None, "missing"),
        (b"{", "invalid"),
        (b'{"passed": 0, "failed": 0}', "invalid"),
        (b'{"passed": true, "failed": 0}', "invalid"),
        (b'{"passed": 1, "failed": 0}', "passed"),
        (b'{"passed": 1, "failed": 0, "error": 1}', "failed"),
    ],
)
def test_counts_in_json(content: bytes | None, status: str) -> None:
    assert read_counts(content)[0].status == status


@pytest.mark.parametrize(
    ("path", "protected"),
    [
        ("tests/a/b.py", True),
        ("src/conftest.py", True),
        ("src/tests.py", False),
        ("src/tests/x.py", False),
        ("conftest.py", True),
    ],
)
def test_what_is_protected(path: str, protected: bool) -> None:
    assert matches(path, ["tests", "conftest.py"]) is protected


def test_protected_files_are_put_back(tmp_path: Path) -> None:
    original, copy, outside = tmp_path / "original", tmp_path / "copy", tmp_path / "outside"
    write_files(original, {"tests/a": "a", "tests/deep/b": "b", "src": "old"})
    write_files(copy, {"tests/a": "edited", "tests/new": "x", "src": "new", "conftest.py": "cheat"})
    write_files(outside, {"b": "mine"})
    (copy / "tests" / "deep").symlink_to(outside)
    changed = put_back(original, copy, ["tests", "conftest.py"])
    assert changed == ["conftest.py", "tests/a", "tests/deep", "tests/deep/b", "tests/new"]
    assert (copy / "src").read_text() == "new"
    assert (copy / "tests" / "a").read_text() == "a"
    assert (copy / "tests" / "deep" / "b").read_text() == "b"
    assert not (copy / "tests" / "new").exists()
    assert (outside / "b").read_text() == "mine"
    assert put_back_notes(changed) == ["PROTECTED: put back as they were: conftest.py, tests/a, tests/deep …"]
    assert put_back(original, copy, ["tests", "conftest.py"]) == []
