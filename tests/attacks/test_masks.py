"""Lines that make a workflow's runner hide keys would print them everywhere else: on a terminal, in a pipe, a file."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.cli import build_parser
from evalward.commands.world import World
from support.github_api import REPOSITORY, TOKEN
from support.github_events import ZERO, pull_request, push, workflow_run

pytestmark = pytest.mark.cold

KEY = "sk-canary-0123456789"
EVENTS = {
    "push": push(ZERO, "d" * 40),
    "pull_request": pull_request("closed"),
    "workflow_run": workflow_run(event="push"),
    "issue_comment": {"action": "created"},
}


def said(folder: Path, event_name: str, env: dict[str, str]) -> str:
    """All that a run of the action writes to its log."""
    (folder / "event.json").write_text(json.dumps(EVENTS[event_name]))
    (folder / "workspace").mkdir()
    (folder / "workspace" / "evalward.yml").write_text("version: 7\n")
    log = StringIO()
    variables = {
        "PATH": "/usr/bin:/bin",
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": event_name,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": "d" * 40,
        "INPUT_GITHUB-TOKEN": TOKEN,
        "MODEL_KEY": KEY,
        **env,
    }
    run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=variables))
    return log.getvalue()


@pytest.mark.parametrize("event_name", EVENTS)
def test_keys__are_not_printed_where_no_runner_reads_masks(event_name: str, tmp_path: Path) -> None:
    env = {"INPUT_PUBLISH": "first"} if event_name == "workflow_run" else {}
    env |= {"INPUT_MODE": "accept"} if event_name == "issue_comment" else {}
    log = said(tmp_path, event_name, env)
    assert log
    assert KEY not in log
    assert TOKEN not in log


def test_keys__are_masked_where_a_runner_reads_that(tmp_path: Path) -> None:
    log = said(tmp_path, "push", {"GITHUB_ACTIONS": "true"})
    assert f"::add-mask::{KEY}\n" in log
    assert f"::add-mask::{TOKEN}\n" in log


def test_publish__prints_no_key_on_a_command_line(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text(json.dumps(EVENTS["workflow_run"]))
    env = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_TOKEN": TOKEN,
        "MODEL_KEY": KEY,
    }
    log = StringIO()
    args = build_parser().parse_args(["publish", "first"])
    args.handler(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=env, cwd=tmp_path), args)
    assert "nothing to publish" in log.getvalue()
    assert TOKEN not in log.getvalue()
    assert KEY not in log.getvalue()
