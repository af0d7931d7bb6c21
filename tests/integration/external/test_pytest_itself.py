"""What the pytest that is installed writes today is read as what it wrote when the reader was made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from evalward.records.result import Status
from evalward.suites.external.formats.base import format_named, recognised
from support.foreign.files import in_memory

PROJECT = """
import pytest


@pytest.fixture
def sandbox():
    yield
    raise RuntimeError("could not stop the sandbox")


@pytest.fixture
def provider():
    raise ConnectionError("provider down")


@pytest.mark.parametrize("case", ["right", "wrong", "2026-11-22", "raises", "control \\x1b \\0"])
def test_answers(case, record_property):
    record_property("input_tokens", 100)
    record_property("cost_usd", 0.0002)
    record_property("score:helpful", 0.5)
    if case == "raises":
        raise TimeoutError("no answer")
    assert case != "wrong"


def test_wrong_and_teardown(sandbox):
    assert False


def test_teardown(sandbox):
    pass


def test_setup(provider):
    pass


@pytest.mark.xfail
def test_expected_to_fail():
    assert False


@pytest.mark.skip(reason="not today")
def test_skipped():
    pass
"""


def test_what_pytest_writes(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(PROJECT)
    (tmp_path / "test_broken.py").write_text("def broken(:")
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--continue-on-collection-errors"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", *options, "--rootdir=.", "--junitxml=out.xml"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True)
    file = in_memory((tmp_path / "out.xml").read_bytes(), "out.xml")
    assert recognised(file) == "junit"
    (results,) = format_named("junit").read([file])
    found = {trial.case.removeprefix("test_agent::"): trial for trial in results.trials}
    assert {case: trial.status for case, trial in found.items()} == {
        "test_broken": Status.ERROR,
        "test_answers[right]": Status.PASSED,
        "test_answers[wrong]": Status.FAILED,
        "test_answers[2026-11-22]": Status.PASSED,
        "test_answers[raises]": Status.FAILED,
        "test_answers[control \\x1b \\x00]": Status.PASSED,
        "test_wrong_and_teardown": Status.FAILED,
        "test_teardown": Status.ERROR,
        "test_setup": Status.ERROR,
        "test_expected_to_fail": Status.SKIPPED,
        "test_skipped": Status.SKIPPED,
    }
    right = found["test_answers[right]"]
    assert (right.usage.input_tokens, right.usage.cost_usd, right.scores["helpful"].value) == (100, 0.0002, 0.5)
    assert not results.notes
