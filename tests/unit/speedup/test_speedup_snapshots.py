"""Outputs before and after a change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalward.suites.speedup.measure.session import CAPTURE
from evalward.suites.speedup.measure.snapshots import (
    after_statuses,
    before_statuses,
    read_capture,
    read_statuses,
    same,
    transitions,
)
from support.git_repo import write_files

RTOL, ATOL = 1e-5, 1e-8


def float_(value: float) -> list[str]:
    return ["float", repr(value)]


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        (float_(1.0), float_(1.000009), True),
        (float_(1.0), float_(1.00002), False),
        (float_(0.0), float_(1e-9), True),
        (float_(0.0), float_(1e-7), False),
        (float_(float("nan")), float_(float("nan")), False),
        (float_(float("inf")), float_(float("inf")), True),
        (float_(float("inf")), float_(1.0), False),
        (["int", "1"], float_(1.0), True),
        (["int", "1000000"], ["int", "1000001"], False),
        (["list", [["int", "1"]]], ["list", [["int", "1"]]], True),
        (["list", [["int", "1"]]], ["tuple", [["int", "1"]]], False),
        (True, ["int", "1"], False),
        ("a", "b", False),
        (None, None, True),
        (float_(1.0), ["float", "x"], False),
    ],
)
def test_what_is_the_same(one: Any, two: Any, equal: bool) -> None:
    assert same(one, two, RTOL, ATOL) is equal


def test_what_is_never_the_same_or_raises_says_nothing_of_a_change() -> None:
    first = {"a": {"value": 1}, "b": {"value": 1}, "c": {"raised": "ValueError"}}
    before = before_statuses(first, {**first, "b": {"value": 2}}, RTOL, ATOL)
    assert before == {"a": "passed", "b": "skipped", "c": "skipped"}
    now = {"a": {"value": 1}, "b": {"value": 3}, "c": {"value": 1}}
    summary, notes = transitions(before, after_statuses(first, now, RTOL, ATOL))
    assert (summary.status, summary.pass_to_fail, notes) == ("passed", 0, [])


@pytest.mark.parametrize("now", [{"a": {"value": 2}}, {"a": {"raised": "TypeError"}}, {}])
def test_an_output_that_is_gone_or_other_fails(now: dict[str, Any]) -> None:
    first = {"a": {"value": 1}}
    before = before_statuses(first, first, RTOL, ATOL)
    summary, notes = transitions(before, after_statuses(first, now, RTOL, ATOL))
    assert (summary.status, summary.pass_to_fail) == ("failed", 1)
    assert notes == ["SNAPSHOT: no longer the same: a"]


def test_what_failed_before_may_fail_now() -> None:
    summary, _ = transitions({"a": "failed", "b": "passed"}, {"a": "failed", "b": "passed"})
    assert (summary.status, summary.failed, summary.passed, summary.total) == ("passed", 1, 1, 2)


def test_without_outputs_nothing_is_known() -> None:
    summary, notes = transitions({"a": "passed"}, None)
    assert summary.status == "missing"
    assert "the change" in notes[0]


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"a": "fine"}', b"{}", b'{"a": 1}'])
def test_statuses_that_cannot_be_read_are_none(content: bytes | None) -> None:
    assert read_statuses(content) is None
    assert read_capture(content) is None


def test_the_capture_tells_types_apart_and_keeps_arguments(tmp_path: Path) -> None:
    code = (
        "def grow(items):\n    items.append(0)\n    return (len(items), 1.5)\n\ndef fail():\n    raise SystemExit(1)\n"
    )
    write_files(tmp_path, {"lib/code.py": code})
    asked = {"functions": {"code:grow": [[[1]]], "code:fail": [[]], "code:gone": [[]]}, "path": ["lib"], "output": "o"}
    subprocess.run(
        [sys.executable, "-c", CAPTURE.read_text()], input=json.dumps(asked), text=True, cwd=tmp_path, check=True
    )
    found = read_capture((tmp_path / "o").read_bytes())
    assert found is not None
    assert found["code:fail#1"] == {"raised": "SystemExit"}
    assert found["code:gone#1"] == {"raised": "AttributeError"}
    value, arguments = found["code:grow#1"]["value"][1]
    assert value == ["tuple", [["int", "2"], ["float", "1.5"]]]
    assert arguments == ["list", [["list", [["int", "1"], ["int", "0"]]]]]
