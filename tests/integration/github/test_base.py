from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from evalward.git import FileChange, GitTree, OpaqueEntries, repository_path
from evalward.github.base import BaseChoice, resolve_base
from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan
from evalward.records.problem import InputError
from support.git_repo import PullRequestRepo, commit, git, init, pull_request_repo, shallow_clone
from support.github_api import REPOSITORY, FakeGitHub

CONFIG = "version: 1\n"
BINARY = bytes(range(256)) * 20_000  # 5 MB
UNKNOWN = "d" * 40


@pytest.fixture
def repo(tmp_path: Path) -> PullRequestRepo:
    base: dict[str, str | bytes] = {"evalward.yml": CONFIG, "data/big.bin": BINARY, "empty": "", "a dir/ü.txt": "u"}
    return pull_request_repo(tmp_path / "repo", base, {"evalward.yml": "version: 2\n", "new.json": "{}"})


@pytest.fixture
def plan(repo: PullRequestRepo) -> EventPlan:
    return EventPlan(
        event="pull_request",
        repository=REPOSITORY,
        event_sha=repo.merge,
        head_sha=repo.head,
        base_sha=repo.fork_point,  # what the event says can be behind what was merged with
        pull_number=7,
        merge_commit=True,
    )


def test_resolve__first_parent_of_the_merge_commit(repo: PullRequestRepo, plan: EventPlan) -> None:
    base = resolve_base(plan, GitTree(repo.folder))

    assert (base.sha, base.source) == (repo.base, "merge-parent")


def test_resolve__in_a_shallow_clone_too(repo: PullRequestRepo, plan: EventPlan, tmp_path: Path) -> None:
    clone = shallow_clone(repo, tmp_path / "clone")
    assert git(clone, "rev-list", "--parents", "-1", "HEAD") == repo.merge, "the clone has to hide the parents"

    assert resolve_base(plan, GitTree(clone)).sha == repo.base


def test_resolve__from_a_folder_of_the_repository(repo: PullRequestRepo, plan: EventPlan) -> None:
    tree = GitTree(repo.folder / "data")

    assert resolve_base(plan, tree).sha == repo.base
    assert tree.prefix() == "data/"
    assert GitTree(repo.folder).prefix() == ""


def test_resolve__head_checked_out(repo: PullRequestRepo, plan: EventPlan) -> None:
    git(repo.folder, "checkout", "--quiet", "--detach", repo.head)

    base = resolve_base(plan, GitTree(repo.folder))

    assert (base.sha, base.source) == (repo.fork_point, "event")
    assert "its head is checked out" in base.note


def test_resolve__a_merge_of_another_head(repo: PullRequestRepo, plan: EventPlan) -> None:
    base = resolve_base(replace(plan, head_sha=UNKNOWN), GitTree(repo.folder))

    assert (base.sha, base.source) == (repo.fork_point, "event")


def test_resolve__something_else_checked_out(repo: PullRequestRepo, plan: EventPlan) -> None:
    git(repo.folder, "checkout", "--quiet", "main")

    base = resolve_base(plan, GitTree(repo.folder))

    assert base.sha == repo.fork_point
    assert f"({repo.base[:12]}) is neither" in base.note


def test_resolve__no_checkout(plan: EventPlan, tmp_path: Path) -> None:
    base = resolve_base(plan, GitTree(tmp_path))

    assert (base.sha, base.source) == (plan.base_sha, "event")
    assert "not a git checkout" in base.note


def test_resolve__no_git(repo: PullRequestRepo, plan: EventPlan, tmp_path: Path) -> None:
    assert GitTree(repo.folder, search_path=str(tmp_path)).head() is None


@pytest.mark.parametrize(("sha", "source"), [(UNKNOWN, "event"), (None, "none")])
def test_resolve__push(repo: PullRequestRepo, plan: EventPlan, sha: str | None, source: str) -> None:
    base = resolve_base(replace(plan, event="push", base_sha=sha, event_sha=repo.merge), GitTree(repo.folder))

    assert isinstance(base, BaseChoice)
    assert (base.sha, base.source) == (sha, source)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("evalward.yml", CONFIG.encode()),
        ("./data/../evalward.yml", CONFIG.encode()),
        ("data/big.bin", BINARY),
        ("empty", b""),
        ("a dir/ü.txt", b"u"),
        ("new.json", None),
        ("none/at/all.json", None),
        ("evalward.yml/x", None),
        ("*.yml", None),
        (":(glob)**/*.yml", None),
    ],
)
def test_read__local(repo: PullRequestRepo, path: str, content: bytes | None) -> None:
    assert GitTree(repo.folder).read(repo.base, path) == content


def test_read__leaves_the_checkout_untouched(repo: PullRequestRepo) -> None:
    before = git(repo.folder, "status", "--porcelain", "--branch")
    GitTree(repo.folder).read(repo.base, "evalward.yml")

    assert git(repo.folder, "status", "--porcelain", "--branch") == before
    assert (repo.folder / "evalward.yml").read_text() == "version: 2\n"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "..", ".", "a\nb", "a\0b"])
def test_read__paths_stay_in_the_repository(repo: PullRequestRepo, path: str) -> None:
    with pytest.raises(InputError, match="not a path inside"):
        GitTree(repo.folder).read(repo.base, path)


def test_read__folder(repo: PullRequestRepo) -> None:
    with pytest.raises(InputError, match="is not a file"):
        GitTree(repo.folder).read(repo.base, "data")


def test_read__too_large(repo: PullRequestRepo) -> None:
    with pytest.raises(InputError, match=r"5,120,000 bytes.*at most 1,000"):
        GitTree(repo.folder, limit=1000).read(repo.base, "data/big.bin")


def test_read__symbolic_links(tmp_path: Path) -> None:
    folder = init(tmp_path / "repo")
    (folder / "link.yml").symlink_to("real/evalward.yml")
    (folder / "real").mkdir()
    (folder / "dir").symlink_to("real")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "gone").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    sha = commit(folder, {"real/evalward.yml": CONFIG})
    tree = GitTree(folder)

    assert tree.read(sha, "link.yml") == CONFIG.encode()
    assert tree.read(sha, "dir/evalward.yml") == CONFIG.encode()
    assert tree.read(sha, "gone") is None
    for path in ("out", "loop"):
        with pytest.raises(InputError, match="symbolic link"):
            tree.read(sha, path)


def test_read__shallow_without_an_api_is_an_error(repo: PullRequestRepo, tmp_path: Path) -> None:
    clone = shallow_clone(repo, tmp_path / "clone")

    with pytest.raises(GitHubError, match="fetch-depth"):
        GitTree(clone).read(repo.base, "evalward.yml")


def test_read__shallow_through_the_api(repo: PullRequestRepo, tmp_path: Path, api: FakeGitHub, client: GitHub) -> None:
    tree = GitTree(shallow_clone(repo, tmp_path / "clone"), repository=REPOSITORY, remote=client)
    api.add_file(repo.base, "evalward.yml", b"from the api")

    assert tree.read(repo.base, "evalward.yml") == b"from the api"
    assert tree.read(repo.base, "none.json") is None
    assert tree.read(repo.merge, "evalward.yml") == b"version: 2\n"


def test_read__shallow_and_unknown_to_the_api_is_an_error(
    repo: PullRequestRepo, tmp_path: Path, api: FakeGitHub, client: GitHub
) -> None:
    tree = GitTree(shallow_clone(repo, tmp_path / "clone"), repository=REPOSITORY, remote=client)

    with pytest.raises(GitHubError, match="could not be read") as caught:
        tree.read(repo.base, "evalward.yml")
    assert caught.value.status == 404


def test_read__partial_clone_asks_the_api_for_what_it_lacks(
    repo: PullRequestRepo, tmp_path: Path, api: FakeGitHub, client: GitHub
) -> None:
    git(repo.folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=tree:0", f"file://{repo.folder}", "partial")
    tree = GitTree(tmp_path / "partial", repository=REPOSITORY, remote=client)
    api.add_file(repo.base, "evalward.yml", b"from the api")

    assert tree.read(repo.base, "evalward.yml") == b"from the api"


def test_read__replaced_objects_do_not_count(repo: PullRequestRepo) -> None:
    old = git(repo.folder, "rev-parse", f"{repo.base}:evalward.yml")
    new = git(repo.folder, "rev-parse", f"{repo.head}:evalward.yml")
    git(repo.folder, "replace", old, new)

    assert GitTree(repo.folder).read(repo.base, "evalward.yml") == CONFIG.encode()


def test_git__runs_no_program_of_the_repository(repo: PullRequestRepo, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "alias.cat-file", "diff.external"):
        git(repo.folder, "config", name, f"!{trap}" if name.startswith("alias") else str(trap))

    GitTree(repo.folder).read(repo.base, "evalward.yml")

    assert not (tmp_path / "sprung").exists()


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GATE_API_KEY", "ghs_secret")
    return "ghs_secret"


def test_git__gets_no_secrets(tmp_path: Path, secret: str) -> None:
    spy = tmp_path / "git"
    spy.write_text(f"#!/bin/sh\n/usr/bin/env > {tmp_path}/seen\necho {'e' * 40}\n")
    spy.chmod(0o755)

    init(tmp_path)
    assert GitTree(tmp_path, search_path=str(tmp_path)).head() == "e" * 40

    seen = (tmp_path / "seen").read_text()
    assert secret not in seen
    assert "GIT_TERMINAL_PROMPT=0" in seen


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make somebody else's files")
def test_read__workspace_of_somebody_else(repo: PullRequestRepo, plan: EventPlan) -> None:
    for path in [repo.folder, *repo.folder.rglob("*")]:
        os.chown(path, 1001, 1001, follow_symlinks=False)
    tree = GitTree(repo.folder)

    assert resolve_base(plan, tree).sha == repo.base
    assert tree.read(repo.base, "evalward.yml") == CONFIG.encode()


@pytest.mark.parametrize(
    ("prefix", "parts", "path"),
    [("", ["evalward.yml"], "evalward.yml"), ("a/b/", ["..", "c.yml"], "a/c.yml"), (None, ["x/../y"], "y")],
)
def test_repository_path(prefix: str | None, parts: list[str], path: str) -> None:
    assert repository_path(prefix, parts) == path


def test_repository_path__leaves() -> None:
    with pytest.raises(InputError):
        repository_path("a/", ["../../x"])


def test_changed__what_the_pull_request_does_and_not_what_the_base_did(tmp_path: Path) -> None:
    base = {"a": "1", "gone": "1", "old name": "some text that is long enough to be a rename\n"}
    repo = pull_request_repo(tmp_path / "r", base, {"a": "2", "new\né": "x"})
    git(repo.folder, "checkout", "--quiet", "topic")
    git(repo.folder, "rm", "--quiet", "gone")
    git(repo.folder, "mv", "old name", "moved")
    head = commit(repo.folder, {})
    changes = GitTree(repo.folder, search_path=os.environ["PATH"]).changed(repo.base, head)
    assert changes is not None
    assert {(change.path, change.kind) for change in changes} == {
        ("a", "changed"),
        ("new\né", "added"),
        ("gone", "removed"),
        ("old name", "removed"),
        ("moved", "added"),
    }


def test_changed__of_a_merge_commit_against_its_first_parent(tmp_path: Path) -> None:
    repo = pull_request_repo(tmp_path / "r", {"a": "1"}, {"a": "2"})
    changes = GitTree(repo.folder, search_path=os.environ["PATH"]).changed(repo.base)
    assert changes == [FileChange("a", "changed")]


def test_changed__a_shallow_clone_can_not_tell(tmp_path: Path) -> None:
    repo = pull_request_repo(tmp_path / "r", {"a": "1"}, {"a": "2"})
    clone = shallow_clone(repo, tmp_path / "clone")
    assert GitTree(clone, search_path=os.environ["PATH"]).changed(repo.base) is None
    assert GitTree(tmp_path, search_path=os.environ["PATH"]).changed(repo.base) is None


def test_changed_links_and_submodules__are_opaque__and_a_commit_lists_them(tmp_path: Path) -> None:
    folder = init(tmp_path / "r")
    (folder / "link").symlink_to("a")
    (folder / "becomes a file").symlink_to("a")
    inner = init(folder / "vend" / "sub")
    commit(inner, {"x.py": "1"})
    base = commit(folder, {"a": "1"})
    commit(inner, {"x.py": "2"})
    (folder / "link").unlink()
    (folder / "link").symlink_to("b\né")
    (folder / "becomes a file").unlink()
    commit(folder, {"a": "2", "becomes a file": "1"})
    tree = GitTree(folder, search_path=os.environ["PATH"])
    changes = tree.changed(base)
    assert {change.path: change.opaque for change in changes or ()} == {
        "a": False,
        "link": True,
        "becomes a file": True,
        "vend/sub": True,
    }
    assert tree.opaque("HEAD") == OpaqueEntries(frozenset({"vend/sub"}), {"link": "b\né"})
    assert tree.opaque("f" * 40) is None
