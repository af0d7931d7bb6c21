"""Which importers know a file by its content, within bounds."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from evalward.importers import importers_of, knowing_importer
from evalward.importers.fc_eval_known import MOST_SEARCHED
from evalward.registry import IMPORTERS, ours
from evalward.suites.external.formats.base import HEAD_BYTES, ForeignFile, formats_of
from support import bashkit_files, fc_eval_files
from support.speedups import GOOD_SNAPSHOT, GOOD_TESTS, KEY, log, result_object

LOG = log(GOOD_TESTS, result_object({"m.S.a": {"agent/nop": 1.2}}, KEY), GOOD_SNAPSHOT)
CARO: dict[str, Any] = {
    "timestamp": "2026-01-09T12:00:00Z",
    "caro_version": "1.1.0",
    "backend": "mlx",
    "csr": 1.0,
    "safety_accuracy": 1.0,
    "posix_compliance_rate": 1.0,
    "per_category": {},
    "failed_cases": [],
}
LONG = [{"test_id": str(number), "prompt": "x" * 1000} for number in range(100)]
LINE = {"id": "r", "scenario_id": "a", "scenario_hash": "h", "tool": "t", "model": "m", "gates_passed": True}


def file_of(content: bytes | str | dict[str, Any]) -> ForeignFile:
    text = json.dumps(content) if isinstance(content, dict) else content
    data = text if isinstance(text, bytes) else text.encode()
    return ForeignFile("results", len(data), lambda: BytesIO(data))


@pytest.mark.parametrize(
    ("content", "importer"),
    [
        (bashkit_files.result_file(bashkit_files.FOUR_OF_FIVE), "bashkit-eval"),
        (bashkit_files.result_file(summary={"total_tasks": 0}), "bashkit-eval"),
        (CARO, "caro"),
        (dict(sorted({**CARO, "failed_cases": LONG}.items())), "caro"),  # longer than what is looked at
        (fc_eval_files.one(), "fc-eval"),
        (json.loads(fc_eval_files.one())["results"][0], "fc-eval"),  # of a single trial
        (LOG, "fc-eval"),
        ("x" * HEAD_BYTES * 40 + "\n" + LOG, "fc-eval"),  # after what the tests printed
        ("[INFO] tests\n" + LOG, "fc-eval"),
        ({"tests": GOOD_TESTS, "result": result_object({"m.S.a": {"agent/nop": 1.2}}, KEY)}, "fc-eval"),
        (result_object({"m.S.a": {"agent/nop": 1.2}}, KEY), "fc-eval"),
        (json.dumps(LINE) + "\n", "llm-tool-test"),
    ],
)
def test_a_file_is_known_by_its_content(content: bytes | str | dict[str, Any], importer: str) -> None:
    file = file_of(content)
    assert (importers_of(file), formats_of(file)) == ([importer], [])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\xff\xfe\x00",
        b"{",
        b"[]",
        {"csr": 1.0},
        {"provider": "x", "model": "y"},
        {"results": [{"task_id": "a"}]},
        {"log": LOG},  # quoted
        f"<testsuite><system-out>\n{LOG}</system-out></testsuite>",
        "the marker FORMULACODE_RESULT_START stands in a sentence\n",
        "x" * MOST_SEARCHED + "\n" + LOG,
    ],
)
def test_another_file_is_not(content: bytes | str | dict[str, Any]) -> None:
    assert importers_of(file_of(content)) == []


def test_every_importer_of_ours_knows_its_files() -> None:
    assert [name for name in ours(IMPORTERS) if knowing_importer(name) is None] == []
