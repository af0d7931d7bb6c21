"""The action after a step that ran another harness: it reads the files in the checkout, by the base's rules."""

from __future__ import annotations

import json
import os
import shutil
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request

EXAMPLE = Path(__file__).parents[3] / "examples" / "external" / "inspect"
CONFIG = """\
version: 1
suites:
  - {name: support-bot, kind: external, results: logs/*.eval}
policy:
  - {metric: pass_rate, max_drop: 0.02}
"""
LENIENT = CONFIG.replace("0.02", "1.0")


@pytest.fixture
def base() -> dict[str, str]:
    """The project with its baseline of five trials per case."""
    names = ("bot.py", "prompt.md", ".evalward/baseline.json")
    return {"evalward.yml": CONFIG, **{name: (EXAMPLE / name).read_text("utf-8") for name in names}}


def act(folder: Path, base: dict[str, str], head: dict[str, str], log: str | None) -> tuple[int, str, str]:
    """Exit code, output and comment of the action on a pull request, with a log that an earlier step left."""
    repo = pull_request_repo(folder / "workspace", base, head)
    if log is not None:
        (repo.folder / "logs").mkdir()
        shutil.copy(EXAMPLE / "outputs" / f"{log}.eval", repo.folder / "logs")
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
        }
        said = StringIO()
        code = run_action(World(out=said, err=said, now=lambda: "2026-11-23T08:00:00Z", env=env))
        return code, said.getvalue(), "".join(api.bodies()[:1])


def test_results_as_before_pass(tmp_path: Path, base: dict[str, str]) -> None:
    code, said, comment = act(tmp_path, base, {"README.md": "new\n"}, "before")
    assert code == 0, said
    assert "### ✅ Evalward: passed" in comment


def test_worse_results_fail__by_the_bases_rules(tmp_path: Path, base: dict[str, str]) -> None:
    prompt = (EXAMPLE / "prompt-after.md").read_text("utf-8")
    code, said, comment = act(tmp_path, base, {"prompt.md": prompt, "evalward.yml": LENIENT}, "after")
    assert code == 1, said
    assert "support_bot/return" in comment
    assert "support_bot/warranty" in comment
    assert "edits its policy" in comment


def test_a_step_that_left_nothing_is_no_pass(tmp_path: Path, base: dict[str, str]) -> None:
    code, said, _ = act(tmp_path, base, {"README.md": "new\n"}, None)
    assert code == 2
    assert "there is no result file" in said


def test_results_that_a_pull_request_brings_along_are_refused(tmp_path: Path, base: dict[str, str]) -> None:
    row = {"case": "support_bot/return", "status": "passed"}
    head = {"evalward.yml": CONFIG.replace("logs/*.eval", "forged/*.jsonl"), "forged/r.jsonl": json.dumps(row) + "\n"}
    code, said, _ = act(tmp_path, base, head, "after")
    assert code == 2
    assert "forged/r.jsonl::it is committed in the change under evaluation" in said


def test_what_passes_is_what_the_base_says(tmp_path: Path, base: dict[str, str]) -> None:
    strict = CONFIG.replace("results: logs/*.eval", "results: logs/*.eval, score: {includes: 0.7}")
    lax = CONFIG.replace("results: logs/*.eval", "results: logs/*.eval, score: {includes: 0.0}")
    code, said, _ = act(tmp_path, {**base, "evalward.yml": strict}, {"evalward.yml": lax}, "after")
    assert code == 1, said
