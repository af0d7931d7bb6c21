"""The baseline kept by the action: by push, by pull request, by a maintainer's word; on real repositories."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands.baseline_ci import acceptances
from evalward.commands.world import World
from evalward.decide.baseline import read_baseline
from evalward.github.accept import LABEL
from evalward.github.comment import Marker
from support.git_repo import git
from support.github_api import BOT, REPOSITORY, TOKEN
from support.github_events import FORK, issue_comment, labeled, push
from support.github_repo import RepositoryGitHub, StoredPull, StoredRun, server_repository, zipped

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: evals/*.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""
NAMES = ("one", "two", "three", "four", "five")
BASELINE = ".evalward/baseline.json"
MAINTAINER = "mona"


def cases(*broken: str) -> str:
    def line(name: str) -> str:
        checks = [{"check": f"stdout_contains:{name}"}, {"check": "exit_code:0"}]
        solution = "echo wrong" if name in broken else f"echo {name}"
        task = {"id": name, "category": "echo", "prompt": f"Print {name}.", "expectations": checks}
        return json.dumps({**task, "solution": solution}) + "\n"

    return "".join(map(line, NAMES))


@dataclass(frozen=True)
class Seen:
    """What a run of the action left."""

    code: int
    log: str
    outputs: str
    summary: str


@dataclass
class Site:
    """The server with its repository, and a workspace in which the action runs."""

    api: RepositoryGitHub
    folder: Path
    runs: int = 10

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def push(self, files: Mapping[str, str], branch: str = "main") -> tuple[str, str]:
        """Commits before and after."""
        before = self.api.tip(branch) or self.api.tip()
        content = {name: text.encode() for name, text in files.items()}
        return before, self.api.write(branch, content, "change", parent=before)

    def checkout(self, sha: str) -> None:
        git(self.workspace, "fetch", "--quiet", "origin", "+refs/heads/*:refs/remotes/origin/*")
        git(self.workspace, "checkout", "--quiet", "--detach", sha)

    def act(
        self, event: str, payload: Mapping[str, Any], sha: str, *, now: str = "2026-11-21T08:00:00Z", **inputs: str
    ) -> Seen:
        """Run the action with `sha` checked out, as GitHub does for this event."""
        self.runs += 1
        self.checkout(sha)
        before = git(self.workspace, "status", "--porcelain", "--", ".", ":!evalward-out")
        path, outputs, summary = (self.folder / f"{name}{self.runs}" for name in ("event", "outputs", "summary"))
        path.write_text(json.dumps(payload), "utf-8")
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": sha,
            "GITHUB_REF": payload.get("ref", "refs/heads/main"),
            "GITHUB_API_URL": self.api.url,
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "INPUT_GITHUB-TOKEN": TOKEN,
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        out = StringIO()
        code = run_action(World(out=out, err=StringIO(), now=lambda: now, env=env))
        assert git(self.workspace, "status", "--porcelain", "--", ".", ":!evalward-out") == before
        assert git(self.workspace, "rev-parse", "HEAD") == sha
        text = summary.read_text("utf-8") if summary.exists() else ""
        return Seen(code, out.getvalue(), outputs.read_text("utf-8"), text)

    def update(self, pair: tuple[str, str], **inputs: str) -> Seen:
        """A push to main, with the mode that updates."""
        return self.act("push", push(*pair), pair[1], mode="update-baseline", **inputs)

    def passed(self, branch: str = "main") -> int:
        """Passed cases of the committed baseline."""
        found = read_baseline(self.api.text(BASELINE, branch), "b")
        return sum(case.trials[0].status == "passed" for run in found.runs for case in run.cases)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    server_repository(tmp_path, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    with RepositoryGitHub(tmp_path / "server.git") as api:
        api.people = {MAINTAINER: "write", "admin": "admin", "reader": "read", "triager": "triage"}
        yield Site(api, tmp_path)


# --- by push --------------------------------------------------------------------------------------------------------


def test_push__commits_the_baseline_and_the_next_push_of_it_starts_nothing(site: Site) -> None:
    pair = site.push({"README.md": "x"})
    seen = site.update(pair)

    assert seen.code == 0, seen.log
    assert site.passed() == 5
    ours = site.api.tip()
    assert git(site.api.repo, "rev-parse", "main^") == pair[1]
    assert f"/commit/{ours}" in seen.outputs
    assert "| tools × oracle | all | – | 5 of 5 |" in seen.summary

    # With an App's token the commit starts the workflow again: that run does nothing, so there is no third.
    again = site.update((pair[1], ours))
    assert (again.code, site.api.tip()) == (0, ours)
    assert "nothing new to measure" in again.log
    assert again.summary == ""


def test_push__without_news_commits_nothing(site: Site) -> None:
    site.update(site.push({"README.md": "x"}))
    before, after = site.push({"README.md": "y"})
    assert "no change" in site.update((before, after)).log
    assert site.api.tip() == after


def test_push__what_fails_the_gate_does_not_become_the_measure(site: Site) -> None:
    site.update(site.push({"README.md": "x"}))
    before, after = site.push({"evals/a.jsonl": cases("one", "two", "three")})
    seen = site.update((before, after))
    assert (seen.code, site.passed(), site.api.tip()) == (1, 5, after)
    assert "The baseline is not updated" in seen.log


def test_push__dry_run_tells_and_writes_nothing(site: Site) -> None:
    before, after = site.push({"README.md": "x"})
    seen = site.update((before, after), dry_run="true")
    assert (seen.code, site.api.tip()) == (0, after)
    assert "would be committed to main" in seen.log
    assert "**Dry run.**" in seen.summary
    assert not [line for line in site.api.log() if not line.startswith("GET ")]


def test_push__somebody_faster_is_built_upon(site: Site) -> None:
    pair = site.push({"README.md": "x"})
    site.api.meet = [lambda branch: site.api.write(branch, {"other": b"x"}, "faster")]
    seen = site.update(pair)
    assert seen.code == 0
    assert "after 1 meeting(s) with other runs" in seen.log
    assert git(site.api.repo, "log", "-1", "--format=%s", "main^") == "faster"


def test_push__an_older_run_does_not_undo_a_newer_one(site: Site) -> None:
    old, new = site.push({"README.md": "x"}), site.push({"evals/a.jsonl": cases("one")})
    site.update(new, now="2026-11-21T09:00:00Z")
    tip = site.api.tip()
    seen = site.act("push", push(*old), old[1], mode="update-baseline", now="2026-11-21T08:00:00Z")
    assert (seen.code, site.passed(), site.api.tip()) == (0, 4, tip)


def test_push__a_protected_branch_is_told(site: Site) -> None:
    site.api.protected = {"main"}
    seen = site.update(site.push({"README.md": "x"}))
    assert seen.code == 3
    assert "baseline-to: pull-request" in seen.log


def test_update__has_no_place_in_a_pull_request(site: Site) -> None:
    head = topic(site)
    seen = site.act("pull_request", labeled(head, LABEL, MAINTAINER, site.api.tip()), head, mode="update-baseline")
    assert seen.code == 2
    assert "no branch to write to" in seen.log


# --- by pull request ------------------------------------------------------------------------------------------------


def test_pull_request__is_opened_and_kept_current(site: Site) -> None:
    site.update(site.push({"README.md": "x"}))
    tip = site.api.tip()
    worse = site.push({"evals/a.jsonl": cases("one", "two", "three")})
    first = site.update(worse, baseline_to="pull-request")
    second = site.update(site.push({"evals/a.jsonl": cases("one")}), baseline_to="pull-request")

    assert (first.code, second.code) == (0, 0), first.log
    assert list(site.api.stored) == [8]
    pull = site.api.stored[8]
    assert (pull.head, pull.base, pull.state) == ("evalward/baseline", "main", "open")
    assert "| tools × oracle | all | 5 of 5 | 4 of 5 |" in pull.body
    assert (site.passed(), site.passed("evalward/baseline")) == (5, 4)
    assert git(site.api.repo, "merge-base", "main", tip) == tip
    assert "/pull/8" in second.outputs


def test_pull_request__merged_starts_no_new_round(site: Site) -> None:
    before, after = site.push({"README.md": "x"})
    site.update((before, after), baseline_to="pull-request")
    merged = site.api.tip("evalward/baseline")
    git(site.api.repo, "update-ref", "refs/heads/main", merged)
    seen = site.update((after, merged), baseline_to="pull-request")
    assert "nothing new to measure" in seen.log


# --- a maintainer's word --------------------------------------------------------------------------------------------


def topic(site: Site, *broken: str) -> str:
    """A pull request #7 that breaks cases, measured: our comment is there, and the artifact. Returns its head."""
    if "baseline.json" not in git(site.api.repo, "ls-tree", "-r", "--name-only", "main"):
        site.update(site.push({"README.md": "x"}))
    _, head = site.push({"evals/a.jsonl": cases(*(broken or ("one", "two", "three")))}, "topic")
    site.api.stored[7] = StoredPull(7, "topic", "main")
    return head


def measured(site: Site, head: str) -> Seen:
    """The check of a pull request's head: its comment, and its artifact."""
    payload = labeled(head, "other", MAINTAINER, site.api.tip()) | {"action": "synchronize"}
    seen = site.act("pull_request", payload, head)
    report = (site.workspace / "evalward-out" / "report.json").read_bytes()
    site.api.runs[site.runs] = StoredRun(head, artifacts={"evalward": zipped({"report.json": report})})
    return seen


def accept(site: Site, body: str = "/evalward accept slower, but safer", user: str = MAINTAINER, **inputs: str) -> Seen:
    """A comment on the pull request, in a workflow on the default branch."""
    payload = issue_comment(body, user=user)
    return site.act("issue_comment", payload, site.api.tip(), **{"mode": "accept", "status": "evalward", **inputs})


def answer(site: Site) -> str:
    return site.api.bodies()[-1]


def test_accept__by_comment_commits_to_the_head(site: Site) -> None:
    head = topic(site)
    assert measured(site, head).code == 1
    seen = accept(site)

    assert seen.code == 0, seen.log
    assert git(site.api.repo, "rev-parse", "topic^") == head
    assert (site.passed("topic"), site.passed("main")) == (2, 5)
    [told] = acceptances(read_baseline(site.api.text(BASELINE, "topic"), "b"))
    assert "by mona: slower, but safer (accepted unverified, report sha256:" in told
    assert head[:12] in told
    assert site.api.reactions == [(77, "+1")]
    assert "**accepted unverified**" in answer(site)
    assert "the verdict is **pass**" in answer(site)
    assert site.api.statuses[-1][0] == site.api.tip("topic")
    assert site.api.statuses[-1][1]["state"] == "success"
    assert "accepted by mona" in site.api.statuses[-1][1]["description"]


def test_accept__a_limit_of_the_base_still_holds(site: Site) -> None:
    site.push({"evalward.yml": CONFIG + "  - {metric: overall_rate, floor: 0.9}\n"})
    head = topic(site)
    measured(site, head)
    assert accept(site).code == 0
    assert "the verdict is **fail**" in answer(site)
    assert site.api.statuses[-1][1]["state"] == "failure"


def test_accept__twice_has_nothing_to_do(site: Site) -> None:
    measured(site, topic(site))
    accept(site)
    tip = site.api.tip("topic")
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, tip)
    assert "moved on" in answer(site)


@pytest.mark.parametrize("user", ["reader", "triager", "stranger"])
def test_accept__without_permission_is_refused(site: Site, user: str) -> None:
    head = topic(site)
    measured(site, head)
    seen = accept(site, user=user)
    assert (seen.code, site.api.tip("topic"), site.api.reactions) == (2, head, [(77, "-1")])
    assert "Only who may push" in answer(site)


def test_accept__a_moved_head_is_refused(site: Site) -> None:
    measured(site, topic(site))
    _, now = site.push({"more": "x"}, "topic")
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, now)
    assert "The head has moved on" in answer(site)


def test_accept__a_head_that_moves_at_the_last_moment_is_refused(site: Site) -> None:
    measured(site, topic(site))
    site.api.meet = [lambda branch: site.api.write(branch, {"more": b"x"}, "late")]
    seen = accept(site)
    assert seen.code == 2
    assert "has moved on" in answer(site)
    assert git(site.api.repo, "log", "-1", "--format=%s", "topic") == "late"


def test_accept__a_forks_head_is_never_written(site: Site) -> None:
    head = topic(site)
    measured(site, head)
    site.api.stored[7] = StoredPull(7, "topic", "main", repository=FORK, sha=head)
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, head)
    assert "a fork's branch is never written" in answer(site)
    assert not [line for line in site.api.log() if line == "POST /graphql" and "createCommit" in line]


@pytest.mark.parametrize(
    ("body", "why"),
    [("/evalward accept", "A reason is needed"), ("Fine.\n/evalward accept   ", "A reason is needed")],
)
def test_accept__needs_a_reason(site: Site, body: str, why: str) -> None:
    measured(site, topic(site))
    assert accept(site, body).code == 2
    assert why in answer(site)


def test_accept__another_comment_is_not_for_us(site: Site) -> None:
    topic(site)
    seen = accept(site, "> /evalward accept no\n\nShould we /evalward accept this?\n```\n/evalward accept x\n```")
    assert (seen.code, site.api.bodies(), site.api.reactions) == (0, [], [])


def test_accept__a_report_of_another_digest_is_refused(site: Site) -> None:
    head = topic(site)
    measured(site, head)
    other = json.dumps({"schema": "evalward.report/1"}).encode()
    site.api.runs[site.runs] = StoredRun(head, artifacts={"evalward": zipped({"report.json": other})})
    assert accept(site).code == 2
    assert "no artifact `evalward` with the report" in answer(site)
    assert site.api.tip("topic") == head


@pytest.mark.parametrize(
    "changes", [{"head_sha": "c" * 40}, {"event": "push"}, {"repository": FORK}], ids=["head", "event", "fork"]
)
def test_accept__a_run_that_did_not_measure_the_head_is_refused(site: Site, changes: dict[str, str]) -> None:
    head = topic(site)
    measured(site, head)
    run = site.api.runs[site.runs]
    fields = {"head_sha": run.head_sha, "event": run.event, "repository": run.repository, **changes}
    site.api.runs[site.runs] = StoredRun(artifacts=run.artifacts, **fields)
    assert accept(site).code == 2
    assert "did not measure" in answer(site)
    assert site.api.tip("topic") == head


def test_accept__a_marker_that_somebody_else_wrote_does_not_count(site: Site) -> None:
    head = topic(site)
    measured(site, head)
    for comment in site.api.comments[7]:
        comment.login = "stranger"
    assert accept(site).code == 2
    assert "There is no report of Evalward" in answer(site)


def test_accept__what_could_not_be_judged_can_not_be_accepted(site: Site) -> None:
    head = topic(site)
    site.api.add_comment(f"{Marker('evalward', head, 5, 1).format()}\n### 🛑 Evalward: error", BOT)
    assert accept(site).code == 2
    assert "nothing to accept" in answer(site)


def test_accept__dry_run_writes_nothing(site: Site) -> None:
    head = topic(site)
    measured(site, head)
    count = len(site.api.requests)
    seen = accept(site, dry_run="true")
    assert (seen.code, site.api.tip("topic"), site.api.reactions) == (0, head, [])
    assert "Dry run" in seen.summary
    writes = [r for r in site.api.requests[count:] if r.method != "GET"]
    assert all("viewer" in request.body["query"] for request in writes)


def test_accept__a_given_report_has_to_be_the_one_of_the_comment(site: Site) -> None:
    head = topic(site)
    measured(site, head)
    assert accept(site, report="evalward-out/report.json").code == 0
    assert site.passed("topic") == 2


def test_accept__by_label_is_measured_by_that_very_run(site: Site) -> None:
    head = topic(site)
    seen = site.act("pull_request", labeled(head, LABEL, MAINTAINER, site.api.tip()), head, mode="accept")
    assert seen.code == 0, seen.log
    [told] = acceptances(read_baseline(site.api.text(BASELINE, "topic"), "b"))
    assert "by mona: label on: A title (verified, report sha256:" in told
    assert git(site.api.repo, "rev-parse", "topic^") == head
    assert "measured by the run that accepted it" in answer(site)


def test_accept__by_label_is_refused_before_anything_is_measured(site: Site) -> None:
    head = topic(site)
    seen = site.act("pull_request", labeled(head, LABEL, "triager", site.api.tip()), head, mode="accept")
    assert (seen.code, seen.summary.count("pass_rate"), site.api.tip("topic")) == (2, 0, head)
    assert "Only who may push" in answer(site)
    assert site.act("pull_request", labeled(head, "bug", MAINTAINER), head, mode="accept").code == 0
    assert site.api.tip("topic") == head


def test_accept__earlier_acceptances_stay_on_record(site: Site) -> None:
    measured(site, topic(site))
    accept(site)
    _, head = site.push({"evals/a.jsonl": cases(*NAMES)}, "topic")
    measured(site, head)
    assert accept(site, "/evalward accept second").code == 0
    told = acceptances(read_baseline(site.api.text(BASELINE, "topic"), "b"))
    assert [("slower" in line, "second" in line) for line in told] == [(True, False), (False, True)]


# --- releases -------------------------------------------------------------------------------------------------------


def test_release__is_judged_against_the_last_tag_too(site: Site) -> None:
    site.update(site.push({"README.md": "x"}))
    git(site.api.repo, "tag", "v1.0", "main")
    _, head = site.push({"evals/a.jsonl": cases("one", "two", "three")}, "release/2")
    git(site.workspace, "fetch", "--quiet", "--tags", "origin")
    seen = site.act("workflow_dispatch", {"ref": "refs/heads/release/2"}, head, mode="release")
    report = (site.workspace / "evalward-out" / "release-report.md").read_text("utf-8")
    assert seen.code == 1
    assert seen.summary.startswith("# Release report: blocked")
    assert "Against the release `v1.0`" in report
