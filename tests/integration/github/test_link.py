"""The mode `link`: run, upload, link. From the event to the comment on a GitHub that runs here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from evalward.github.comment import Marker, comment_body
from evalward.keeper import process
from evalward.render.anchors import case_anchor
from evalward.render.markdown import comment
from support import judgements
from support.echo_cases import NAMES, cases
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub, Pull
from support.github_events import BASE, FORK, issue_comment, merge_group, pull_request, push, workflow_run
from support.github_repo import StoredPull
from support.github_site import Site, new_site

URL = f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001"
MARKER = Marker("evalward", HEAD, 20, 1)


@dataclass(frozen=True)
class Seen:
    """What the step left."""

    code: int
    log: str
    outputs: str
    summary: str


Link = Callable[..., Seen]


@pytest.fixture
def link(tmp_path: Path, api: FakeGitHub) -> Link:
    """Run the action with `mode: link` for an event; the workspace is empty."""

    def call(event: dict[str, Any] | None = None, event_name: str = "pull_request", **inputs: str) -> Seen:
        (tmp_path / "workspace").mkdir(exist_ok=True)
        (tmp_path / "event.json").write_text(json.dumps(event or pull_request()))
        outputs, summary = tmp_path / "outputs", tmp_path / "summary"
        inputs = {"mode": "link", "report_url": URL, "github_token": TOKEN, **inputs}
        env = {
            "GITHUB_WORKSPACE": str(tmp_path / "workspace"),
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": "d" * 40,
            "GITHUB_API_URL": api.url,
            "GITHUB_RUN_ID": "20",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        out = StringIO()
        code = run_action(World(out=out, err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env=env))
        assert list((tmp_path / "workspace").iterdir()) == []
        text = summary.read_text("utf-8") if summary.exists() else ""
        return Seen(code, out.getvalue(), outputs.read_text("utf-8"), text)

    return call


def posted(marker: Marker = MARKER) -> str:
    return comment_body(comment(judgements.failed(), judgements.context(marker=marker.format())), marker)


def test_pull_request__the_comment_is_linked(api: FakeGitHub, link: Link) -> None:
    number = api.add_comment(posted())
    seen = link()
    [body] = api.bodies()
    assert (seen.code, "::notice" in seen.log) == (0, False)
    assert f" · [Report]({URL})\n" in body
    assert f"({URL}#case-json-nested-keys-" in body
    assert f"#issuecomment-{number}" in seen.outputs
    assert seen.summary == f"[Report]({URL}): every case and every trial\n"


def test_a_second_time__nothing_is_written(api: FakeGitHub, link: Link) -> None:
    api.add_comment(posted())
    link()
    before = api.log().count(f"PATCH /repos/{REPOSITORY}/issues/comments/1001")
    assert (link().code, before) == (0, 1)
    assert api.log().count(f"PATCH /repos/{REPOSITORY}/issues/comments/1001") == 1


def test_workflow_run__the_comment_is_about_the_run_that_measured(api: FakeGitHub, link: Link) -> None:
    api.pulls = [Pull(7, HEAD, "topic", FORK, BASE)]
    api.add_comment(posted(Marker("evalward", HEAD, 20, 2)))  # the finished run's number and attempt
    seen = link(workflow_run(), "workflow_run")
    assert (seen.code, URL in api.bodies()[0]) == (0, True)


@pytest.mark.parametrize("pulls", [0, 2])
def test_workflow_run__of_no_pull_request_or_several(api: FakeGitHub, link: Link, pulls: int) -> None:
    api.pulls = [Pull(7 + number, HEAD, "topic", FORK, BASE) for number in range(pulls)]
    seen = link(workflow_run(), "workflow_run")
    assert (seen.code, "::notice" in seen.log) == (0, True)


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("push", push(BASE, HEAD)),
        ("merge_group", merge_group(BASE, HEAD)),
        ("schedule", {}),
        ("workflow_dispatch", {}),
        ("pull_request", pull_request("closed")),
        ("pull_request_target", pull_request()),
        ("issue_comment", issue_comment("x")),
    ],
)
def test_an_event_without_a_comment__has_the_link_in_the_summary(
    api: FakeGitHub, link: Link, name: str, event: dict[str, Any]
) -> None:
    api.add_comment(posted())
    seen = link(event, name)
    assert (seen.code, "no comment to link to the report" in seen.log, URL in seen.summary) == (0, True, True)
    assert (api.log(), api.bodies()) == ([], [posted()])


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"report_url": ""}, "uploaded no page"),
        ({"comment": "off"}, "comment` is off"),
        ({"github_token": ""}, "No github-token"),
    ],
)
def test_what_is_missing__is_a_notice(api: FakeGitHub, link: Link, inputs: dict[str, str], why: str) -> None:
    api.add_comment(posted())
    seen = link(**inputs)
    assert (seen.code, "::notice title=Evalward::" in seen.log, why in seen.log) == (0, True, True)
    assert (URL in seen.summary) is bool(inputs.get("report_url", URL))
    assert (api.log(), api.bodies()) == ([], [posted()])


def test_no_comment__is_a_notice(api: FakeGitHub, link: Link) -> None:
    seen = link()
    assert (seen.code, "There is no comment of this check" in seen.log, api.bodies()) == (0, True, [])


def test_a_newer_runs_comment__is_a_notice(api: FakeGitHub, link: Link) -> None:
    newer = posted(Marker("evalward", HEAD, 21, 1))
    api.add_comment(newer)
    seen = link()
    assert (seen.code, "another run by now" in seen.log, api.bodies()) == (0, True, [newer])


@pytest.mark.parametrize("fork", [False, True])
def test_a_token_that_may_not_write__is_a_notice(api: FakeGitHub, link: Link, fork: bool) -> None:
    api.can_write = False
    api.add_comment(posted())
    seen = link(pull_request(head_repository=FORK if fork else REPOSITORY))
    assert (seen.code, "could not be linked" in seen.log) == (0, True)
    assert ("evalward publish" in seen.log) is fork


@pytest.mark.parametrize("status", [401, 404, 422, 500])
def test_a_github_that_has_trouble__is_a_notice(api: FakeGitHub, link: Link, status: int) -> None:
    api.fail("GET", "comments", status, times=9)
    api.add_comment(posted())
    seen = link()
    assert (seen.code, "could not be linked" in seen.log, api.bodies()) == (0, True, [posted()])


def test_another_address__is_one_mistake(api: FakeGitHub, link: Link) -> None:
    api.add_comment(posted())
    seen = link(report_url="https://evil.example/report.html")
    assert (seen.code, seen.log.count("::error"), api.log()) == (2, 1, [])
    assert "not an artifact of this repository" in seen.summary
    assert "exit-code<<" in seen.outputs


def test_an_event_that_is_not_githubs__is_a_mistake(link: Link) -> None:
    assert link({"action": "synchronize"}).code == 2
    assert link({"action": "completed"}, "workflow_run").code == 2


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as place:
        yield place


def test_check_and_link__as_a_workflow_does_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run, upload, link: the verdict stays, every broken case leads to its anchor, and nothing is opened or started."""
    site.update(site.push({"README.md": "x"}))
    _, head = site.push({"evals/a.jsonl": cases("one", "two", "three")}, "topic")
    site.api.stored[7] = StoredPull(7, "topic", "main")
    event = pull_request(head=head, base=site.api.tip())
    checked = site.act("pull_request", event, head)
    [before] = site.api.bodies()
    page = (site.workspace / "evalward-out" / "report.html").read_text("utf-8")
    (site.workspace / "evalward-out" / "judgement.json").write_text("forged")
    (site.workspace / "evalward-out" / "comment.md").write_text("forged")
    monkeypatch.setattr(process, "PROGRAM", "raise SystemExit('a runner was started')")

    site.runs -= 1  # another step of the same run
    url = f"https://github.com/{REPOSITORY}/actions/runs/{site.runs + 1}/artifacts/5"
    linked = site.act("pull_request", event, head, mode="link", report_url=url)

    [after] = site.api.bodies()
    assert (checked.code, linked.code) == (1, 0)
    assert f"/actions/runs/{site.runs}#artifacts)" in before
    assert [line for line in after.split("\n") if url not in line] == [
        line for line in before.split("\n") if not line.startswith(("### ", "- ❌ `"))
    ]
    anchors = [case_anchor("tools", "oracle", name) for name in NAMES[:3]]
    assert sorted(re.findall(rf"\({re.escape(url)}#([^)]*)\)", after)) == sorted(anchors)
    assert after.count(url) == 4
    assert [page.count(f'id="{anchor}"') for anchor in anchors] == [1] * 3
