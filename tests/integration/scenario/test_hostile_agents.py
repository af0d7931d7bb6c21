"""What an agent does to break whoever looks at it counts against it, and breaks nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.result import Status
from support.scenario_runs import Bench, scenario, tried


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_file_too_large_to_read_fails_its_gates_and_is_no_error(bench: Bench) -> None:
    gates = [
        {"type": "file_contains", "path": "tasks.txt", "substring": "milk"},
        {"type": "file_matches", "path": "tasks.txt", "pattern": "milk"},
        {"type": "file_exists", "path": "tasks.txt"},
    ]
    agent = bench.script("s", "./todo add milk", "truncate -s 65M tasks.txt")
    done = await tried(bench, agent, scenario(evaluation={"gates": gates}))
    assert done.outcome.result.status is Status.FAILED
    assert done.gates == [False, False, True]
    assert done.outcome.result.checks[0].detail == "tasks.txt: the file is larger than 64 MiB"


async def test_names_that_no_artifact_can_have_are_left_out_and_told(bench: Bench) -> None:
    steps = (
        "./todo add milk; echo x > 'at 10:30'; mkdir 'why?'; echo x > 'why?/in'; echo x > \"$(printf 'a\\nb')\"",
        "echo x > \"$(printf '\\377')\"; echo x > plain.txt; ln -s /etc \"$(printf 'l\\033[31m')\"",
    )
    done = await tried(bench, bench.script("s", *steps), scenario())
    left = {path for path in done.files if path.startswith("fixture/")}
    assert left == {"fixture/AGENTS.md", "fixture/plain.txt", "fixture/tasks.txt", "fixture/todo"}
    assert sorted(done.files["fixture-left-out.txt"].splitlines()) == [
        r"\udcff: a name that an artifact can't have",
        r"a\nb: a name that an artifact can't have",
        "at 10:30: a name that an artifact can't have",
        r"l\x1b[31m -> /etc",
        "why?: a name that an artifact can't have",
    ]


async def test_an_agent_that_fills_the_disk_is_told_so(bench: Bench) -> None:
    bench.suite["limits"] = {"disk_mb": 20}
    fill = "i=0; while [ $i -lt 40 ]; do head -c 5000000 /dev/zero > fill$i; i=$((i+1)); done; sleep 20"
    bench.more["agents"] = {"own": {"command": ["sh", "-c", fill]}}
    done = await tried(bench, "agent:own", scenario())
    assert done.outcome.result.status is Status.FAILED
    assert done.outcome.result.message is not None
    assert done.outcome.result.message.endswith("the agent was ended: it used more than the suite's limits.disk_mb")


async def test_an_agent_that_worked_and_then_missed_a_program_has_failed_itself(bench: Bench) -> None:
    bench.more["agents"] = {"own": {"command": ["sh", "-c", "./todo create milk 2>/dev/null; no-such-program"]}}
    done = await tried(bench, "agent:own", scenario())
    assert done.outcome.result.status is Status.FAILED
    assert done.outcome.result.message is not None
    assert done.outcome.result.message.endswith("the agent ended with exit code 127")
