"""Every request that we send, every answer of the server that we test with, every event fixture: as GitHub says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from evalward.git import OpaqueEntries
from evalward.github.client import GitHub
from evalward.github.comment import Marker, PullRequest, post
from evalward.github.errors import GitHubError
from evalward.github.status import CommitStatus, State, post_status
from support.github_api import HEAD, REPOSITORY, Answer, FakeGitHub, Pull, Request
from support.github_events import EVENTS
from support.needs import missing
from support.npm import UnavailableError
from support.openapi import Api, description

BASE = "b" * 40
PULL = PullRequest(REPOSITORY, 7)


@pytest.fixture(scope="module")
def openapi() -> Api:
    try:
        return Api(description())
    except UnavailableError as reason:
        missing("npm", f"GitHub's OpenAPI description: {reason}")


def _post(client: GitHub, text: str, folder: Path, run: int = 1) -> None:
    posted = post(
        client,
        PULL,
        Marker("evalward", HEAD, run, 1),
        text,
        mode="always",
        changed=True,
        failed=True,
        keep=lambda _: folder / "comment.md",
    )
    assert posted.action in {"created", "updated"}


def create_and_update(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    _post(client, "one", folder)
    _post(client, "two", folder, 2)


def clean_up_duplicates(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    for _ in range(3):
        api.add_comment(f"{Marker('evalward', HEAD, 1, 1).format()}\nold")
    _post(client, "new", folder, 2)


def many_pages(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    for number in range(250):
        api.add_comment(f"talk {number}", "octocat")
    _post(client, "new", folder)


def a_users_token(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    api.user_login = "octocat"
    _post(client, "new", folder)


def files_of_the_base(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    api.add_file(BASE, "a folder/é#?.yml", b"x")
    assert client.read_file(REPOSITORY, BASE, "a folder/é#?.yml", 100) == b"x"
    assert client.read_file(REPOSITORY, BASE, "none.yml", 100) is None


def open_pulls(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    api.pulls = [Pull(7, HEAD, "a/b&c", "stranger/fork", BASE)]
    assert [pull.number for pull in client.open_pulls(REPOSITORY, "stranger", "a/b&c")] == [7]


def commit_status(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    for state in get_args(State):
        status = CommitStatus("evalward", state, "x" * 300, "https://github.com/octo-org/octo-repo/actions/runs/1")
        assert post_status(client, REPOSITORY, HEAD, status) == ""


def changed_files(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    api.pull_files = [{"filename": "new name.md", "status": "renamed", "previous_filename": "old.md"}]
    assert [file.status for file in client.pull_files(REPOSITORY, 7)] == ["renamed"]


def submodules_and_links(client: GitHub, api: FakeGitHub, folder: Path) -> None:
    api.add_file(BASE, "evalward.yml", b"x")
    api.opaque = {"linkdir": "120000", "vend/sub": "160000"}
    found = client.opaque_entries(REPOSITORY, BASE)
    assert found == OpaqueEntries(frozenset({"vend/sub"}), {"linkdir": ""})
    api.truncated = True
    assert client.opaque_entries(REPOSITORY, BASE) is None


CALLS = [
    create_and_update,
    clean_up_duplicates,
    many_pages,
    a_users_token,
    files_of_the_base,
    open_pulls,
    commit_status,
    changed_files,
    submodules_and_links,
]


@pytest.mark.parametrize("call", CALLS)
def test_request_and_answer__are_as_described(
    call: Callable[[GitHub, FakeGitHub, Path], None],
    openapi: Api,
    client: GitHub,
    api: FakeGitHub,
    tmp_path: Path,
) -> None:
    call(client, api, tmp_path)

    rest = [(request, answer) for request, answer in api.exchanges if request.path != "/graphql"]
    assert rest
    for request, answer in rest:
        assert openapi.request_mistakes(request) == []
        assert openapi.answer_mistakes(request, answer) == []
        assert request.headers["accept"].startswith("application/vnd.github")
        assert request.headers["x-github-api-version"] == "2022-11-28"


def test_calls__cover_the_client() -> None:
    """A new call of the client has to come into `CALLS`."""
    beside = {"close", "hide", "http", "pause"}
    comments = {"login", "comments", "create_comment", "update_comment", "delete_comment", "pull_head"}
    others = {"read_file", "open_pulls", "create_status", "pull_files", "opaque_entries"}

    assert {name for name in vars(GitHub) if not name.startswith("_")} == beside | comments | others


@pytest.mark.parametrize("name", EVENTS)
def test_event_fixture__is_as_described(name: str, openapi: Api) -> None:
    webhook, payload = EVENTS[name]

    assert openapi.event_mistakes(webhook, payload) == []


def request(method: str = "GET", path: str = f"/repos/{REPOSITORY}/pulls", **changes: Any) -> Request:
    return Request(method, path, changes.get("query", {}), {}, changes.get("body"))


MISTAKES = {
    "path": request(path=f"/repos/{REPOSITORY}/pull/7"),
    "method": request("PATCH"),
    "unknown parameter": request(query={"sate": "open"}),
    "wrong parameter": request(query={"state": "opened"}),
    "wrong type": request(query={"per_page": "many"}),
    "number in the path": request(path=f"/repos/{REPOSITORY}/pulls/seven"),
    "no body": request("POST", f"/repos/{REPOSITORY}/issues/7/comments"),
    "wrong body": request("POST", f"/repos/{REPOSITORY}/issues/7/comments", body={"body": 7}),
    "unknown field": request("POST", f"/repos/{REPOSITORY}/issues/7/comments", body={"body": "x", "text": "y"}),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake__is_seen(name: str, openapi: Api) -> None:
    assert openapi.request_mistakes(MISTAKES[name]) != []


def test_wrong_answer__is_seen(openapi: Api) -> None:
    comments = request(path=f"/repos/{REPOSITORY}/issues/7/comments")

    assert openapi.answer_mistakes(comments, Answer(200, [{"id": "one"}])) != []
    assert openapi.answer_mistakes(comments, Answer(200, {"id": 1})) != []
    assert openapi.answer_mistakes(comments, Answer(200, [{"id": 1}])) == []


def test_wrong_event__is_seen(openapi: Api) -> None:
    webhook, payload = EVENTS["workflow_run"]

    assert openapi.event_mistakes(webhook, {**payload, "workflow_run": {"id": "20"}}) != []


def test_every_failure__is_an_answer_that_github_gives(client: GitHub, api: FakeGitHub, openapi: Api) -> None:
    with pytest.raises(GitHubError):
        client.pull_head(REPOSITORY, 99)

    assert [openapi.answer_mistakes(*exchange) for exchange in api.exchanges] == [[]]
