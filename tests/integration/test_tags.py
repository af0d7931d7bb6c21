"""Tags as git's objects have them: of what HEAD was built upon, with their commits and times."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalward.git import GitTree
from support.git_repo import commit, git, init

ODD = "odd\u2028name\u0085"  # what Python takes for the end of a line, and git for a part of a name


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    init(tmp_path)
    commit(tmp_path, {"a": "1\n"})
    return tmp_path


def tree(folder: Path) -> GitTree:
    return GitTree(folder, search_path=os.environ["PATH"])


def tag(folder: Path, name: str, date: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "tag", "-a", "-m", "x", name],
        cwd=folder, check=True, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_COMMITTER_DATE": date},
    )  # fmt: skip


def test_times__are_in_utc_and_of_a_plain_tag_its_commits(repo: Path) -> None:
    tag(repo, "v1", "2026-03-01T01:30:00+02:00")
    git(repo, "tag", "v2")
    made = datetime.fromtimestamp(int(git(repo, "show", "-s", "--format=%ct", "HEAD")), UTC)
    assert tree(repo).tag_times() == {"v1": "2026-02-28T23:30:00Z", "v2": made.strftime("%Y-%m-%dT%H:%M:%SZ")}


def test_tags__of_other_branches_are_not_among_them(repo: Path) -> None:
    git(repo, "tag", "v1")
    git(repo, "checkout", "--quiet", "-b", "other")
    commit(repo, {"a": "2\n"})
    git(repo, "tag", "v2")
    git(repo, "checkout", "--quiet", "-")
    times, tags = tree(repo).tag_times(), tree(repo).tags()
    assert times is not None
    assert tags is not None
    assert times.keys() == tags.keys() == {"v1"}


def test_tags__with_odd_names(repo: Path) -> None:
    git(repo, "tag", ODD)
    head = git(repo, "rev-parse", "HEAD")
    assert tree(repo).tags() == {ODD: head}
    times = tree(repo).tag_times()
    assert times is not None
    assert list(times) == [ODD]


def test_tags__of_a_shallow_clone_are_unknown(repo: Path, tmp_path: Path) -> None:
    git(repo, "tag", "v1")
    commit(repo, {"a": "2\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", str(tmp_path / "clone"))
    assert tree(tmp_path / "clone").tag_times() is None
    assert tree(tmp_path / "clone").tags() is None


@pytest.mark.parametrize("there", [True, False])
def test_tags__where_there_are_none(tmp_path: Path, there: bool) -> None:
    if there:
        init(tmp_path)
    assert tree(tmp_path).tag_times() == tree(tmp_path).tags() == {}


def test_times__that_no_calendar_has_are_left_out(repo: Path) -> None:
    body = git(repo, "rev-parse", "HEAD")
    for name, seconds in (("v1", "99999999999999999"), ("v2", "1700000000")):
        text = f"object {body}\ntype commit\ntag {name}\ntagger a <a@b> {seconds} +0000\n\nx\n"
        words = ["git", "hash-object", "-t", "tag", "-w", "--stdin", "--literally"]
        made = subprocess.run(words, cwd=repo, check=True, capture_output=True, input=text.encode())
        git(repo, "update-ref", f"refs/tags/{name}", made.stdout.decode().strip())
    found = tree(repo).tag_times()
    assert found is not None
    assert found["v2"] == "2023-11-14T22:13:20Z"
    assert found.get("v1", "1970-01-01T00:00:00Z") == "1970-01-01T00:00:00Z"  # git itself may read it as none
