"""Skill suites on the command line: what a pull request that changes a description gets to read, and why it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support import warm
from support.skill_runs import QUERY, READ, SOLUTION, TASK, SkillBench

RULES = [{"metric": "trigger_recall", "max_drop": 0.05}, {"metric": "uplift_pass_rate", "must_beat": "without"}]


def evalward(bench: SkillBench, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(bench.root), "COLUMNS": "80"}
    return warm.evalward(*words, cwd=bench.root, env={**env, "PYTHONPATH": ":".join(sys.path)})


def agent(bench: SkillBench, skill: str) -> None:
    """An agent that loads this skill for the query, and does the task as its skill says."""
    steps = {"wanted": [READ.format(skill)], "count": [READ.format("csv"), SOLUTION]}
    (bench.root / "agent.json").write_text(json.dumps(steps), "utf-8")


def test_a_wider_description_that_takes_a_skills_queries__fails_and_is_shown(tmp_path: Path) -> None:
    bench = SkillBench(tmp_path, more={"policy": RULES})
    target = bench.script("agent")
    bench.write([target], QUERY, TASK)
    agent(bench, "csv")
    done = evalward(bench, "check")
    assert done.returncode == 0, done.stderr
    assert evalward(bench, "baseline", "update").returncode == 0

    xlsx = bench.root / "skills" / "xlsx" / "SKILL.md"
    xlsx.write_text(xlsx.read_text("utf-8").replace("Reads Excel workbooks", "Reads tables of any kind"), "utf-8")
    agent(bench, "xlsx")
    done = evalward(bench, "check")
    assert done.returncode == 1, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    output = bench.root / "evalward-out"
    judged = json.loads((output / "judgement.json").read_text("utf-8"))
    assert [each["metric"] for each in judged["verdict"]["reasons"]] == ["trigger_recall", "pass_rate"]
    contrasts = {each["metric"]: each for each in judged["comparison"]["runs"][0]["contrasts"]}
    contrast = contrasts["uplift_pass_rate"]
    assert (contrast["value"], contrast["trials"], contrast["p_better"]) == (1.0, [1], None)
    comment, page = ((output / name).read_text("utf-8") for name in ("comment.md", "report.html"))
    for text in (comment, page, done.stdout):
        assert "With and without" in text
        assert "Confused skills" in text
    assert "+ Reads tables of any kind." in comment
    assert "| `csv → xlsx` | 1 of 1 | 0 of 1 | xlsx |" in comment
    shown = evalward(bench, "show", "count").stdout
    assert "With and without the skill" in shown
    assert "1 of 1" in shown
