"""Commits and the one pull request, over GitHub's API on a real repository."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.github.client import GitHub
from evalward.github.commits import MovedHeadError, baseline_message, commit_file, only_baseline_pushed
from evalward.github.errors import GitHubError
from evalward.github.pulls import BRANCH, NOTHING_LEFT, Proposal, PullOutcome, propose
from evalward.github.repository import RepositoryWriter
from evalward.records.problem import InputError
from support.git_repo import git
from support.github_api import REPOSITORY, TOKEN
from support.github_repo import RepositoryGitHub, StoredPull, server_repository
from support.patience import PATIENCE_S

PATH = ".evalward/baseline.json"
MESSAGE = baseline_message(PATH, "Update", "Measured.")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    server_repository(tmp_path, {"README.md": "x\n"})
    return tmp_path / "workspace"


@pytest.fixture
def api(tmp_path: Path, workspace: Path) -> Iterator[RepositoryGitHub]:
    with RepositoryGitHub(tmp_path / "server.git") as server:
        yield server


@pytest.fixture
def repository(client: GitHub) -> RepositoryWriter:
    return RepositoryWriter(client, REPOSITORY)


# --- commits --------------------------------------------------------------------------------------------------------


def test_commit__creates_the_file_and_touches_no_working_tree(
    api: RepositoryGitHub, repository: RepositoryWriter, workspace: Path
) -> None:
    before = api.tip()
    done = commit_file(repository, "main", PATH, lambda old: "one\n" if old is None else None, MESSAGE)

    assert (done.action, done.sha, done.retries) == ("committed", api.tip(), 0)
    assert api.text(PATH) == "one\n"
    assert git(api.repo, "rev-parse", "main^") == before
    assert "Evalward-Baseline: .evalward/baseline.json" in git(api.repo, "log", "-1", "--format=%B", "main")
    assert "[skip ci]" not in git(api.repo, "log", "-1", "--format=%B", "main")
    assert git(workspace, "status", "--porcelain") == ""
    assert git(workspace, "rev-parse", "HEAD") == before


@pytest.mark.parametrize("new", [None, "same\n"])
def test_commit__without_news_there_is_none(
    api: RepositoryGitHub, repository: RepositoryWriter, new: str | None
) -> None:
    api.write("main", {PATH: b"same\n"}, "x")
    before = api.tip()
    assert commit_file(repository, "main", PATH, lambda _: new, MESSAGE).action == "unchanged"
    assert api.tip() == before


def test_commit__dry_run_writes_nothing(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    before = api.tip()
    done = commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE, dry_run=True)
    assert (done.action, done.new, api.tip()) == ("would_commit", "new\n", before)
    assert not [line for line in api.log() if not line.startswith("GET ")]


def test_commit__builds_on_who_was_faster(
    api: RepositoryGitHub, repository: RepositoryWriter, waits: list[float]
) -> None:
    api.meet = [lambda branch: api.write(branch, {PATH: b"theirs\n"}, "theirs")]
    done = commit_file(repository, "main", PATH, lambda old: (old or "") + "ours\n", MESSAGE)
    assert (done.action, done.retries, len(waits)) == ("committed", 1, 1)
    assert api.text(PATH) == "theirs\nours\n"


def test_commit__gives_up_after_bounded_retries(
    api: RepositoryGitHub, repository: RepositoryWriter, waits: list[float]
) -> None:
    def meddle(branch: str) -> None:
        api.write(branch, {"other.txt": str(len(api.requests)).encode()}, "theirs")
        again.append(branch)

    again: list[str] = []
    api.meet = [meddle]
    text = iter(range(100))

    def make(old: str | None) -> str:
        api.meet = [meddle]
        return f"{next(text)}\n"

    with pytest.raises(GitHubError, match="concurrency"):
        commit_file(repository, "main", PATH, make, MESSAGE)
    assert (len(again), len(waits)) == (6, 5)


def test_commit__two_at_once_both_land(api: RepositoryGitHub) -> None:
    start = threading.Barrier(2)
    failures: list[BaseException] = []

    def run(name: str) -> None:
        try:
            with GitHub(TOKEN, api.url, sleep=lambda _: None) as client:
                first = [True]

                def make(old: str | None) -> str:
                    if first.pop() if first else False:
                        start.wait(PATIENCE_S)  # both have read the same head
                    return (old or "") + name + "\n"

                assert (
                    commit_file(RepositoryWriter(client, REPOSITORY), "main", PATH, make, MESSAGE).action == "committed"
                )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(api.text(PATH).split()) == ["one", "two"]
    assert git(api.repo, "rev-list", "--count", "main") == "3"


def test_commit__a_moved_head_is_not_followed_when_one_was_expected(
    api: RepositoryGitHub, repository: RepositoryWriter
) -> None:
    old = api.tip()
    api.write("main", {"x": b"y"}, "moved")
    moved = api.tip()
    with pytest.raises(MovedHeadError):
        commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE, expected_head=old)
    api.meet = [lambda branch: api.write(branch, {"z": b"z"}, "moves at the last moment")]
    with pytest.raises(MovedHeadError):
        commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE, expected_head=moved)
    assert "baseline.json" not in git(api.repo, "ls-tree", "-r", "--name-only", "main")


def test_commit__a_protected_branch_is_told_with_its_remedy(
    api: RepositoryGitHub, repository: RepositoryWriter
) -> None:
    api.protected = {"main"}
    with pytest.raises(GitHubError, match="baseline-to: pull-request"):
        commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE)


def test_commit__a_missing_permission_names_itself(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    api.can_write = False
    with pytest.raises(GitHubError, match="contents: write"):
        commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE)


def test_commit__no_branch(repository: RepositoryWriter) -> None:
    with pytest.raises(GitHubError, match="no branch 'gone'"):
        commit_file(repository, "gone", PATH, lambda _: "new\n", MESSAGE)


def test_commit__an_answer_that_got_lost_lands_once(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    api.fail("POST", "/graphql", 502, after=True)
    assert commit_file(repository, "main", PATH, lambda _: "new\n", MESSAGE).action == "unchanged"
    assert git(api.repo, "rev-list", "--count", "main") == "2"


# --- loops ----------------------------------------------------------------------------------------------------------


def test_only_baseline_pushed(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    first = api.tip()
    code = api.write("main", {"code": b"x"}, "code")
    ours = api.write("main", {PATH: b"x"}, MESSAGE)
    assert only_baseline_pushed(repository, code, ours, PATH)
    assert not only_baseline_pushed(repository, first, ours, PATH), "code came with it"
    assert not only_baseline_pushed(repository, first, code, PATH)
    assert not only_baseline_pushed(repository, None, ours, PATH), "a new branch"
    both = api.write("main", {PATH: b"y", "code": b"y"}, MESSAGE)
    assert not only_baseline_pushed(repository, ours, both, PATH), "a trailer can be copied"


# --- the pull request -----------------------------------------------------------------------------------------------


def proposal(text: str | None, **changes: str) -> Proposal:
    fields = {"base": "main", "branch": BRANCH, "path": PATH, "message": MESSAGE, "title": "Update", **changes}
    return Proposal(make_text=lambda _: text, body=lambda old, new: f"{old} → {new}", **fields)


def opened(repository: RepositoryWriter, text: str) -> PullOutcome:
    return propose(repository, proposal(text))


def test_pull__is_opened_once_and_kept_current(
    api: RepositoryGitHub, repository: RepositoryWriter, workspace: Path
) -> None:
    first, again = opened(repository, "one\n"), opened(repository, "one\n")
    tip = api.tip(BRANCH)
    moved = api.write("main", {"code": b"x"}, "the base moves on")
    second = opened(repository, "two\n")

    assert (first.action, again.action, second.action) == ("opened", "updated", "updated")
    assert {first.number, again.number, second.number} == {8}
    assert list(api.stored) == [8]
    assert api.text(PATH, BRANCH) == "two\n"
    assert git(api.repo, "rev-parse", f"{BRANCH}^") == moved != tip
    assert api.stored[8].body == "None → two\n"
    assert api.branches() == [BRANCH, "main"]
    assert git(workspace, "status", "--porcelain") == ""


def test_pull__the_same_proposal_makes_no_second_commit(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    opened(repository, "one\n")
    tip = api.tip(BRANCH)
    opened(repository, "one\n")
    assert api.tip(BRANCH) == tip


def test_pull__the_branch_is_never_without_a_difference(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    opened(repository, "one\n")
    main = api.write("main", {"code": b"x"}, "moves on")
    opened(repository, "two\n")
    moves = [r.body["sha"] for r in api.requests if r.method == "PATCH" and r.path.endswith(f"heads/{BRANCH}")]
    assert moves
    assert main not in moves


def test_pull__is_closed_when_nothing_is_left(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    opened(repository, "one\n")
    api.write("main", {PATH: b"one\n"}, "merged")
    assert opened(repository, "one\n").action == "closed"
    assert (api.stored[8].state, api.bodies(8)) == ("closed", [NOTHING_LEFT])
    assert opened(repository, "one\n").action == "unchanged"


def test_pull__dry_run_writes_nothing(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    assert propose(repository, proposal("one\n"), dry_run=True).action == "would_open"
    opened(repository, "one\n")
    count = len(api.requests)
    assert propose(repository, proposal("two\n"), dry_run=True).action == "would_update"
    api.write("main", {PATH: b"one\n"}, "merged")
    assert propose(repository, proposal("one\n"), dry_run=True).action == "would_close"
    assert not [r for r in api.requests[count:] if r.method != "GET"]


def test_pull__somebody_elses_branch_is_not_overwritten(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    git(api.repo, "branch", BRANCH, "main")
    theirs = api.write(BRANCH, {"mine": b"x"}, "work of a person")
    with pytest.raises(InputError, match="isn't Evalward's"):
        opened(repository, "one\n")
    assert api.tip(BRANCH) == theirs
    with pytest.raises(InputError, match="merged into"):
        propose(repository, proposal("one\n", branch="main"))


def test_pull__of_a_fork_with_the_same_branch_is_not_ours(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    api.stored[7] = StoredPull(7, BRANCH, "main", repository="octo-org/a-fork")
    done = opened(repository, "one\n")
    assert (done.action, done.number, api.stored[7].title) == ("opened", 8, "")


def test_pull__not_permitted_is_told_with_its_remedy(api: RepositoryGitHub, repository: RepositoryWriter) -> None:
    api.may_open_pulls = False
    with pytest.raises(GitHubError, match="allow Actions to create pull requests"):
        opened(repository, "one\n")


def test_pull__a_base_that_moves_meanwhile_is_built_upon(
    api: RepositoryGitHub, repository: RepositoryWriter, waits: list[float]
) -> None:
    api.meet = [lambda _: api.write("main", {"code": b"x"}, "moves on")]
    opened(repository, "one\n")
    assert git(api.repo, "rev-parse", f"{BRANCH}^") == api.tip()
    assert len(waits) == 1
