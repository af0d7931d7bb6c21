"""The way to green: a red pull request, a maintainer's word, and what the check says when it runs again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.github.accepted import AcceptanceWord, accepted_line, find_word
from evalward.github.client import GitHub
from evalward.github.repository import RepositoryWriter
from support.echo_cases import cases
from support.git_repo import git
from support.github_api import BOT, REPOSITORY, TOKEN
from support.github_events import merge_group, pull_request
from support.github_repo import RepositoryGitHub
from support.github_site import MAINTAINER, Seen, Site, accept, measured, new_site, topic

WORD = "/evalward accept slower, but safer"
TEXT = '{"schema": "evalward.baseline/1"}\n'


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as made:
        yield made


def again(site: Site, **inputs: str) -> Seen:
    """The check of the pull request's head, as a push or a re-run starts it."""
    head = site.api.tip("topic")
    return site.act("pull_request", pull_request("synchronize", head=head, base=site.api.tip()), head, **inputs)


def report_comment(site: Site) -> str:
    return next(body for body in site.api.bodies() if "evalward:report" in body)


def test_the_way_to_green__of_one_pull_request(site: Site) -> None:
    assert measured(site, topic(site)).code == 1
    asked = site.api.add_comment(WORD, MAINTAINER)
    assert accept(site, WORD, comment=asked).code == 0
    head = site.api.tip("topic")
    assert [(sha == head, body["state"], body["context"]) for sha, body in site.api.statuses] == [
        (True, "success", "evalward (main)")
    ]

    site.push({"README.md": "a typo"}, "topic")  # the check runs again, on another commit
    seen = again(site, status="evalward ({base})")
    assert seen.code == 0, seen.log
    text = report_comment(site)
    assert "passed — accepted by mona: nothing got worse" in text
    assert "Compared with the baseline that mona accepted on this pull request: slower, but safer." in text
    assert site.api.statuses[-1][1]["state"] == "success"

    (site.workspace / ".git" / "info" / "exclude").write_text("measured\n")
    shutil.copytree(site.workspace / "evalward-out", site.workspace / "measured")
    site.api.comments[7] = [comment for comment in site.api.comments[7] if "evalward:report" not in comment.body]
    assert again(site, publish="measured").code == 0  # the second of two jobs
    assert "passed — accepted by mona: nothing got worse" in report_comment(site)

    queued = merge_group(site.api.tip(), site.api.tip("topic"))
    assert site.act("merge_group", queued, site.api.tip("topic"), publish="measured").code == 0

    site.api.fail("GET", r".*/issues/7/comments", 403)
    seen = again(site, comment="off")
    assert (seen.code, "could not be determined" in seen.log) == (1, True)

    site.push({"evals/a.jsonl": cases("one", "two", "three", "four")}, "topic")
    assert again(site).code == 1  # worse than what was accepted
    assert "pass_rate fell" in report_comment(site)

    git(site.api.repo, "update-ref", "refs/heads/main", head)  # merged: the branch's baseline is the accepted one
    assert site.update((head, head)).code == 0
    assert site.passed() == 2


# --- whose word it is -------------------------------------------------------------------------------------------------


@pytest.fixture
def api(tmp_path: Path) -> Iterator[RepositoryGitHub]:
    """A pull request on which mona accepted `TEXT`, and we answered."""
    with RepositoryGitHub(tmp_path) as server:
        server.people = {MAINTAINER: "write", "reader": "read"}
        asked = server.add_comment(WORD, MAINTAINER)
        server.add_comment(f"{accepted_line(TEXT, asked)}\nAccepted by `mona`.", BOT)
        yield server


def word(api: RepositoryGitHub, text: str = TEXT, number: int = 7) -> AcceptanceWord | None:
    with GitHub(TOKEN, api.url) as client:
        return find_word(RepositoryWriter(client, REPOSITORY), number, text.encode())


def test_word__of_who_may_push(api: RepositoryGitHub) -> None:
    assert word(api) == AcceptanceWord("mona", "slower, but safer")


def test_word__is_about_one_baseline_on_one_pull_request(api: RepositoryGitHub) -> None:
    api.comments[8] = []
    assert word(api, TEXT + " ") is None
    assert word(api, number=8) is None


@pytest.mark.parametrize(
    ("change", "comment", "value"),
    [
        ("body", 0, "I take it back"),
        ("body", 0, "> /evalward accept quoted"),
        ("login", 0, "reader"),
        ("login", 0, "stranger"),
        ("login", 1, "mona"),  # a line like ours, in somebody else's comment
        ("body", 1, f"See:\n{accepted_line(TEXT, 1001)}"),  # ours stands first
        ("body", 1, accepted_line(TEXT, 9)),  # the answer to a comment that is gone
    ],
)
def test_word__of_nobody_who_may(api: RepositoryGitHub, change: str, comment: int, value: str) -> None:
    setattr(api.comments[7][comment], change, value)
    assert word(api) is None


def test_word__ends_with_the_permission(api: RepositoryGitHub) -> None:
    api.people[MAINTAINER] = "read"
    assert word(api) is None
