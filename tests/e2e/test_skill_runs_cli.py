"""Skill suites on the command line: proved, run, compared with a baseline, and gone on with; no key."""

from __future__ import annotations

import json
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
