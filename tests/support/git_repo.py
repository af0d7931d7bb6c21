"""Real git repositories in a test's own folder, the way GitHub makes them for pull requests."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_WHO = {"NAME": "Test", "EMAIL": "test@example.com", "DATE": "2026-01-01T00:00:00Z"}


def git(folder: Path, *args: str) -> str:
    """One git command's output; without the user's configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    env |= {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in _WHO.items()}
    options = ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "safe.directory=*"]
    done = subprocess.run(["git", *options, *args], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {args}: {done.stderr}"
    return done.stdout.strip()


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Writes files by path."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(folder: Path, files: Mapping[str, str | bytes], message: str = "change") -> str:
    """Writes and commits files; returns the commit."""
    write_files(folder, files)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return head_of(folder)


def head_of(folder: Path) -> str:
    """The commit that is checked out; read from git's files, which takes no process."""
    head = (folder / ".git" / "HEAD").read_text("utf-8").strip()
    return (folder / ".git" / head.removeprefix("ref: ")).read_text("utf-8").strip() if "ref: " in head else head


def init(folder: Path) -> Path:
    """An empty repository: a copy of one that git has made. The folder is open to all, as a checkout is."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_empty() / ".git", folder / ".git", dirs_exist_ok=True)
    return folder


@cache
def _empty() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evalward-empty-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    git(folder, "init", "--quiet", "--template=")
    return folder


@dataclass(frozen=True)
class PullRequestRepo:
    """A repository with a pull request's merge commit checked out. `fork_point` is where the branch started."""

    folder: Path
    fork_point: str
    base: str
    head: str
    merge: str


def pull_request_repo(
    folder: Path, base_files: Mapping[str, str | bytes], head_files: Mapping[str, str | bytes]
) -> PullRequestRepo:
    """The branch changes `head_files`; meanwhile the base moved on by one commit; HEAD is the merge of both."""
    init(folder)
    fork_point = commit(folder, base_files, "base")
    git(folder, "checkout", "--quiet", "-b", "topic")
    head = commit(folder, head_files, "head")
    git(folder, "checkout", "--quiet", "main")
    base = commit(folder, {"moved.txt": "on\n"}, "base moves on")
    git(folder, "checkout", "--quiet", "--detach", "main")
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", "topic")
    return PullRequestRepo(folder, fork_point, base, head, head_of(folder))


def shallow_clone(repo: PullRequestRepo, folder: Path) -> Path:
    """What the checkout action makes: the merge commit alone, its parents cut off."""
    git(repo.folder, "update-ref", "refs/pull/7/merge", repo.merge)
    init(folder)
    git(folder, "fetch", "--quiet", "--depth=1", f"file://{repo.folder}", "refs/pull/7/merge")
    git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return folder
