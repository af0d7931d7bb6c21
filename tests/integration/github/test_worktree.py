"""What the checkout has otherwise than a commit, as git tells it without starting anything that a repository names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.git import WorkingTree
from support.git_repo import commit, git, init, write_files

FILES = {"a.txt": "a\n", "b.txt": "b\n", "sub/c.txt": "c\n", ".gitignore": "*.log\nbuilt/\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    commit(init(tmp_path / "repo"), FILES)
    return tmp_path / "repo"


def tree(folder: Path) -> WorkingTree:
    return WorkingTree(folder, os.environ["PATH"])


def changed(folder: Path, since: str = "main") -> list[str] | None:
    return tree(folder).changed(since)


def test_a_clean_checkout__differs_in_nothing(repo: Path) -> None:
    assert changed(repo) == []


def test_whatever_differs__is_named__committed_staged_or_not(repo: Path) -> None:
    git(repo, "checkout", "--quiet", "-b", "topic")
    commit(repo, {"a.txt": "other\n"})
    write_files(repo, {"b.txt": "other\n", "new.txt": "new\n", "deep/new.txt": "new\n", "staged.txt": "new\n"})
    git(repo, "add", "staged.txt")
    (repo / "sub" / "c.txt").unlink()
    found = ["a.txt", "b.txt", "deep/new.txt", "new.txt", "staged.txt", "sub/c.txt"]
    assert changed(repo) == found
    assert changed(repo / "sub") == found


def test_both_names_of_a_renamed_file__are_named(repo: Path) -> None:
    git(repo, "mv", "a.txt", "z.txt")
    assert changed(repo) == ["a.txt", "z.txt"]


def test_a_file_that_was_only_written_again__is_the_same(repo: Path) -> None:
    (repo / "a.txt").write_text("a\n")
    os.utime(repo / "a.txt", (1, 1))
    assert changed(repo) == []


def test_a_mode_is_a_change(repo: Path) -> None:
    (repo / "a.txt").chmod(0o755)
    assert changed(repo) == ["a.txt"]


def test_ignored_files_are_none__but_can_be_asked_for(repo: Path) -> None:
    write_files(repo, {"x.log": "1", "sub/y.log": "1", "built/tool": "1"})
    assert changed(repo) == []
    assert tree(repo / "sub").ignored(["sub", "built/tool"]) == ["built/tool", "sub/y.log"]
    assert sorted(tree(repo).ignored([""]) or ()) == ["built/tool", "sub/y.log", "x.log"]
    assert tree(repo).ignored([]) == []


@pytest.mark.parametrize("hiding", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_not_to_look_at__counts_as_changed(repo: Path, hiding: str) -> None:
    git(repo, "update-index", hiding, "a.txt")
    assert changed(repo) == ["a.txt"]


def test_a_file_that_a_sparse_checkout_leaves_out__has_not_changed(repo: Path) -> None:
    git(repo, "update-index", "--skip-worktree", "a.txt")
    (repo / "a.txt").unlink()
    assert changed(repo) == []


def test_a_submodule__counts_as_changed__for_its_files_are_not_looked_at(repo: Path, tmp_path: Path) -> None:
    commit(init(tmp_path / "other"), {"x.txt": "x\n"})
    git(repo, "submodule", "--quiet", "add", str(tmp_path / "other"), "vendored")
    commit(repo, {})
    assert changed(repo) == ["vendored"]


def test_a_repository_in_a_folder__is_one_new_path(repo: Path) -> None:
    commit(init(repo / "inner"), {"x.txt": "x\n"})
    assert changed(repo) == ["inner"]


def test_no_filter_of_the_repository_is_started(repo: Path) -> None:
    commit(repo, {".gitattributes": "a.txt filter=x\nb.txt filter=odd=name\n"})
    mark = repo.parent / "mark"
    program = repo.parent / "run"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for name in ("x", "odd=name", "with space.and dot"):
        for key, value in (
            ("clean", str(program)),
            ("smudge", str(program)),
            ("process", str(program)),
            ("required", "true"),
        ):
            git(repo, "config", f"filter.{name}.{key}", value)
    write_files(repo, {"a.txt": "other\n", "b.txt": "other\n"})
    assert changed(repo) == ["a.txt", "b.txt"]
    assert not mark.exists()


def test_where_there_is_no_repository__or_no_such_commit__nothing_is_known(repo: Path, tmp_path: Path) -> None:
    assert changed(repo, "f" * 40) is None
    assert changed(tmp_path) is None


def test_links_and_repositories__are_opaque(repo: Path) -> None:
    commit(init(repo / "inner"), {"x.txt": "x\n"})
    (repo / "link").symlink_to("sub")
    (repo / "gone").symlink_to("nowhere")
    assert tree(repo).opaque(["a.txt", "inner", "link", "gone", "none", "a.txt/x", "\0"]) == {"inner", "link", "gone"}
    assert tree(repo).first_link("link/c.txt") == "link"
    assert tree(repo).first_link("sub/c.txt") is None


def test_an_ignored_repository__is_one_path(repo: Path) -> None:
    commit(repo, {".gitignore": "inner/\n"})
    commit(init(repo / "inner"), {"x.txt": "x\n"})
    assert tree(repo).ignored([""]) == ["inner"]
