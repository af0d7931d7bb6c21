"""A repository on the fake GitHub in which the action runs, as its workflows would start it."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from evalward.action import run_action
from evalward.commands.world import World
from evalward.decide.baseline import read_baseline
from support.echo_cases import CONFIG, cases
from support.git_repo import git
from support.github_api import REPOSITORY, TOKEN
from support.github_events import issue_comment, labeled, push
from support.github_repo import RepositoryGitHub, StoredPull, StoredRun, server_repository, zipped

BASELINE = ".evalward/baseline.json"
MAINTAINER = "mona"


@dataclass(frozen=True)
class Seen:
    """What a run of the action left."""

    code: int
    log: str
    outputs: str
    summary: str


@dataclass
class Site:
    """The server with its repository, and a workspace in which the action runs."""

    api: RepositoryGitHub
    folder: Path
    runs: int = 10

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def push(self, files: Mapping[str, str], branch: str = "main") -> tuple[str, str]:
        """Commits before and after."""
        before = self.api.tip(branch) or self.api.tip()
        content = {name: text.encode() for name, text in files.items()}
        return before, self.api.write(branch, content, "change", parent=before)

    def checkout(self, sha: str) -> None:
        git(self.workspace, "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
        git(self.workspace, "checkout", "--quiet", "--detach", sha)

    def act(
        self,
        event: str,
        payload: Mapping[str, Any],
        sha: str,
        *,
        now: str = "2026-11-21T08:00:00Z",
        attempt: str = "1",
        **inputs: str,
    ) -> Seen:
        """Run the action with `sha` checked out, as GitHub does for this event."""
        self.runs += 1
        self.checkout(sha)
        before = git(self.workspace, "status", "--porcelain", "--", ".", ":!evalward-out")
        path, outputs, summary = (self.folder / f"{name}{self.runs}" for name in ("event", "outputs", "summary"))
        path.write_text(json.dumps(payload), "utf-8")
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": sha,
            "GITHUB_REF": payload.get("ref", "refs/heads/main"),
            "GITHUB_API_URL": self.api.url,
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_RUN_ATTEMPT": attempt,
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "INPUT_GITHUB-TOKEN": TOKEN,
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        out = StringIO()
        code = run_action(World(out=out, err=StringIO(), now=lambda: now, env=env))
        assert git(self.workspace, "status", "--porcelain", "--", ".", ":!evalward-out") == before
        assert git(self.workspace, "rev-parse", "HEAD") == sha
        text = summary.read_text("utf-8") if summary.exists() else ""
        return Seen(code, out.getvalue(), outputs.read_text("utf-8"), text)

    def update(self, pair: tuple[str, str], **inputs: str) -> Seen:
        """A push to main, with the mode that updates."""
        return self.act("push", push(*pair), pair[1], mode="update-baseline", **inputs)

    def passed(self, branch: str = "main") -> int:
        """Passed cases of the committed baseline."""
        found = read_baseline(self.api.text(BASELINE, branch), "b")
        return sum(case.trials[0].status == "passed" for run in found.runs for case in run.cases)


@contextmanager
def new_site(folder: Path) -> Iterator[Site]:
    """A repository with a config and five cases, no baseline, and people of all permissions."""
    server_repository(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    with RepositoryGitHub(folder / "server.git") as api:
        api.people = {MAINTAINER: "write", "admin": "admin", "reader": "read", "triager": "triage"}
        yield Site(api, folder)


def topic(site: Site, *broken: str) -> str:
    """A pull request #7 that breaks cases, measured: our comment is there, and the artifact. Returns its head."""
    if "baseline.json" not in git(site.api.repo, "ls-tree", "-r", "--name-only", "main"):
        site.update(site.push({"README.md": "x"}))
    _, head = site.push({"evals/a.jsonl": cases(*(broken or ("one", "two", "three")))}, "topic")
    site.api.stored[7] = StoredPull(7, "topic", "main")
    return head


def measured(site: Site, head: str) -> Seen:
    """The check of a pull request's head: its comment, and its artifact."""
    payload = labeled(head, "other", MAINTAINER, site.api.tip()) | {"action": "synchronize"}
    seen = site.act("pull_request", payload, head)
    report = (site.workspace / "evalward-out" / "report.json").read_bytes()
    site.api.runs[site.runs] = StoredRun(head, artifacts={"evalward": zipped({"report.json": report})})
    return seen


@dataclass(frozen=True)
class _Kept:
    """A site as it was: its files, what the server knows, and how many runs there were."""

    folder: Path
    known: Mapping[str, Any]
    runs: int

    def copy_to(self, site: Site) -> None:
        for kept in self.folder.iterdir():  # git makes files that only root could write over
            if kept.is_dir():
                shutil.rmtree(site.folder / kept.name, ignore_errors=True)
        shutil.copytree(self.folder, site.folder, symlinks=True, dirs_exist_ok=True)
        config = site.workspace / ".git" / "config"
        config.write_text(config.read_text("utf-8").replace(str(self.folder), str(site.folder)), "utf-8")
        vars(site.api).update(deepcopy(dict(self.known)))
        site.runs = self.runs


OF_THE_PROCESS = {"_server", "_thread", "_lock", "url", "repo"}  # the server's own, which no other one has


@cache
def _judged() -> _Kept:
    folder = Path(tempfile.mkdtemp(prefix="evalward-judged-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with new_site(folder) as site:
        assert measured(site, topic(site)).code == 1
        known = {name: value for name, value in vars(site.api).items() if name not in OF_THE_PROCESS}
        return _Kept(folder, deepcopy(known), site.runs)


def judged(site: Site) -> str:
    """A pull request #7 that breaks three cases, measured: once for all tests, of which each gets a copy. Its head."""
    _judged().copy_to(site)
    return site.api.tip("topic")


def accept(
    site: Site,
    body: str = "/evalward accept slower, but safer",
    user: str = MAINTAINER,
    comment: int = 77,
    **inputs: str,
) -> Seen:
    """A comment on the pull request, in a workflow on the default branch."""
    payload = issue_comment(body, user=user, comment=comment)
    return site.act(
        "issue_comment", payload, site.api.tip(), **{"mode": "accept", "status": "evalward ({base})", **inputs}
    )


def answer(site: Site) -> str:
    return site.api.bodies()[-1]
