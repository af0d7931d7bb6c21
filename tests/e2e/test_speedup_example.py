"""The example of optimisation tasks: measured, gated, proved, as users run it.

Benchmarks run for real, so that these tests take seconds; the second task needs pytest-benchmark (in the `dev` extra).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from support import warm
from support.showing import shown_whole

EXAMPLE = Path(__file__).parents[2] / "examples" / "speedup"
TASKS = ["orders", "words"]


def with_rounds(rounds: int, folder: Path) -> Path:
    """The example with fewer rounds of measuring than seven, for what needs no exact times."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("evalward-out"))
    for config in folder.glob("*.yml"):
        text = config.read_text("utf-8")
        assert "rounds: 7" in text
        config.write_text(text.replace("rounds: 7", f"rounds: {rounds}"), "utf-8")
    return folder


def evalward(folder: Path, *words: str) -> CompletedProcess[str]:
    return warm.evalward(*words, cwd=folder, env={"PATH": os.environ["PATH"]})


def measured(output: Path, target: str) -> dict[str, Any]:
    report = json.loads((output / "report.json").read_text("utf-8"))
    found: dict[str, Any] = next(run for run in report["runs"] if run["target"] == target)
    return found


def check(folder: Path, output: Path, task: str, config: str) -> tuple[CompletedProcess[str], dict[str, Any]]:
    done = evalward(folder, "check", "--config", config, "--case", task, "--output", str(output))
    assert done.returncode in {0, 1}, done.stderr
    return done, measured(output, "patch:agent")


@pytest.mark.parametrize(("task", "rounds"), [("orders", 3), ("words", 1)])
def test_a_change_that_wins_passes(tmp_path: Path, task: str, rounds: int) -> None:
    done, run = check(with_rounds(rounds, tmp_path / "example"), tmp_path / "out", task, "evalward.yml")
    assert done.returncode == 0, done.stdout
    details = run["cases"][0]["details"]
    assert (run["cases"][0]["status"], details["fallback_to_baseline"]) == ("passed", False)
    assert details["task_speedup"] > 1.5
    samples = [each["samples"][side] for each in details["benchmarks"] for side in ("nop", "oracle", "agent")]
    assert [len(each) for each in samples] == [rounds] * len(samples)
    assert samples
    assert "human patch" in shown_whole(tmp_path / "out" / "report.json")


@pytest.mark.parametrize("task", TASKS)
def test_a_faster_wrong_answer_falls_back_and_the_gate_fails(tmp_path: Path, task: str) -> None:
    done, run = check(with_rounds(1, tmp_path / "example"), tmp_path / "out", task, "pull-request.yml")
    assert done.returncode == 1
    case = run["cases"][0]
    assert (case["status"], case["details"]["task_speedup"]) == ("failed", 1.0)
    assert case["reason"] == {"orders": "tests_failed", "words": "snapshot_failed"}[task]
    assert any(each["raw_agent"] > 1.5 for each in case["details"]["benchmarks"])
    assert "mean_success_rate" in done.stdout


def test_the_tasks_tell_right_from_wrong() -> None:
    """Beyond chance, which takes the rounds that the example asks for: nothing is changed here."""
    done = evalward(EXAMPLE, "validate", "evalward.yml")
    assert done.returncode == 0, done.stderr
    assert "2 tasks measured with nop and oracle in turns, 2 patches tried" in done.stdout + done.stderr
