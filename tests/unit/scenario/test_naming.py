"""Gates as checks: what a check's name says isn't said again."""

from __future__ import annotations

import pytest

from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.gate_models import FileContains, FileExists, Gate
from evalward.suites.scenario.naming import check_of

EXISTS = FileExists(type="file_exists", path="out.txt")
CONTAINS = FileContains(type="file_contains", path="out.txt", substring="x")


@pytest.mark.parametrize(
    ("gate", "message", "said"),
    [
        (EXISTS, "out.txt doesn't exist", "file_exists: out.txt: it doesn't exist"),
        (EXISTS, "out.txt is a file", "file_exists: out.txt: it is a file"),
        (EXISTS, "not judged", "file_exists: out.txt: not judged"),
        (CONTAINS, "out.txt doesn't exist", "file_contains: out.txt, x: out.txt doesn't exist"),
    ],
)
def test_a_check_says_its_path_once(gate: Gate, message: str, said: str) -> None:
    check = check_of(gate, GateResult(gate_type=gate.type, passed=False, message=message))
    assert f"{check.check}: {check.detail}" == said
