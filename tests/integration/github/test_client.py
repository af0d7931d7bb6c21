from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from evalward.records.problem import InputError
from support.github_api import BOT, HEAD, REPOSITORY, TOKEN, FakeGitHub
from support.patience import FACTORS, PATIENCE_S

BASE = "b" * 40


def test_comments__all_pages(api: FakeGitHub, client: GitHub) -> None:
    ids = [api.add_comment(f"comment {number}") for number in range(230)]

    assert [comment.id for comment in client.comments(REPOSITORY, 7)] == ids
    assert [request.query["per_page"] for request in api.requests] == ["100"] * 3


def test_comments__exactly_one_page(api: FakeGitHub, client: GitHub) -> None:
    for number in range(100):
        api.add_comment(f"comment {number}")

    assert len(client.comments(REPOSITORY, 7)) == 100
    assert len(api.requests) == 1


def test_pages__never_lead_to_another_host(api: FakeGitHub, client: GitHub) -> None:
    api.fail("GET", "comments", 201, headers={"Link": '<http://127.0.0.1:1/evil>; rel="next"'}, body=[])

    with pytest.raises(GitHubError, match="another host"):
        client.comments(REPOSITORY, 7)


def test_login__of_a_user(api: FakeGitHub, client: GitHub) -> None:
    api.user_login = "octocat"

    assert client.login() == "octocat"
    assert api.log() == ["GET /user"]


def test_login__of_an_app(api: FakeGitHub, client: GitHub) -> None:
    api.viewer = "our-gate[bot]"

    assert client.login() == "our-gate[bot]"


def test_login__asking_twice_is_harmless(api: FakeGitHub, client: GitHub) -> None:
    api.viewer = "our-gate[bot]"
    api.fail("POST", "graphql", 502)

    assert client.login() == "our-gate[bot]"


def test_login__falls_back_to_the_workflow_token(api: FakeGitHub, client: GitHub) -> None:
    api.fail("POST", "graphql", 403)

    assert client.login() == BOT


def test_login__a_bad_token_is_an_error(api: FakeGitHub) -> None:
    with GitHub("ghs_wrong", api.url, sleep=lambda _: None) as client, pytest.raises(GitHubError) as caught:
        client.login()

    assert caught.value.status == 401
    assert "github.token" in caught.value.advice


@pytest.mark.parametrize("status", [502, 503, 504])
def test_retry__unavailable(api: FakeGitHub, client: GitHub, waits: list[float], status: int) -> None:
    api.fail("GET", "pulls", status, times=3)

    assert client.pull_head(REPOSITORY, 7) == HEAD
    assert waits == [1.5, 2.5, 4.5]


def test_retry__gives_up_after_five(api: FakeGitHub, client: GitHub, waits: list[float]) -> None:
    api.fail("GET", "pulls", 503, times=99)

    with pytest.raises(GitHubError) as caught:
        client.pull_head(REPOSITORY, 7)

    assert (caught.value.status, len(waits), len(api.requests)) == (503, 5, 6)
    assert "later" in caught.value.advice


def test_retry__a_lost_connection(api: FakeGitHub, client: GitHub, waits: list[float]) -> None:
    api.fail("GET", "pulls", 0)

    assert client.pull_head(REPOSITORY, 7) == HEAD
    assert len(waits) == 1


def test_retry__a_slow_answer(api: FakeGitHub, waits: list[float]) -> None:
    for factor in FACTORS:  # on a busy machine every answer is slow
        waits.clear()
        api.fail("GET", "pulls", 200, delay=0.6 * factor)
        with GitHub(TOKEN, api.url, sleep=waits.append, timeouts=(PATIENCE_S, 0.3 * factor)) as client:
            assert client.pull_head(REPOSITORY, 7) == HEAD
        if len(waits) == 1:
            break
    assert len(waits) == 1


def test_retry__nobody_there(waits: list[float]) -> None:
    with FakeGitHub() as gone:
        url = gone.url
    with GitHub(TOKEN, url, sleep=waits.append) as client, pytest.raises(GitHubError, match="could not be reached"):
        client.pull_head(REPOSITORY, 7)

    assert len(waits) == 5


@pytest.mark.parametrize("status", [403, 429])
def test_limit__retry_after_is_honoured(api: FakeGitHub, client: GitHub, waits: list[float], status: int) -> None:
    api.fail("GET", "pulls", status, headers={"Retry-After": "17"})

    assert client.pull_head(REPOSITORY, 7) == HEAD
    assert waits == [17.5]


def test_limit__reset_is_honoured(api: FakeGitHub, client: GitHub, waits: list[float]) -> None:
    api.fail("GET", "pulls", 403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000040"})

    assert client.pull_head(REPOSITORY, 7) == HEAD
    assert waits == [41.5]


def test_limit__secondary_without_a_time_waits_a_minute(api: FakeGitHub, client: GitHub, waits: list[float]) -> None:
    api.fail("POST", "comments", 403, message="You have exceeded a secondary rate limit.")

    client.create_comment(REPOSITORY, 7, "text")

    assert waits == [61.5]
    assert api.bodies() == ["text"]


@pytest.mark.parametrize(
    "headers",
    [{"Retry-After": "3600"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1003600"}],
)
def test_limit__too_long_is_told_not_waited_for(
    api: FakeGitHub, client: GitHub, waits: list[float], headers: dict[str, str]
) -> None:
    api.fail("GET", "pulls", 403, headers=headers)

    with pytest.raises(GitHubError, match="rate limit"):
        client.pull_head(REPOSITORY, 7)

    assert waits == []


def test_forbidden__is_not_retried(api: FakeGitHub, client: GitHub, waits: list[float]) -> None:
    api.can_write = False

    with pytest.raises(GitHubError) as caught:
        client.create_comment(REPOSITORY, 7, "text")

    assert (caught.value.status, waits) == (403, [])
    assert "Resource not accessible by integration" in caught.value.message
    assert "pull-requests: write" in caught.value.advice


@pytest.mark.parametrize("status", [0, 500, 502])
def test_create__is_not_repeated_blindly(api: FakeGitHub, client: GitHub, status: int) -> None:
    api.fail("POST", "comments", status, after=True)

    with pytest.raises(GitHubError):
        client.create_comment(REPOSITORY, 7, "text")

    assert api.bodies() == ["text"]


def test_errors__never_hold_the_token(api: FakeGitHub, client: GitHub) -> None:
    api.fail("GET", "pulls", 400, message=f"bad token {TOKEN} \x1b[31m\n::error::")

    with pytest.raises(GitHubError) as caught:
        client.pull_head(REPOSITORY, 7)

    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(client)
    assert TOKEN not in shown
    assert "bad token ***" in caught.value.message
    assert "\n" not in caught.value.message
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("body", ["<html>", [], {"head": None}, {"head": {"sha": 1}}])
def test_errors__an_answer_of_another_form(api: FakeGitHub, client: GitHub, body: object) -> None:
    api.fail("GET", "pulls", 201, body=body)

    with pytest.raises(GitHubError, match="expected form"):
        client.pull_head(REPOSITORY, 7)


def test_netrc__does_not_replace_the_token(
    api: FakeGitHub, client: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login mallory password other\n")
    monkeypatch.setenv("NETRC", str(netrc))

    assert client.pull_head(REPOSITORY, 7) == HEAD


def test_read_file__raw_content_also_of_a_large_file(api: FakeGitHub, client: GitHub) -> None:
    content = bytes(range(256)) * 8_000
    api.add_file(BASE, "dir/a b#?.json", content)

    assert client.read_file(REPOSITORY, BASE, "dir/a b#?.json", 10_000_000) == content


def test_read_file__empty_is_not_absent(api: FakeGitHub, client: GitHub) -> None:
    api.add_file(BASE, "empty", b"")

    assert client.read_file(REPOSITORY, BASE, "empty", 10) == b""


def test_read_file__absent_in_a_commit_that_is_there(api: FakeGitHub, client: GitHub) -> None:
    api.add_file(BASE, "other", b"")

    assert client.read_file(REPOSITORY, BASE, "none.json", 10) is None
    assert client.read_file(REPOSITORY, BASE, "none2.json", 10) is None
    assert sum("git/commits" in line for line in api.log()) == 1


def test_read_file__unknown_commit_is_not_absent(api: FakeGitHub, client: GitHub) -> None:
    with pytest.raises(GitHubError) as caught:
        client.read_file(REPOSITORY, BASE, "none.json", 10)

    assert caught.value.status == 404


def test_read_file__no_permission_is_not_absent(api: FakeGitHub, client: GitHub) -> None:
    api.add_file(BASE, "a", b"1")
    api.can_read = False

    with pytest.raises(GitHubError):
        client.read_file(REPOSITORY, BASE, "a", 10)


@pytest.mark.parametrize(("path", "words"), [("dir", "is not a file"), ("dir/big", "more than 100 bytes")])
def test_read_file__folder_or_too_large(api: FakeGitHub, client: GitHub, path: str, words: str) -> None:
    api.add_file(BASE, "dir/big", b"x" * 101)

    with pytest.raises(InputError, match=words):
        client.read_file(REPOSITORY, BASE, path, 100)
