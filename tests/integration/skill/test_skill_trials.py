"""Trials of skills: what is installed, which loads count, both arms, and what they come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.result import Status
from support.skill_runs import CSV_LINE, NEAR, QUERY, READ, ROUTED, SOLUTION, TASK, SkillBench, tried_skill


@pytest.fixture
def bench(tmp_path: Path) -> SkillBench:
    return SkillBench(tmp_path)


async def test_the_oracle_loads_what_is_wanted_and_nop_nothing(bench: SkillBench) -> None:
    done = await tried_skill(bench, "oracle", QUERY)
    assert (done.outcome.result.status, done.loaded) == (Status.PASSED, [("csv", "suite", "read")])
    assert (done.details.triggered, done.details.won, done.details.correct) == (True, "csv", True)
    assert CSV_LINE in done.files["transcript.raw.txt"]
    done = await tried_skill(bench, "nop", QUERY)
    assert (done.outcome.result.status, done.outcome.result.reason) == (Status.FAILED, "not_triggered")
    assert (done.details.triggered, done.details.won, done.loaded) == (False, None, [])
    for target in ("oracle", "nop"):
        done = await tried_skill(bench, target, NEAR)
        assert (done.outcome.result.status, done.details.triggered) == (Status.PASSED, False)


async def test_a_task_is_worked_on_with_its_skill_alone_and_without_any(bench: SkillBench) -> None:
    look = "ls -A . .agents/skills .claude/skills; ls -R .agents; test -x .claude/skills/csv/scripts/columns.sh"
    target = bench.script("look", look, READ.format("csv"), SOLUTION)
    for trial in (1, 2):
        done = await tried_skill(bench, target, TASK, trial=trial)
        result, (arm, other) = done.outcome.result, done.details.arms
        assert (result.status, result.score, result.max_score) == (Status.PASSED, 1.0, 1.0)
        assert [(each.arm, each.status, each.held, each.expectations) for each in (arm, other)] == [
            ("with", Status.PASSED, 1, 1),
            ("without", Status.FAILED, 0, 1),
        ]
        assert (done.loaded, other.loaded) == ([("csv", "suite", "read")], [])
        printed = done.outcome.trace.tool_calls[0]
        assert printed.exit_code == 0
        assert "xlsx" not in printed.stdout
        assert "notes" not in printed.stdout
        bare = done.outcome.trace.arms["without"].tool_calls[0].stdout
        assert bare == ".:\ntable.csv\n"
        assert done.files["fixture/answer.txt"].strip() == "3"
        assert "without/transcript.raw.txt" in done.files
        assert "metrics.json" not in done.files


async def test_the_right_skill_among_several_is_what_a_query_wants(bench: SkillBench) -> None:
    both = bench.script("both", READ.format("xlsx"), READ.format("csv"))
    done = await tried_skill(bench, both, ROUTED)
    assert (done.outcome.result.reason, done.details.won, done.details.correct) == ("unwanted_skill", "xlsx", False)
    one = bench.script("one", READ.format("xlsx"))
    done = await tried_skill(bench, one, ROUTED)
    assert (done.outcome.result.status, done.details.triggered) == (Status.PASSED, True)
