from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalward.github.client import GitHub
from evalward.github.comment import CommentMode, Marker, Posted, PullRequest, post
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub

PULL = PullRequest(REPOSITORY, 7)
MARKER = Marker("evalward", HEAD, 20, 1)

Post = Callable[..., Posted]


@pytest.fixture
def comment_file(tmp_path: Path) -> Path:
    return tmp_path / "out" / "comment.md"


@pytest.fixture
def send(client: GitHub, comment_file: Path) -> Post:
    def run(
        text: str = "new",
        *,
        marker: Marker = MARKER,
        pull: PullRequest = PULL,
        mode: CommentMode = "always",
        changed: bool = False,
        failed: bool = False,
    ) -> Posted:
        def keep(body: str) -> Path:
            comment_file.parent.mkdir(exist_ok=True)
            comment_file.write_text(body, "utf-8")
            return comment_file

        return post(client, pull, marker, text, mode=mode, changed=changed, failed=failed, keep=keep)

    return run


def marked(text: str, run: int = 1, head: str = HEAD) -> str:
    return f"{Marker('evalward', head, run, 1).format()}\n{text}"


def test_post__creates_once_and_then_updates(api: FakeGitHub, send: Post, comment_file: Path) -> None:
    first = send("one")
    second = send("two", marker=Marker("evalward", HEAD, 21, 1))

    assert (first.action, second.action) == ("created", "updated")
    assert first.url == second.url != ""
    assert api.bodies() == [comment_file.read_text()] == [marked("two", run=21)]


def test_post__finds_its_comment_behind_two_hundred_others(api: FakeGitHub, send: Post) -> None:
    for number in range(220):
        api.add_comment(f"talk {number}", "octocat")
    ours = api.add_comment(marked("old"))

    assert send().url.endswith(str(ours))
    assert len(api.bodies()) == 221


def test_post__leaves_a_copied_marker_alone(api: FakeGitHub, send: Post) -> None:
    api.add_comment(marked("mine?", run=99), "mallory")

    assert send().action == "created"
    assert api.bodies() == [marked("mine?", run=99), marked("new", run=20)]


def test_post__cleans_duplicates(api: FakeGitHub, send: Post) -> None:
    for number in range(3):
        api.add_comment(marked(f"old {number}"))

    assert send() == Posted("updated", url="https://github.com/octo-org/octo-repo/pull/7#issuecomment-1001")
    assert api.bodies() == [marked("new", run=20)]


def test_post__duplicates_that_stay_are_told(api: FakeGitHub, send: Post) -> None:
    api.add_comment(marked("old"))
    api.add_comment(marked("older"))
    api.fail("DELETE", "comments", 403)

    posted = send()

    assert posted.action == "updated"
    assert "1 older duplicate" in posted.notice


def test_post__an_older_run_does_not_overwrite(api: FakeGitHub, send: Post) -> None:
    api.add_comment(marked("newer", run=21))

    assert send().action == "skipped"
    assert api.bodies() == [marked("newer", run=21)]


def test_post__a_run_of_an_older_head_does_not_write(api: FakeGitHub, send: Post, comment_file: Path) -> None:
    api.heads[7] = "f" * 40

    posted = send()

    assert (posted.action, api.bodies()) == ("skipped", [])
    assert "moved on to ffffffffffff" in posted.notice
    assert comment_file.exists()


def test_post__off_asks_nothing_but_leaves_the_file(api: FakeGitHub, send: Post, comment_file: Path) -> None:
    assert send(mode="off").action == "skipped"
    assert api.requests == []
    assert comment_file.read_text() == marked("new", run=20)


@pytest.mark.parametrize("mode", ["changes", "failures"])
def test_post__quiet_modes(api: FakeGitHub, send: Post, mode: CommentMode) -> None:
    assert send(mode=mode).action == "skipped"
    assert send(mode=mode, failed=True).action == "created"
    assert send("good again", mode=mode).action == "updated"
    assert api.bodies() == [marked("good again", run=20)]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 422])
def test_post__refused_is_a_notice(api: FakeGitHub, send: Post, comment_file: Path, status: int) -> None:
    api.fail("POST", "comments", status, times=9, message="Unable to create comment because issue is locked.")

    posted = send()

    assert posted.action == "unable"
    assert f"GitHub answered {status}: Unable to create comment because issue is locked. " in posted.notice
    assert str(comment_file) in posted.notice
    assert comment_file.read_text() == marked("new", run=20)


@pytest.mark.parametrize("pull", [PullRequest(REPOSITORY, 7, fork=True), PullRequest(REPOSITORY, 7, dependabot=True)])
def test_post__read_only_tokens_are_explained(api: FakeGitHub, send: Post, pull: PullRequest) -> None:
    api.can_write = False

    posted = send(pull=pull)

    assert posted.action == "unable"
    assert "evalward publish" in posted.notice
    assert "permissions:" not in posted.notice


@pytest.mark.parametrize("status", [0, 500, 502, 503])
def test_post__a_lost_answer_makes_no_second_comment(api: FakeGitHub, send: Post, status: int) -> None:
    api.fail("POST", "comments", status, after=True)

    assert send().action == "updated"
    assert api.bodies() == [marked("new", run=20)]


def test_post__tries_again_after_an_outage(api: FakeGitHub, send: Post, waits: list[float]) -> None:
    api.fail("POST", "comments", 502, times=2)

    assert send().action == "created"
    assert waits == [1.5, 2.5]


def test_post__a_lasting_outage_is_a_notice(api: FakeGitHub, send: Post) -> None:
    api.fail("POST", "comments", 502, times=99)

    assert send().action == "unable"


def test_post__a_comment_that_was_deleted_meanwhile_is_made_anew(api: FakeGitHub, send: Post) -> None:
    api.add_comment(marked("old"))
    api.fail("PATCH", "comments", 404)
    api.comments[7].clear()

    assert send().action == "created"


def test_post__long_text_fits(api: FakeGitHub, send: Post) -> None:
    assert send("line\n" * 20_000).action == "created"


def test_post__the_token_is_not_posted(api: FakeGitHub, send: Post, comment_file: Path) -> None:
    send(f"leak {TOKEN}")

    assert api.bodies() == [marked("leak ***", run=20)]
    assert TOKEN not in comment_file.read_text()
