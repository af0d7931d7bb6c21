"""What `evalward validate` takes a file for."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.commands.validate_files import beginning_of, is_baseline, is_config


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nsuites: []\n",
        "# ours\nsuites:\n  - name: s\n",
        '"suites": []\n',
        "version: 1\npolicy: []\n",
        '{"version": 1, "suites": []}',
        '{\n  "version": 1,\n  "suites": []\n}',
        "version: 1\nsuites:\n\t- broken\n",
    ],
)
def test_a_config_is_one_by_its_keys_whatever_it_is_called(text: str) -> None:
    assert is_config(Path("ci/gate.yml"), text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "evalward.report/1", "tool": {"name": "x", "version": "1"}, "runs": []}',
        '{"id": "a", "prompt": "suites: []"}\n{"id": "b"}\n',
        "- id: a\n  prompt: write suites\n",
        "id: a\nversion: 2\nprompt: x\n",
        "You are a shell.\n",
        "{broken",
        "[]",
    ],
)
def test_other_files_are_none_unless_they_are_called_so(text: str) -> None:
    assert not is_config(Path("tasks.yaml"), text.encode())
    assert is_config(Path("a/evalward.yaml"), text.encode())


def test_what_cannot_be_read_is_left_to_the_reader_of_configs(tmp_path: Path) -> None:
    assert beginning_of(tmp_path / "none.yml") == beginning_of(tmp_path) == b""
    assert is_config(tmp_path, b"")
    (tmp_path / "link.json").symlink_to("baseline.json")
    (tmp_path / "baseline.json").write_text('{"schema": "evalward.baseline/1"}', "utf-8")
    assert beginning_of(tmp_path / "link.json") == b""
    assert is_baseline(beginning_of(tmp_path / "baseline.json"))


@pytest.mark.parametrize(
    "text", ['{"schema": "evalward.report/1"}', " " * 400 + '{"schema": "evalward.baseline/1"}', ""]
)
def test_a_baseline_is_known_by_its_schema(text: str) -> None:
    assert not is_baseline(text.encode())
