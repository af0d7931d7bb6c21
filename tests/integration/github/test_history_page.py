"""The mode `history-page`: from what pushes kept on the data branch to a page, with nothing measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.decide.history_file import HISTORY_FILE
from support.echo_cases import CONFIG
from support.git_repo import git
from support.github_api import REPOSITORY
from support.github_events import push
from support.github_site import Seen, Site, new_site
from support.histories import long_history
from support.html_pages import HtmlPage, faults

DATA = "evalward-data"
WITH_BRANCH = CONFIG + f"history: {{branch: {DATA}}}\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as made:
        yield made


def page(site: Site, **inputs: str) -> tuple[Seen, HtmlPage | None]:
    tip = site.api.tip()
    seen = site.act("schedule", {"ref": "refs/heads/main"}, tip, mode="history-page", **inputs)
    path = site.workspace / "evalward-out" / "index.html"
    if not path.exists():
        return seen, None
    found = HtmlPage(path.read_text("utf-8"))
    assert list(faults(found, f"https://github.com/{REPOSITORY}/commit/")) == []
    return seen, found


def output(seen: Seen, name: str) -> str:
    found = re.search(rf"^{name}<<(\S+)\n(.*?)\n?\1$", seen.outputs, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[2]


def test_page__of_what_a_push_kept(site: Site) -> None:
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    commits = git(site.folder / "server.git", "rev-list", "--all")
    seen, found = page(site)
    assert seen.code == 0, seen.log
    assert found is not None
    assert "evalward-out/index.html: 1 run, 0.0" in seen.log
    assert output(seen, "exit-code") == "0"
    assert f"https://github.com/{REPOSITORY}/commit/" in "".join(found.links())
    assert git(site.folder / "server.git", "rev-list", "--all") == commits  # nothing was written
    first = found.source
    assert page(site)[1] == HtmlPage(first)  # a second time, over the first


def test_page__without_a_token_from_the_branch_that_was_fetched(site: Site) -> None:
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    with_token = page(site)[1]
    seen, found = page(site, github_token="")
    assert (seen.code, found) == (0, with_token)


def test_page__of_a_folder(site: Site) -> None:
    files = {"evalward.yml": CONFIG + "history: {folder: kept}\n", f"kept/{HISTORY_FILE}": long_history(5, 3)}
    site.push(files)
    seen, found = page(site)
    assert seen.code == 0, seen.log
    assert found is not None
    assert "anthropic/m" in found.source


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (CONFIG, "history: {branch: evalward-data}"),
        (WITH_BRANCH, f"there is no history in the branch {DATA}"),
        (CONFIG + "history: {folder: kept}\n", "there is no history in kept"),
        ("suites: 3\n", "evalward.yml"),
    ],
    ids=["none named", "none kept", "no file", "broken configuration"],
)
def test_page__mistakes(site: Site, config: str, says: str) -> None:
    site.push({"evalward.yml": config})
    seen, found = page(site)
    assert (seen.code, found) == (2, None)
    assert says in seen.log
    assert output(seen, "exit-code") == "2"


def test_page__what_is_no_history_is_said(site: Site) -> None:
    text = "<<<<<<<\n\x1b[31m</title><script>alert(1)</script>\n" + long_history(2, 2)
    site.push({"evalward.yml": CONFIG + "history: {folder: kept}\n", f"kept/{HISTORY_FILE}": text})
    seen, found = page(site)
    assert seen.code == 0
    assert "2 lines are not readable" in seen.log
    assert found is not None
    assert "alert(1)" not in found.source


def test_page__a_link_is_not_followed(site: Site) -> None:
    site.push({"evalward.yml": CONFIG + "history: {folder: kept}\n", "other/history.jsonl": long_history(2, 2)})
    work = site.folder / "linked"
    git(site.folder, "clone", "--quiet", str(site.folder / "server.git"), str(work))
    (work / "kept").symlink_to("other")
    git(work, "add", "-A")
    git(work, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "-m", "x")
    git(work, "push", "--quiet", "origin", "HEAD:main")
    seen, found = page(site)
    assert (seen.code, found) == (2, None)


def test_page__is_no_verdict(site: Site) -> None:
    pair = site.push({"evalward.yml": WITH_BRANCH})
    site.update(pair)
    seen = site.act("push", push(*pair), site.api.tip(), mode="history-page", status="evalward")
    assert output(seen, "verdict") == ""
    assert site.api.statuses == []
