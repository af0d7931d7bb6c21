"""A data branch in real repositories: written without a checkout, and never over somebody else's commit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.github.data_branch import ATTEMPTS, DataBranch
from evalward.github.errors import GitHubError
from evalward.records.problem import InputError
from support.git_repo import commit, git, init

AT = "2026-11-21T08:00:00Z"
NAME = "evalward-data"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = init(tmp_path / "repo")
    commit(folder, {"README.md": "hello\n"})
    return folder


def branch(folder: Path, name: str = NAME) -> DataBranch:
    return DataBranch(folder, name, search_path=os.environ["PATH"])


def write(folder: Path, text: bytes, name: str = NAME) -> str | None:
    return branch(folder, name).change("history.jsonl", lambda old: (old or b"") + text, "history", AT)


def state(folder: Path) -> list[str]:
    questions = (["status", "--porcelain"], ["rev-parse", "HEAD"], ["symbolic-ref", "HEAD"], ["diff", "--cached"])
    return [git(folder, *question) for question in questions]


def test_change__makes_the_branch_and_continues_it(repo: Path) -> None:
    first, second = write(repo, b"one\n"), write(repo, b"two\n")
    assert branch(repo).read("history.jsonl") == b"one\ntwo\n"
    assert git(repo, "rev-list", NAME).split() == [second, first]
    assert git(repo, "ls-tree", "--name-only", NAME) == "history.jsonl"
    assert git(repo, "log", "-1", "--format=%an %aI", NAME).startswith("evalward 2026-11-21T08:00:00")
    git(repo, "fsck", "--strict")


def test_change__leaves_working_tree_index_and_head_alone(repo: Path) -> None:
    (repo / "README.md").write_text("changed\n", "utf-8")
    (repo / "new.txt").write_text("new\n", "utf-8")
    git(repo, "add", "new.txt")
    before = state(repo)
    write(repo, b"one\n")
    assert state(repo) == before


def test_change__keeps_the_other_files_of_the_branch(repo: Path) -> None:
    git(repo, "branch", NAME)
    write(repo, b"one\n")
    assert git(repo, "show", f"{NAME}:README.md") == "hello"


def test_change__without_news_is_no_commit(repo: Path) -> None:
    write(repo, b"one\n")
    tip = git(repo, "rev-parse", NAME)
    assert write(repo, b"") is None
    assert git(repo, "rev-parse", NAME) == tip


def test_change__continues_what_was_fetched(repo: Path, tmp_path: Path) -> None:
    write(repo, b"theirs\n")
    theirs = git(repo, "rev-parse", NAME)
    git(tmp_path, "clone", "--quiet", f"file://{repo}", "clone")
    clone = tmp_path / "clone"
    assert branch(clone).read("history.jsonl") == b"theirs\n"
    ours = write(clone, b"ours\n")
    assert git(clone, "rev-list", NAME).split() == [ours, theirs]
    assert branch(clone).read("history.jsonl") == b"theirs\nours\n"


def test_change__a_branch_that_moved_meanwhile_is_read_again(repo: Path) -> None:
    seen = []

    def changed(old: bytes | None) -> bytes:
        seen.append(old)
        if len(seen) == 1:
            write(repo, b"theirs\n")
        return (old or b"") + b"ours\n"

    branch(repo).change("history.jsonl", changed, "history", AT)
    assert seen == [None, b"theirs\n"]
    assert branch(repo).read("history.jsonl") == b"theirs\nours\n"


def test_change__gives_up_when_it_never_stands_still(repo: Path) -> None:
    calls = []

    def changed(old: bytes | None) -> bytes:
        calls.append(old)
        write(repo, b"theirs\n")
        return (old or b"") + b"ours\n"

    with pytest.raises(GitHubError, match=f"moved {ATTEMPTS} times"):
        branch(repo).change("history.jsonl", changed, "history", AT)
    assert len(calls) == ATTEMPTS
    assert branch(repo).read("history.jsonl") == b"theirs\n" * ATTEMPTS


def test_change__a_locked_branch_is_told(repo: Path) -> None:
    write(repo, b"one\n")
    (repo / ".git" / "refs" / "heads" / f"{NAME}.lock").write_text("", "utf-8")
    with pytest.raises(GitHubError, match="could not move"):
        write(repo, b"two\n")


def test_change__a_branch_that_is_checked_out_is_refused(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is checked out"):
        write(repo, b"x", "main")
    git(repo, "branch", NAME)
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "other"), NAME)
    with pytest.raises(InputError, match="is checked out"):
        write(repo, b"x")


def test_read__no_branch_or_no_file_is_none(repo: Path) -> None:
    assert branch(repo).read("history.jsonl") is None
    git(repo, "branch", NAME)
    assert branch(repo).read("history.jsonl") is None


@pytest.mark.parametrize("name", ["", "..", "a b", "-x..y", "a~1", "x.lock", "@{-1}"])
def test_branch__names_that_are_none(repo: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a name"):
        branch(repo, name)


def test_branch__without_a_repository(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no git repository"):
        branch(tmp_path)


def test_change__runs_no_hook_of_the_repository(repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", "utf-8")
    hook.chmod(0o755)
    write(repo, b"one\n")
    assert not (tmp_path / "sprung").exists()
