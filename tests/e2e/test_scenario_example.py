"""The scenario example as users have it: it passes, its pull request shows every way to fail, and it needs no key."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.showing import shown_whole

EXAMPLE = Path(__file__).parents[2] / "examples" / "scenarios"


def evalward(*arguments: str) -> tuple[int, str]:
    """Exit code and everything that it said, run without any key."""
    done = warm.evalward(*arguments, env={"PATH": os.environ["PATH"]})
    return done.returncode, done.stdout + done.stderr


def cases(output: Path, target: str) -> dict[str, dict[str, Any]]:
    """The results of a target, by case."""
    report = json.loads((output / "report.json").read_text("utf-8"))
    (run,) = [run for run in report["runs"] if run["target"] == target]
    return {case["id"]: case for case in run["cases"]}


def test_the_example__proves_itself() -> None:
    code, said = evalward("validate", str(EXAMPLE / "evalward.yml"))

    assert code == 0, said
    assert "3 of 3 solutions run" in said


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the example, which its baseline judges."""
    output = tmp_path_factory.mktemp("good")
    code, said = evalward("check", "--config", str(EXAMPLE / "evalward.yml"), "--output", str(output))
    assert code == 0, said
    assert "nothing got worse" in said
    return output


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of its pull request."""
    output = tmp_path_factory.mktemp("bad")
    code, said = evalward("check", "--config", str(EXAMPLE / "pull-request.yml"), "--output", str(output))
    assert code == 1, said
    assert "redefined" not in said
    return output


def test_the_example__passes_with_every_agent(good: Path) -> None:
    for target in ("oracle", "scripted:tidy", "scripted:hasty"):
        assert {case["status"] for case in cases(good, target).values()} == {"passed"}
    hasty = cases(good, "scripted:hasty")["move-house"]["details"]
    assert (hasty["interaction"]["total_commands"], hasty["interaction"]["error_count"]) == (5, 2)
    assert hasty["interaction"]["per_subcommand"]["move"]["retries_after_failure"] == 2
    assert hasty["composite_score"] == pytest.approx(0.8 + 0.2 * 1 / 5)
    assert cases(good, "oracle")["stock-the-pantry"]["details"]["evaluators"][0]["score"] == 1.0


def test_the_pull_request__shows_a_pass_a_gate_a_time_out_and_a_crash(bad: Path) -> None:
    tidy, hasty = cases(bad, "scripted:tidy"), cases(bad, "scripted:hasty")

    assert hasty["stock-the-pantry"]["status"] == "passed"
    gate = hasty["move-house"]
    assert (gate["status"], gate["reason"], gate["details"]["completed"]) == ("failed", "gates_failed", True)
    late = hasty["take-stock"]
    assert (late["status"], late["details"]["completed"]) == ("failed", False)
    assert "the agent was ended after 20 s" in late["message"]
    crash = tidy["stock-the-pantry"]
    assert (crash["status"], crash["details"]["completed"]) == ("failed", False)
    assert "the agent ended with exit code 139" in crash["message"]


def test_the_pull_request__is_told_in_the_comment(bad: Path) -> None:
    text = (bad / "comment.md").read_text("utf-8").replace("&nbsp;", " ")

    assert "| scenario | `oracle` | `scripted:tidy` | `scripted:hasty` |" in text
    assert "| `move-house` | ✅ passed | ✅ passed | ❌ failed, gates 3/5 |" in text
    assert "| `take-stock` | ❌ failed; passed in the baseline | 1/3 |" in text
    assert "`move` is retried again and again: its error messages don't help" in text
    assert "Broken: 3" in text
    junit = (bad / "junit.xml").read_text("utf-8")
    assert "isn't in inventory.txt" in junit


def test_the_example__leaves_its_artifacts(good: Path) -> None:
    (folder,) = (good / "artifacts" / "shelf").glob("oracle/move-house.1")

    assert {"transcript.raw.txt", "events.jsonl", "metrics.json", "evaluation.md", "fixture"} <= {
        path.name for path in folder.iterdir()
    }
    assert "ladder" in (folder / "fixture" / "inventory.txt").read_text("utf-8")
    assert json.loads((folder / "fixture" / "exported.json").read_text("utf-8"))["version"] == 1


def test_the_example__shows_every_trial_with_its_files(bad: Path) -> None:
    text = shown_whole(bad / "report.json")
    assert "By subcommand" in text
    assert "File fixture/inventory.txt" in text
    assert "File fixture/AGENTS.md" in text


def test_the_commands_of_the_comment_show_what_broke(bad: Path) -> None:
    commands = re.findall(r"→ `evalward (show [^`]*)`", (bad / "comment.md").read_text("utf-8"))
    assert len(commands) == 3
    for command in commands:
        code, said = evalward(*shlex.split(command))
        assert code == 0
        assert said.startswith("✗ failed: ")
