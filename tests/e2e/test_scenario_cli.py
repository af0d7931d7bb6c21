"""Scenario suites on the command line: real processes, scripted agents, no key."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.scenario_runs import Bench, scenario

CANARY = "canary-9b1f77aa02"


def evalward(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    """A process with a secret in its environment."""
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(bench.root), "SOME_API_KEY": CANARY, "COLUMNS": "160"}
    inherited = {"PYTHONPATH": ":".join(sys.path)}
    return warm.evalward(*words, cwd=bench.root, env={**env, **inherited})


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A suite of two scenarios, with a scripted agent that does both tasks and looks around."""
    made = Bench(tmp_path)
    made.more["policy"] = [{"metric": "outcome_pass_rate", "floor": 0.9}]
    target = made.script("agent", "./todo add milk", "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    made.write([target], scenario("one"), scenario("two"))
    return made


def write_alone(bench: Bench, only: dict[str, Any]) -> None:
    """This scenario in the place of the two."""
    for name in ("one", "two"):
        (bench.root / "evals" / f"{name}.yaml").unlink()
    bench.write(["oracle", "scripted:agent"], only)


def test_validate_proves_scenarios(bench: Bench) -> None:
    done = evalward(bench, "validate", "evalward.yml")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 solutions run, and doing nothing tried on 2 scenarios" in done.stdout


def test_validate_names_what_proves_nothing(bench: Bench) -> None:
    free = scenario("three", evaluation={"gates": [{"type": "file_exists", "path": "AGENTS.md"}]})
    write_alone(bench, free)
    done = evalward(bench, "validate", "evalward.yml")
    assert done.returncode == 2
    assert "evals/three.yaml:" in done.stderr
    assert "all gates of 'three' pass when nothing is done" in done.stderr


def test_validate_tells_what_is_odd_and_no_mistake(bench: Bench) -> None:
    write_alone(bench, {**scenario("three"), "colour": "red"})
    done = evalward(bench, "validate", "evalward.yml")
    assert done.returncode == 0, done.stderr
    assert "warning: evals/three.yaml:" in done.stdout
    assert "colour" in done.stdout


@pytest.mark.cold  # what the agent finds in /proc is what processes were started with
def test_run_and_baseline_hold_no_secret(bench: Bench) -> None:
    done = evalward(bench, "run")
    assert done.returncode == 0, done.stderr
    output = bench.root / "evalward-out"
    assert not [p for p in output.rglob("*") if p.is_file() and CANARY in p.read_text("utf-8", errors="replace")]
    assert evalward(bench, "baseline", "update").returncode == 0
    assert CANARY not in (bench.root / ".evalward" / "baseline.json").read_text("utf-8")


def test_run_baseline_and_check_of_a_tool_that_broke(bench: Bench) -> None:
    done = evalward(bench, "run")
    assert done.returncode == 0, done.stderr
    output = bench.root / "evalward-out"
    (run,) = json.loads((output / "report.json").read_text("utf-8"))["runs"]
    assert (run["kind"], run["metrics"]["outcome_pass_rate"]["value"]) == ("scenario", 1.0)
    assert (output / run["cases"][0]["details"]["artifacts"] / "evaluation.md").is_file()
    assert evalward(bench, "baseline", "update").returncode == 0
    assert evalward(bench, "check").returncode == 0

    tool = bench.root / "evals" / "fixture" / "todo"
    tool.write_text(tool.read_text("utf-8").replace("  add)", "  insert)"), "utf-8")
    done = evalward(bench, "check")
    assert done.returncode == 1, done.stderr
    judged = json.loads((output / "judgement.json").read_text("utf-8"))
    (run,) = judged["comparison"]["runs"]
    assert [case["change"] for case in run["cases"]] == ["broken", "broken"]
    assert run["cases"][0]["command"] == "todo add milk"
    assert {part["part"] for part in run["subject"]} == {"tool"}
    comment = (output / "comment.md").read_text("utf-8")
    assert "todo: unknown command add" in comment


def test_an_agent_in_a_bash_suite_is_refused(bench: Bench) -> None:
    config = json.loads((bench.root / "evalward.yml").read_text("utf-8"))
    config["suites"].append({"name": "b", "kind": "bash", "cases": "b.jsonl", "targets": ["claude-code/sonnet"]})
    (bench.root / "evalward.yml").write_text(json.dumps(config, indent=1), "utf-8")
    done = evalward(bench, "run")
    assert done.returncode == 2
    assert "is an agent, which works by itself; suites of kind bash have none" in done.stderr
