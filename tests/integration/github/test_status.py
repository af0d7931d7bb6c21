from __future__ import annotations

import pytest

from evalward.github.client import GitHub
from evalward.github.status import CommitStatus, post_status, status_state
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub

STATUS = CommitStatus("evalward", "failure", "pass_rate fell\n" + "x" * 200, "https://github.com/o/r/actions/runs/1")


def test_status__is_posted_with_a_description_that_fits(api: FakeGitHub, client: GitHub) -> None:
    assert post_status(client, REPOSITORY, HEAD, STATUS) == ""
    [(sha, body)] = api.statuses
    assert (sha, body["state"], body["context"], body["target_url"]) == (HEAD, "failure", "evalward", STATUS.target_url)
    assert len(body["description"]) == 140
    assert body["description"].startswith("pass_rate fell x")


def test_status__without_the_permission_it_says_which(api: FakeGitHub, client: GitHub) -> None:
    api.can_write = False
    assert "`statuses: write`" in post_status(client, REPOSITORY, HEAD, STATUS)


@pytest.mark.parametrize("status", [404, 422, 500])
def test_status__no_answer_raises(api: FakeGitHub, client: GitHub, status: int) -> None:
    api.fail("POST", "/statuses/", status, 20)
    assert "could not be posted" in post_status(client, REPOSITORY, HEAD, STATUS)


def test_status__is_repeated_after_an_outage(api: FakeGitHub, client: GitHub) -> None:
    api.fail("POST", "/statuses/", 502)
    assert post_status(client, REPOSITORY, HEAD, STATUS) == ""


def test_status__never_tells_the_token(api: FakeGitHub, client: GitHub) -> None:
    post_status(client, REPOSITORY, HEAD, CommitStatus("e", "error", f"broke: {TOKEN}", ""))
    assert TOKEN not in api.statuses[0][1]["description"]


@pytest.mark.parametrize(("code", "state"), [(0, "success"), (1, "failure"), (2, "error"), (3, "error")])
def test_state__is_the_exit_codes(code: int, state: str) -> None:
    assert status_state(code) == state
