"""The example of skills as users have it: it passes, its pull request goes red, and it needs no key."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import load_config
from evalward.suites.skill.spec import SkillSuite
from support import warm

EXAMPLE = Path(__file__).parents[2] / "examples" / "skills"
CONFUSED = 5  # queries for tables that the changed description takes


def evalward(*arguments: str) -> tuple[int, str]:
    """Exit code and everything that it said, run without any key."""
    done = warm.evalward(*arguments, env={"PATH": os.environ["PATH"], "COLUMNS": "160"})
    return done.returncode, done.stdout + done.stderr


def run_of(output: Path) -> dict[str, Any]:
    """The only run of a report."""
    (run,) = json.loads((output / "report.json").read_text("utf-8"))["runs"]
    assert isinstance(run, dict)
    return run


def test_the_example__proves_itself() -> None:
    code, said = evalward("validate", str(EXAMPLE / "evalward.yml"))
    assert code == 0, said
    assert "17 queries tried, 3 of 5 tasks solved by their solution, 2 tasks without a solution" in said
    warnings = [line for line in said.splitlines() if "warning: " in line]
    of_walls = [line for line in warnings if "partial isolation" in line or "`network: none` can't be enforced" in line]
    assert len(warnings) - len(of_walls) == 1, said  # of the judge, whose answers are written by hand


def test_the_example__passes__and_its_tasks_fail_without_their_skills(tmp_path: Path) -> None:
    config = str(EXAMPLE / "evalward.yml")
    code, said = evalward("check", "--config", config, "--output", str(tmp_path))
    assert code == 0, said
    run = run_of(tmp_path)
    assert {case["status"] for case in run["cases"]} == {"passed"}
    values = {name: metric["value"] for name, metric in run["metrics"].items()}
    assert (values["trigger_recall"], values["near_miss_rate"]) == (1.0, 0.0)
    assert (values["expectation_pass_rate"], values["without_pass_rate"]) == (1.0, 0.0)


def test_its_pull_request__fails_and_shows_the_description_and_the_confusion(tmp_path: Path) -> None:
    code, said = evalward("check", "--config", str(EXAMPLE / "pull-request.yml"), "--output", str(tmp_path))
    assert code == 1, said
    assert "trigger_recall fell 45.5 pp, confirmed by retrials" in " ".join(said.split())
    comment = (tmp_path / "comment.md").read_text("utf-8")
    surface = comment.index("**Skills: 1 changed**")
    broken = comment.index(f"<b>Broken: {CONFUSED + 1}</b>")
    assert surface < broken < comment.index("| `csv-report → text-digest` | 5 of 7 | 0 of 7 | text-digest |")
    assert "- Condenses a long text, such as an article" in comment
    assert "+ Summarises files of every kind for a report" in comment
    assert "| `(no skill) → text-digest` | 1 of 3 | 0 of 3 | text-digest |" in comment
    assert "Per task, against no skill: +100.0 pp, better" in comment
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    assert all(line in comment for line in readme.splitlines() if "→ text-digest` |" in line)


@pytest.mark.parametrize("name", ["evalward.yml", "claude-code.yml"])
def test_with_and_without_a_model__the_suite_is_the_same(name: str) -> None:
    """Only who is asked, how often and how long differs."""
    (suite,) = load_config(EXAMPLE / name).config.suites
    assert isinstance(suite, SkillSuite)
    assert (suite.skills, suite.cases, suite.without) == (["skills/*/SKILL.md"], ["evals.yaml"], True)


def test_the_pull_request__changes_one_description_and_nothing_else() -> None:
    before, after = (
        (EXAMPLE / folder / "text-digest" / "SKILL.md").read_text("utf-8").splitlines()
        for folder in ("skills", "after")
    )
    changed = [line for line, other in zip(before, after, strict=True) if line != other]
    assert [line.partition(":")[0] for line in changed] == ["description"]
