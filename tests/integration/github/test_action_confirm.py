"""The confirm stage in the action: the base's configuration says whether there is one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request
from support.live_runs import VARIABLE, Repo, model_of, task
from support.model_server import KEY, ModelServer
from support.moody import moody_model
from support.two_sides import two_sided

TASKS = [task(name) for name in ("one", "two", "three", "four", "five", "six")]
RULE = {"policy": [{"metric": "pass_rate", "max_drop": 0.02}]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of(TASKS)) as running:
        yield running


@pytest.fixture
def files(tmp_path: Path, server: ModelServer) -> dict[str, str]:
    """A base of five trials of each case, all passed; its configuration has no word on the stage."""
    repo = Repo(tmp_path / "base", server)
    repo.root.mkdir()
    repo.write(tasks=TASKS, more=RULE)
    assert repo.run("run", "--trials", "5").code == 0
    assert repo.run("baseline", "update").code == 0
    names = ("evalward.yml", "cases.jsonl", ".evalward/baseline.json")
    return {name: (repo.root / name).read_text("utf-8") for name in names}


def configured(files: dict[str, str], **more: object) -> str:
    return json.dumps({**json.loads(files["evalward.yml"]), **more})


def act(folder: Path, base: dict[str, str], head: dict[str, str]) -> tuple[int, str, str]:
    """Exit code, log and comment of the action on a pull request."""
    repo = pull_request_repo(folder / "workspace", base, head)
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        (folder / "event.json").write_text(json.dumps(pull_request(head=repo.head, base=repo.base)))
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(repo.folder),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
            VARIABLE: KEY,
        }
        log = StringIO()
        code = run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=env))
        return code, log.getvalue(), api.bodies()[0]


def test_head_that_switches_it_off__changes_nothing(tmp_path: Path, server: ModelServer, files: dict[str, str]) -> None:
    """The failures don't repeat; the head would rather have them judged as they are, or everything else relaxed."""
    server.settings = replace(server.settings, script=moody_model(TASKS, {"one": 1, "two": 1}))
    head = {"evalward.yml": configured(files, confirm="off", policy=[{"metric": "pass_rate", "max_drop": 1.0}])}
    code, log, comment = act(tmp_path, files, head)
    assert code == 0, log
    assert "Plan: trials 6, requests 12, tokens " in log
    assert "Failed cases are retried: at most 6 trials" in log  # by the base's policy
    assert "2 cases that failed were retried: 6 of 6 retrials passed" in comment
    assert "### ✅ Evalward: passed" in comment
    assert "edits its policy" in comment


def test_failures_that_repeat__fail_by_the_bases_rule(
    tmp_path: Path, server: ModelServer, files: dict[str, str]
) -> None:
    """They are the head's own: its prompt makes them, and the base's does not."""
    server.settings = replace(server.settings, script=two_sided(TASKS, heads=("one",)))
    config = json.loads(configured(files, confirm="off", policy=[{"metric": "pass_rate", "max_drop": 1.0}]))
    config["suites"][0]["system"] = "prompt.md"
    code, log, comment = act(tmp_path, files, {"evalward.yml": json.dumps(config), "prompt.md": "The heads way."})
    assert code == 1, log
    assert "1 case that failed was retried: 0 of 4 retrials passed" in comment


def test_head_that_switches_it_on__changes_nothing_either(
    tmp_path: Path, server: ModelServer, files: dict[str, str]
) -> None:
    server.settings = replace(server.settings, script=moody_model(TASKS, {"one": 1, "two": 1, "three": 1}))
    asked = len(server.requests)
    base = {**files, "evalward.yml": configured(files, confirm="off")}
    code, log, comment = act(tmp_path, base, {"evalward.yml": configured(files, confirm={"trials": 20, "at_most": 10})})
    assert len(server.requests) - asked == 2 * 6, log
    assert (code, "retrials passed" in comment) == (1, False)  # three of six, (1/6)³, and no one tried them again
