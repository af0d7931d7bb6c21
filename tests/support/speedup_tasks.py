"""A tiny optimisation task whose times are what its code says: files, a suite around it, and agents that change it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.records.case import Case
from evalward.records.trace import Trace, Usage
from evalward.suites.base import Prepared
from evalward.suites.speedup.kind import SPEEDUP
from evalward.suites.speedup.spec import SpeedupSuite
from evalward.suites.speedup.task import SpeedupCase
from evalward.targets.agents.base import AgentJob, AgentRun
from evalward.targets.base import Free
from support.git_repo import write_files

SLOW, FAST = "0.4", "0.1"
CODE = {
    "speed": SLOW + "\n",
    "answer": "right\n",
    # a time of the code's own, in the first round and all others; a line more of the clock each time
    "bench/run.sh": (
        'test -e crash && exit 3\nprintf \'{"m.S.time_a": %s, "m.S.time_b": 0.2}\' "$(cat speed)" > times.json\n'
    ),
    "tests/run.sh": (
        "bad=$(grep -c broken answer)\n"
        'printf \'{"passed": 3, "failed": %s, "error": 0, "skipped": 0}\' "$bad" > tests.json\nexit "$bad"\n'
    ),
    "tests/compare.sh": (
        "if grep -q right answer; then said=passed; else said=failed; fi\n"
        'printf \'{"out": "%s", "odd": "failed"}\' "$said" > compared.json\n'
    ),
}


def patch(file: str, before: str, now: str) -> str:
    """A change of a file of one line."""
    return f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{before}\n+{now}\n"


ORACLE = patch("speed", SLOW, FAST)


def task(**changes: Any) -> dict[str, Any]:
    """The task's file, as data."""
    return {
        "id": "tiny",
        "category": "small",
        "prompt": "Make it faster.",
        "folder": "code",
        "tests": {"command": "sh tests/run.sh", "json": "tests.json"},
        "benchmarks": {"command": "sh bench/run.sh", "format": "json", "output": "times.json"},
        "snapshots": {"command": "sh tests/compare.sh", "json": "compared.json"},
        "oracle": "oracle.patch",
        **changes,
    }


def write_task(place: Path, /, code: Mapping[str, str] = CODE, human: str = ORACLE, **changes: Any) -> None:
    """The task and its code in a folder."""
    files = {f"code/{path}": text for path, text in code.items()}
    write_files(place, {**files, "oracle.patch": human, "tiny.yaml": yaml.safe_dump(task(**changes), sort_keys=False)})


def write_suite(
    folder: Path, targets: list[str], patches: Mapping[str, str] | None = None, **suite: Any
) -> LoadedConfig:
    """A configuration of one suite; `patches`: name → the change of the task."""
    named = patches or {}
    write_files(folder, {f"patches/{name}/tiny.patch": text for name, text in named.items()})
    config = {
        "version": 1,
        "patches": {name: f"patches/{name}" for name in named},
        "suites": [{"name": "fast", "kind": "speedup", "cases": "*.yaml", "targets": targets, "rounds": 7, **suite}],
    }
    (folder / "evalward.yml").write_text(json.dumps({key: value for key, value in config.items() if value}))
    return load_config(folder / "evalward.yml")


def prepared(loaded: LoadedConfig) -> tuple[Prepared, SpeedupCase]:
    """The suite and its one case."""
    spec = loaded.config.suites[0]
    assert isinstance(spec, SpeedupSuite)
    suite = SPEEDUP.prepare(spec, loaded)
    return suite, suite.cases[0]


class Changing(Free):
    """An agent that does one thing to its workspace."""

    id = "agent:mine"
    random = True
    subject: Mapping[str, str] = {}

    def __init__(self, act: Callable[[Path], object]) -> None:
        self.act = act
        self.jobs: list[AgentJob] = []

    def open(self, case: Case, trial: int) -> Any:
        raise AssertionError("nobody talks to it")

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """Do it."""
        self.jobs.append(job)
        self.act(job.workspace.folder)
        return AgentRun(Trace(duration_ms=5, total=Usage(cost_usd=0.25)), "done", 0)
