"""The baseline kept by the action: by push, by pull request, by a maintainer's word; on real repositories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.decide.baseline import read_baseline
from evalward.github.accept import LABEL
from evalward.records.report import Provenance
from support.echo_cases import NAMES, cases
from support.git_repo import git, write_files
from support.github_api import REPOSITORY
from support.github_events import labeled, push
from support.github_site import BASELINE, MAINTAINER, Site, new_site, topic
from support.results import report, result, run


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as made:
        yield made


# --- by push --------------------------------------------------------------------------------------------------------


def test_push__commits_the_baseline_and_the_next_push_of_it_starts_nothing(site: Site) -> None:
    pair = site.push({"README.md": "x"})
    seen = site.update(pair)

    assert seen.code == 0, seen.log
    assert site.passed() == 5
    ours = site.api.tip()
    assert git(site.api.repo, "rev-parse", "main^") == pair[1]
    message = git(site.api.repo, "log", "-1", "--format=%B", "main")
    assert f"Measured at {pair[1][:12]}. https://github.com/{REPOSITORY}/actions/runs/" in message
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


def test_push__pools(site: Site) -> None:
    """Reports of an earlier step, as a target that is random would give them."""
    for milliseconds in (11, 12):
        results = [result(name, duration_ms=milliseconds) for name in NAMES]
        pair = site.push({"README.md": str(milliseconds)})
        made = report(run(results, suite="tools", target="anthropic/m", random=True))
        made = made.model_copy(update={"provenance": Provenance(commit=pair[1])})
        write_files(site.workspace, {"evalward-out/made.json": made.model_dump_json(by_alias=True)})
        seen = site.update(pair, baseline_mode="pool", report="evalward-out/made.json")
        assert seen.code == 0, seen.log
    [found] = read_baseline(site.api.text(BASELINE), "b").runs
    assert [len(case.trials) for case in found.cases] == [2] * 5
    assert site.update(site.push({"README.md": "z"}), baseline_mode="best").code == 2


def test_push__somebody_faster_is_built_upon(site: Site) -> None:
    pair = site.push({"README.md": "x"})
    site.api.meet = [lambda branch: site.api.write(branch, {"other": b"x"}, "faster")]
    seen = site.update(pair)
    assert seen.code == 0
    assert "after 1 conflict with other commits" in seen.log
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
