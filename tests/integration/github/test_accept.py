"""A maintainer accepts a change by comment or label, and everything for which that is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.commands import accept as commands_accept
from evalward.commands.baseline_ci import acceptances
from evalward.decide.baseline import read_baseline
from evalward.github.accept import LABEL
from evalward.github.comment import Marker
from support.echo_cases import CONFIG, NAMES, cases
from support.git_repo import git
from support.github_api import BOT, REPOSITORY
from support.github_events import FORK, issue_comment, labeled
from support.github_repo import StoredPull, StoredRun, zipped
from support.github_site import BASELINE, MAINTAINER, Site, accept, answer, judged, measured, new_site, topic
from support.markdown import rendered, tags


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as made:
        yield made


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
    judged(site)
    accept(site)
    tip = site.api.tip("topic")
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, tip)
    assert "moved on" in answer(site)


def test_accept__says_on_record_what_would_have_failed(site: Site) -> None:
    judged(site)
    accept(site)
    [accepted] = read_baseline(site.api.text(BASELINE, "topic"), "b").provenance.accepted
    assert any("pass_rate" in what for what in accepted.what)


def test_accept__a_report_that_changed_after_the_word_is_another_one(site: Site) -> None:
    """Also what happens when the workflow's old run is started again."""
    head = judged(site)
    for comment in site.api.comments[7]:
        comment.updated_at = "2026-11-21T08:30:00Z"  # the very second in which the maintainer wrote
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, head)
    assert "The report has changed since" in answer(site)


def test_accept__an_old_run_started_again_accepts_no_later_commit(site: Site) -> None:
    judged(site)
    assert accept(site).code == 0
    _, head = site.push({"evals/a.jsonl": cases(*NAMES)}, "topic")
    measured(site, head)
    for comment in site.api.comments[7]:
        comment.updated_at = "2026-11-21T09:00:00Z"
    assert accept(site).code == 2
    assert site.api.tip("topic") == head


def test_accept__a_program_is_no_maintainer(site: Site) -> None:
    head = judged(site)
    site.api.people["helpful[bot]"] = "admin"
    before = site.api.bodies()
    payload = issue_comment("/evalward accept I was told to", user="helpful[bot]", kind="Bot")
    seen = site.act("issue_comment", payload, site.api.tip(), mode="accept")
    assert (seen.code, site.api.tip("topic"), site.api.bodies()) == (0, head, before)


def test_accept__a_closed_pull_request_is_refused(site: Site) -> None:
    head = judged(site)
    site.api.stored[7].state = "closed"
    assert (accept(site).code, site.api.tip("topic")) == (2, head)
    assert "is closed" in answer(site)


def test_accept__a_reason_is_text_and_nothing_else(site: Site) -> None:
    judged(site)
    links = "fixes #12, Closes: https://github.com/o/r/issues/3 @octo-org/all ![x](https://evil.example/p.png)"
    reason = f"[skip ci] {links} <img src=x> | `a` " + "long " * 200
    assert accept(site, f"/evalward accept {reason}").code == 0
    message = git(site.api.repo, "log", "-1", "--format=%B", "topic")
    assert not [word for word in ("[skip", "#12", "@octo", "Closes: https://") if word in message]
    assert tags(rendered(answer(site)), ["img", "a"]) == []
    [accepted] = read_baseline(site.api.text(BASELINE, "topic"), "b").provenance.accepted
    assert len(accepted.reason) <= 300


def test_accept__the_heads_config_does_not_say_which_file_is_written(site: Site) -> None:
    head = topic(site)
    _, head = site.push({"evalward.yml": CONFIG + "baseline: evals/other.json\n"}, "topic")
    measured(site, head)
    assert accept(site).code == 0
    assert git(site.api.repo, "diff", "--name-only", "topic^", "topic").split() == [BASELINE]


@pytest.mark.parametrize("user", ["reader", "triager", "stranger"])
def test_accept__without_permission_is_refused(site: Site, user: str) -> None:
    head = judged(site)
    seen = accept(site, user=user)
    assert (seen.code, site.api.tip("topic"), site.api.reactions) == (2, head, [(77, "-1")])
    assert "Only who may push" in answer(site)


def test_accept__a_moved_head_is_refused(site: Site) -> None:
    judged(site)
    _, now = site.push({"more": "x"}, "topic")
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, now)
    assert "The head has moved on" in answer(site)


def test_accept__a_head_that_moves_at_the_last_moment_is_refused(site: Site) -> None:
    judged(site)
    site.api.meet = [lambda branch: site.api.write(branch, {"more": b"x"}, "late")]
    seen = accept(site)
    assert seen.code == 2
    assert "has moved on" in answer(site)
    assert git(site.api.repo, "log", "-1", "--format=%s", "topic") == "late"


def test_accept__a_forks_head_is_never_written(site: Site) -> None:
    head = judged(site)
    site.api.stored[7] = StoredPull(7, "topic", "main", repository=FORK, sha=head)
    count = len(site.api.requests)
    seen = accept(site)
    assert (seen.code, site.api.tip("topic")) == (2, head)
    assert "a fork's branch is never written" in answer(site)
    written = [f"{r.method} {r.path}" for r in site.api.requests[count:] if r.method != "GET"]
    comments = f"/repos/{REPOSITORY}/issues"
    assert written == [f"POST {comments}/comments/77/reactions", f"POST {comments}/7/comments"]


@pytest.mark.parametrize(
    ("body", "why"),
    [("/evalward accept", "A reason is needed"), ("Fine.\n/evalward accept   ", "A reason is needed")],
)
def test_accept__needs_a_reason(site: Site, body: str, why: str) -> None:
    judged(site)
    assert accept(site, body).code == 2
    assert why in answer(site)


def test_accept__another_comment_is_not_for_us(site: Site) -> None:
    topic(site)
    seen = accept(site, "> /evalward accept no\n\nShould we /evalward accept this?\n```\n/evalward accept x\n```")
    assert (seen.code, site.api.bodies(), site.api.reactions) == (0, [], [])


def test_accept__a_report_of_another_digest_is_refused(site: Site) -> None:
    head = judged(site)
    other = json.dumps({"schema": "evalward.report/1"}).encode()
    site.api.runs[site.runs] = StoredRun(head, artifacts={"evalward": zipped({"report.json": other})})
    assert accept(site).code == 2
    assert "no artifact `evalward` with the report" in answer(site)
    assert site.api.tip("topic") == head


@pytest.mark.parametrize(
    "changes", [{"head_sha": "c" * 40}, {"event": "push"}, {"repository": FORK}], ids=["head", "event", "fork"]
)
def test_accept__a_run_that_did_not_measure_the_head_is_refused(site: Site, changes: dict[str, str]) -> None:
    head = judged(site)
    run = site.api.runs[site.runs]
    fields = {"head_sha": run.head_sha, "event": run.event, "repository": run.repository, **changes}
    site.api.runs[site.runs] = StoredRun(artifacts=run.artifacts, **fields)
    assert accept(site).code == 2
    assert "did not measure" in answer(site)
    assert site.api.tip("topic") == head


def test_accept__a_marker_that_somebody_else_wrote_does_not_count(site: Site) -> None:
    judged(site)
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
    head = judged(site)
    count = len(site.api.requests)
    seen = accept(site, dry_run="true")
    assert (seen.code, site.api.tip("topic"), site.api.reactions) == (0, head, [])
    assert "Dry run" in seen.summary
    writes = [r for r in site.api.requests[count:] if r.method != "GET"]
    assert all("viewer" in request.body["query"] for request in writes)


def test_accept__a_given_report_has_to_be_the_one_of_the_comment(site: Site) -> None:
    judged(site)
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
    judged(site)
    accept(site)
    _, head = site.push({"evals/a.jsonl": cases(*NAMES)}, "topic")
    measured(site, head)
    assert accept(site, "/evalward accept second").code == 0
    told = acceptances(read_baseline(site.api.text(BASELINE, "topic"), "b"))
    assert [("slower" in line, "second" in line) for line in told] == [(True, False), (False, True)]


def test_accept__a_fault_of_ours_is_answered(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an artifact makes of us, who asked is told."""
    judged(site)

    def fail(_: bytes) -> None:
        raise RecursionError

    monkeypatch.setattr(commands_accept, "parse_report", fail)
    tip = site.api.tip("topic")
    assert accept(site).code == 3
    assert "internal error" in answer(site)
    assert site.api.tip("topic") == tip
