"""What a grader may answer, and what it sees of a trial."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evalward.graders import Call, Grade, Graded
from evalward.graders.record import grade_of, graded_of, last_lines

DATA: dict[str, Any] = {
    "id": "sum",
    "category": "c",
    "prompt": "Sum it.",
    "case": {"id": "sum", "tags": ["a"], "files": {"/in": "1"}},
    "said": ["First.", "Done."],
    "calls": [{"commands": "ls", "stdout": "x\n", "stderr": "", "exit_code": 0}],
    "files": "/f",
    "elsewhere": "/e",
    "home": "/home/eval",
    "left_out": 0,
}


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        (True, Grade(True)),
        (False, Grade(False)),
        (1, Grade(True, 1.0)),
        (0.5, Grade(False, 0.5)),
        (Fraction(1, 4), Grade(False, 0.25)),
        (Grade(True, 0.5, "good enough"), Grade(True, 0.5, "good enough")),
        (Grade(False), Grade(False)),
        ({"passed": True, "score": None, "detail": None}, Grade(True)),
        ({"passed": False, "detail": "why", "more": 1}, Grade(False, None, "why")),
    ],
)
def test_answers_that_are_one(answer: Any, grade: Grade) -> None:
    assert grade_of(answer) == grade


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "it answered NoneType"),
        ("yes", "it answered str"),
        (Decimal(1), "it answered Decimal"),
        (float("nan"), "its score is nan"),
        (float("inf"), "its score is inf"),
        (10**400, "its score is inf"),
        (1.01, "its score is 1.01"),
        (-0.5, "its score is -0.5"),
        ({}, "`passed` in its answer is NoneType"),
        ({"passed": 1}, "`passed` in its answer is int"),
        ({"passed": True, "score": True}, "`score` in its answer is bool"),
        ({"passed": True, "score": "1"}, "`score` in its answer is str"),
        ({"passed": True, "score": float("nan")}, "its score is nan"),
        (Grade(True, detail=b"x"), "`detail` in its answer is bytes"),  # type: ignore[arg-type]
    ],
)
def test_answers_that_are_none(answer: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        grade_of(answer)


def test_a_graded_trial_can_be_read_and_not_changed() -> None:
    graded = graded_of(DATA)
    assert graded.calls == (Call("ls", "x\n", "", 0),)
    assert (graded.answer, graded.case["tags"], graded.case["files"]["/in"]) == ("Done.", ("a",), "1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        graded.id = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        graded.case["id"] = "other"  # type: ignore[index]
    with pytest.raises(TypeError):
        graded.case["files"]["/in"] = "other"
    assert dataclasses.replace(graded, said=()).answer == ""


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("out.txt", "/f/out.txt"),
        ("a/../b/out.txt", "/f/b/out.txt"),
        ("/home/eval/out.txt", "/f/out.txt"),
        ("/home/eval", "/f"),
        ("/home/evaluation/x", "/e/home/evaluation/x"),
        ("/data/x", "/e/data/x"),
        ("../../data/x", "/e/data/x"),
        ("/../../etc/passwd", "/e/etc/passwd"),
    ],
)
def test_paths_are_those_that_the_target_knew(name: str, where: str) -> None:
    assert graded_of(DATA).path(name) == Path(where)


def test_texts_of_files(tmp_path: Path) -> None:
    graded: Graded = graded_of({**DATA, "files": str(tmp_path)})
    (tmp_path / "odd").write_bytes(b"a\xff")
    assert graded.text("odd") == "a\ufffd"
    assert graded.text("gone") is None
    assert graded.text(".") is None
    assert graded.text("nul\0") is None


def test_last_lines_say_something() -> None:
    assert last_lines(["a\n  b\n", "    ^^^^\n", "", "E: c\n"], 2) == "b / E: c"
    assert last_lines([], 3) == ""
