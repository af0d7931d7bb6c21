"""`evalward baseline commit` and `evalward accept` from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser, guarded
from evalward.commands.world import World
from support.git_repo import git, write_files
from support.github_api import REPOSITORY, TOKEN
from support.github_events import issue_comment
from support.github_repo import RepositoryGitHub, StoredPull, server_repository
from support.results import passes, report, result, run

CONFIG = """\
version: 1
baseline: base.json
suites:
  - {name: bash-tools, kind: bash, cases: evals/*.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[RepositoryGitHub]:
    server_repository(tmp_path, {"sub/evalward.yml": CONFIG})
    with RepositoryGitHub(tmp_path / "server.git") as server:
        yield server


def call(tmp_path: Path, api: RepositoryGitHub, *args: str, **env: str) -> tuple[int, str]:
    said = StringIO()
    base = {
        "PATH": "/usr/bin:/bin",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_API_URL": api.url,
        "GITHUB_REF": "refs/heads/main",
    }
    world = World(out=said, err=said, now=lambda: "2026-11-21T08:00:00Z", env={**base, **env}, cwd=tmp_path)
    parsed = build_parser().parse_args(args)
    code = guarded(world, lambda known: int(parsed.handler(known, parsed)))
    return code, said.getvalue()


def commit(
    tmp_path: Path, api: RepositoryGitHub, *more: str, good: bool = True, env: dict[str, str] | None = None
) -> tuple[int, str]:
    cases = passes(*"abcdefghij") if good else [result(case, "failed") for case in "abcdefghij"]
    text = report(run(cases, target="oracle")).model_dump_json(by_alias=True)
    write_files(tmp_path, {"r.json": text})
    config = str(tmp_path / "workspace" / "sub" / "evalward.yml")
    options = ("--config", config, "--report", str(tmp_path / "r.json"), *more)
    return call(tmp_path, api, "baseline", "commit", *options, **(env or {}))


def test_commit__by_push(tmp_path: Path, api: RepositoryGitHub) -> None:
    code, told = commit(tmp_path, api, "--to", "push")
    assert (code, "committed to main" in told) == (0, True), told
    assert json.loads(api.text("sub/base.json"))["schema"] == "evalward.baseline/1"
    assert commit(tmp_path, api, "--to", "push")[1].startswith("sub/base.json on main: no change.\n")
    assert commit(tmp_path, api, "--to", "push", good=False)[0] == 1
    assert git(tmp_path / "workspace", "status", "--porcelain") == ""


def test_commit__by_pull_request(tmp_path: Path, api: RepositoryGitHub) -> None:
    code, told = commit(tmp_path, api, "--to", "pull-request", "--pull-branch", "bots/baseline")
    assert (code, api.stored[8].head) == (0, "bots/baseline"), told
    assert f"https://github.com/{REPOSITORY}/pull/8" in told


def test_commit__pools(tmp_path: Path, api: RepositoryGitHub) -> None:
    for milliseconds in (11, 12):
        cases = [result(case, duration_ms=milliseconds) for case in "abcdefghij"]
        text = report(run(cases, target="anthropic/m", random=True)).model_dump_json(by_alias=True)
        write_files(tmp_path, {"r.json": text})
        config = str(tmp_path / "workspace" / "sub" / "evalward.yml")
        words = ("--config", config, "--report", str(tmp_path / "r.json"), "--to", "push", "--pool")
        assert call(tmp_path, api, "baseline", "commit", *words)[0] == 0
    [found] = json.loads(api.text("sub/base.json"))["runs"]
    assert {len(case["trials"]) for case in found["cases"]} == {2}


def test_commit__dry_run(tmp_path: Path, api: RepositoryGitHub) -> None:
    before = api.tip()
    code, told = commit(tmp_path, api, "--to", "push", "--dry-run")
    assert (code, api.tip(), "would be committed" in told) == (0, before, True)


@pytest.mark.parametrize(
    ("more", "env", "expected"),
    [
        (("--branch", "gone"), {}, (3, "no branch 'gone'")),
        ((), {"GITHUB_REF": "refs/tags/v1"}, (2, "no branch to write to")),
        ((), {"GITHUB_REPOSITORY": ""}, (2, "GITHUB_REPOSITORY is not set")),
        ((), {"GITHUB_TOKEN": ""}, (3, "No token")),
        (("--pull-branch", "../x"), {}, (2, "can't be a branch's name")),
    ],
)
def test_commit__what_is_wrong_is_told(
    tmp_path: Path, api: RepositoryGitHub, more: tuple[str, ...], env: dict[str, str], expected: tuple[int, str]
) -> None:
    code, why = expected
    found, told = commit(tmp_path, api, "--to", "push", *more, env=env)
    assert (found, why in told) == (code, True), told


def test_accept__tells_its_refusal_on_the_pull_request(tmp_path: Path, api: RepositoryGitHub) -> None:
    api.stored[7] = StoredPull(7, "main", "main")
    event = tmp_path / "event.json"
    event.write_text(json.dumps(issue_comment("/evalward accept why", user="mallory")), "utf-8")
    code, _ = call(tmp_path, api, "accept", GITHUB_EVENT_PATH=str(event), GITHUB_EVENT_NAME="issue_comment")
    assert code == 2
    assert "Only who may push" in api.bodies()[0]
