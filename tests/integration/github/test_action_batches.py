"""Batches in the action: scheduled runs and updates of the baseline can wait, checks can't."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request, push
from support.live_runs import CLAUDE, VARIABLE, Repo, model_of, task
from support.model_server import KEY, ModelServer

TASKS = [task("one"), task("two")]


def act(
    folder: Path, server: ModelServer, event: str, inputs: Mapping[str, str], more: Mapping[str, object]
) -> tuple[int, int]:
    """How many requests the action sends in batches on an event, and how many live."""
    written = Repo(folder / "base", server)
    written.root.mkdir()
    written.write([CLAUDE], TASKS, more=more)
    base = {name: (written.root / name).read_text("utf-8") for name in ("evalward.yml", "cases.jsonl")}
    repo = pull_request_repo(folder / "workspace", base, {"README.md": "New.\n"})
    payload = {
        "pull_request": pull_request(head=repo.head, base=repo.base),
        "push": push(repo.base, repo.merge),
        "schedule": {"schedule": "0 0 * * *"},
        "workflow_dispatch": {"ref": "refs/heads/main", "inputs": None},
    }[event]
    (folder / "event.json").write_text(json.dumps(payload))
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(repo.folder),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
            VARIABLE: KEY,
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }
        said = StringIO()
        run_action(World(out=said, err=said, now=lambda: "2026-11-23T08:00:00Z", env=env))
    sent = sum(len(batch.lines) for batch in server.batches.made.values())
    assert sent + len(server.requests) > 0, said.getvalue()
    return sent, sum("batches" not in logged.path for logged in server.requests)


@pytest.mark.parametrize(
    ("event", "inputs", "waits"),
    [
        ("schedule", {}, True),
        ("workflow_dispatch", {"mode": "update-baseline", "baseline-to": "pull-request"}, True),
        ("workflow_dispatch", {}, False),
        ("push", {}, False),
        ("pull_request", {}, False),
    ],
)
def test_what_can_wait_goes_in_batches(event: str, inputs: Mapping[str, str], waits: bool, tmp_path: Path) -> None:
    with ModelServer(model_of(TASKS)) as server:
        found = act(tmp_path, server, event, inputs, {"batch": {"wait": "5h"}})
    assert found == ((4, 0) if waits else (0, 4))


def test_nothing_does_where_the_configuration_says_nothing(tmp_path: Path) -> None:
    with ModelServer(model_of(TASKS)) as server:
        assert act(tmp_path, server, "schedule", {}, {}) == (0, 4)
