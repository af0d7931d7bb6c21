"""A check that is run again on the same commit: nobody re-runs it until chance makes it green."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.github.tries import parse_tries
from evalward.records.report import Provenance
from evalward.records.verdict import Outcome
from support.echo_cases import CONFIG, NAMES
from support.git_repo import write_files
from support.github_events import labeled
from support.github_site import MAINTAINER, Seen, Site, new_site, topic
from support.outcomes import trials
from support.results import report, run

REPORT = "evalward-out/made.json"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A repository whose five cases always passed, in five trials of a random target."""
    with new_site(tmp_path) as made:
        pair = made.push({"evalward.yml": CONFIG})
        write(made, pair[1], dict.fromkeys(NAMES, "PPPPP"))
        assert made.update(pair, report=REPORT).code == 0
        yield made


def write(site: Site, head: str, now: Mapping[str, str], fresh: Mapping[str, str] | None = None) -> None:
    """The report of an earlier step: letters as in `support.outcomes`."""
    planned = max(map(len, now.values()))
    more: dict[str, Any] = {"trials": planned, "confirmation": trials(fresh or {}, planned + 1)}
    made = run(trials(now), suite="tools", target="anthropic/m", random=True, **more)
    text = report(made, provenance=Provenance(commit=head)).model_dump_json(by_alias=True)
    write_files(site.workspace, {REPORT: text})


def check(site: Site, head: str, failing: Mapping[str, str], **inputs: str) -> Seen:
    """A run of the check on the pull request's head; cases that fail have fresh trials."""
    site.checkout(head)
    write(site, head, {**dict.fromkeys(NAMES, "P"), **dict.fromkeys(failing, "F")}, failing)
    payload = labeled(head, "other", MAINTAINER, site.api.tip()) | {"action": "synchronize"}
    return site.act("pull_request", payload, head, report=REPORT, **inputs)


def test_rerun__a_proven_failure_stays_one_however_the_next_tries_go(site: Site) -> None:
    head = topic(site)
    assert check(site, head, {"one": "FFFF", "two": "FFFF"}).code == 1
    second = check(site, head, {"one": "FFPF"})
    assert second.code == 1
    assert "over two attempts at this commit, 11 of 12 retrials of two cases failed" in second.log
    third = check(site, head, {})
    assert third.code == 1
    [body] = site.api.bodies()
    assert [one.outcome for one in parse_tries(body)] == [Outcome.FAIL] * 3

    # A new commit starts anew.
    _, moved = site.push({"README.md": "mended"}, "topic")
    fresh = check(site, moved, {})
    assert (fresh.code, "attempt at this commit" in fresh.log) == (0, False)


def test_rerun__green_after_red_is_inconclusive_also_behind_a_run_that_broke(site: Site) -> None:
    """The first failed by a floor. The second breaks before it judges, and what was before is not forgotten."""
    head = topic(site)
    strict = CONFIG.replace("max_drop: 0.1", "floor: 0.9, max_drop: 0.1")
    site.push({"evalward.yml": strict})
    assert check(site, head, {"one": "PPPP"}).code == 1
    broken = check(site, head, {}, profile="none")
    assert broken.code == 2
    [body] = site.api.bodies()
    assert [one.outcome for one in parse_tries(body)] == [Outcome.FAIL, Outcome.ERROR]

    seen = check(site, head, {})
    assert (seen.code, "inconclusive" in seen.outputs) == (0, True)
    told = "this is the third attempt at this commit: the first failed, the second could not be judged"
    assert told in seen.log
    assert told in site.api.bodies()[0]
    assert check(site, head, {}, fail_on="inconclusive").code == 1


def test_rerun__what_others_wrote_counts_for_nothing(site: Site) -> None:
    head = topic(site)
    check(site, head, {"one": "FFFF", "two": "FFFF"})
    body = site.api.bodies()[0]
    _, moved = site.push({"README.md": "x"}, "topic")
    site.api.add_comment(body.replace(head, moved), "mallory")
    assert (check(site, moved, {}).code, "attempt at this commit" in site.api.bodies()[0]) == (0, False)


def test_rerun__without_a_comment_a_later_attempt_says_that_nothing_is_known(site: Site) -> None:
    head = topic(site)
    seen = check(site, head, {"one": "FFFF", "two": "FFFF"}, comment="off")
    assert (seen.code, site.api.bodies()) == (1, [])
    again = check(site, head, {}, comment="off", attempt="3")
    assert again.code == 0
    assert "third attempt of this workflow run; the results of the earlier ones are not known" in again.log


def test_rerun__of_a_push_is_told_by_the_history(site: Site) -> None:
    kept = site.push({"evalward.yml": CONFIG + "history: {branch: evalward-data}\n"})
    write(site, kept[1], dict.fromkeys(NAMES, "PPPPP"))
    site.update(kept, report=REPORT)
    pair = site.push({"README.md": "x"})
    failing = {**dict.fromkeys(NAMES, "P"), "one": "F", "two": "F"}
    write(site, pair[1], failing, {"one": "FFFF", "two": "FFFF"})
    assert site.update(pair, report=REPORT, now="2026-11-21T09:00:00Z").code == 1
    write(site, pair[1], dict.fromkeys(NAMES, "P"))
    again = site.update(pair, report=REPORT, now="2026-11-21T10:00:00Z", attempt="2")
    assert "this is the second attempt at this commit: the first failed, so one attempt" in again.log
    assert (again.code, "inconclusive" in again.outputs) == (0, True)
