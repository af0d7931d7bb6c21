"""The two stages of a fork's run: what the first one leaves, and what publishing it leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from evalward.action import run_action
from evalward.commands.baseline import update
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from support.echo_cases import CONFIG, cases
from support.git_repo import write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import workflow_run

NOW = "2026-11-21T08:00:00Z"


def world(env: dict[str, str] | None = None, cwd: Path = Path(), now: str = NOW) -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: now, env=env or {}, cwd=cwd)


def measured(folder: Path, *broken: str) -> Path:
    """The output folder that the first stage uploads."""
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases(*broken)})
    assert run(world(), RunOptions(folder / "evalward.yml", folder / "out")) == 0
    return folder / "out"


def updated(out: Path) -> bytes:
    """The baseline that is made of a report."""
    file = out.parent / "baseline.json"
    assert update(world(), out / "report.json", file) == 0
    return file.read_bytes()


@dataclass(frozen=True)
class Seen:
    """What publishing left."""

    code: int
    log: str
    outputs: str
    summary: str
    comment: str


Stage = Callable[..., Seen]


def staged(tmp_path: Path, api: FakeGitHub, now: str = NOW) -> Stage:
    """Publish a report (a record, or whatever bytes) as the action does."""

    def call(
        report: object = None, event: dict[str, Any] | None = None, *, event_name: str = "workflow_run", **inputs: str
    ) -> Seen:
        workspace = tmp_path / "workspace"
        (workspace / "first").mkdir(parents=True, exist_ok=True)
        if report is not None:
            data = report if isinstance(report, bytes) else json.dumps(report).encode()
            (workspace / "first" / "report.json").write_bytes(data)
        (tmp_path / "event.json").write_text(json.dumps(event or workflow_run()))
        outputs, summary = tmp_path / "outputs", tmp_path / "summary"
        env = {
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": "d" * 40,
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_RUN_ID": "99",
            "GITHUB_RUN_ATTEMPT": "1",
            "PATH": os.environ["PATH"],
            "INPUT_GITHUB-TOKEN": TOKEN,
            "INPUT_PUBLISH": "first",
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        here = world(env, now=now)
        code = run_action(here)
        assert isinstance(here.out, StringIO)
        bodies = api.bodies()
        text = summary.read_text("utf-8") if summary.exists() else ""
        return Seen(code, here.out.getvalue(), outputs.read_text("utf-8"), text, bodies[0] if bodies else "")

    return call
