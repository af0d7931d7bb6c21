<<<<<<< HEAD
"""Skill suites on the command line: proved, run, compared with a baseline, and gone on with; no key."""
=======
"""Skill suites on the command line: what a pull request that changes a description gets to read, and why it fails."""
>>>>>>> act33

from __future__ import annotations

import json
<<<<<<< HEAD
from pathlib import Path
from typing import Any

import pytest

from evalward.cli import main
from support.skill_runs import NEAR, QUERY, READ, ROUTED, SOLUTION, TASK, SkillBench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SkillBench:
    monkeypatch.chdir(tmp_path)
    return SkillBench(tmp_path)


def code_of(*words: str) -> int:
    """What the command line ends with."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


def report(bench: SkillBench, name: str = "report.json") -> Any:
    return json.loads((bench.root / "evalward-out" / name).read_text("utf-8"))


def test_skills_are_proved_run_compared_and_gone_on_with(bench: SkillBench, capsys: pytest.CaptureFixture[str]) -> None:
    agent = bench.script("agent", READ.format("csv"), SOLUTION)
    bench.write([agent, "oracle", "nop"], QUERY, NEAR, ROUTED, TASK)
    assert code_of("validate", "evalward.yml") == 0
    assert "3 queries tried, 1 of 1 tasks solved by their solution" in capsys.readouterr().out
    assert code_of("run") == 0
    rates = {run["target"]: run["metrics"]["pass_rate"]["value"] for run in report(bench)["runs"]}
    assert rates == {agent: 0.5, "oracle": 1.0, "nop": 0.25}
    task = next(case for case in report(bench)["runs"][0]["cases"] if case["id"] == "count")
    assert [arm["status"] for arm in task["details"]["arms"]] == ["passed", "failed"]
    assert (bench.root / "evalward-out" / task["details"]["artifacts"] / "without" / "transcript.raw.txt").is_file()
    assert code_of("baseline", "update") == 0

    trials = sorted((bench.root / "evalward-out" / "trials").rglob("*.json"))
    kept = {path: path.stat().st_mtime_ns for path in trials[1:]}
    trials[0].unlink()
    assert code_of("run", "--resume") == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert trials[0].is_file()

    assert code_of("check") == 0
    script = bench.root / "skills" / "csv" / "scripts" / "columns.sh"
    script.write_text("#!/bin/sh\necho 7\n", "utf-8")
    assert code_of("check") == 1
    runs = report(bench, "judgement.json")["comparison"]["runs"]
    broken = {run["target"]: [case["id"] for case in run["cases"] if case["change"] == "broken"] for run in runs}
    assert broken == {agent: ["count"], "oracle": ["count"], "nop": []}
    assert [part["part"] for part in runs[0]["subject"]] == ["skill:csv"]
=======
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
>>>>>>> act33
