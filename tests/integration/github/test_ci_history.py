"""The history that the action keeps on a data branch and reads from where the base says; it decides nothing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.commands.ci_history import HistoryRequest, keep_history
from evalward.commands.pipeline import decide_report
from evalward.decide.history_file import HISTORY_FILE, append_to_text, read_history
from evalward.github.client import GitHub
from evalward.github.repository import RepositoryWriter
from evalward.records.policy import Policy
from evalward.records.verdict import Judgement
from support.echo_cases import CONFIG, cases
from support.git_repo import git
from support.github_api import REPOSITORY, TOKEN
from support.github_site import Seen, Site, measured, new_site, topic
from support.histories import days, history
from support.patience import PATIENCE_S

DATA = "evalward-data"
WITH_BRANCH = CONFIG + f"history: {{branch: {DATA}}}\n"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with new_site(tmp_path) as made:
        yield made


def lines(site: Site) -> int:
    return len(read_history(site.api.text(HISTORY_FILE, DATA)).entries)


def later(hour: int) -> str:
    return f"2026-11-21T{hour:02d}:00:00Z"


def test_push__makes_the_branch_and_adds_a_line_each_time(site: Site) -> None:
    first = site.update(site.push({"evalward.yml": WITH_BRANCH}), now=later(8))
    assert (first.code, f"{HISTORY_FILE} on {DATA}, a new branch" in first.log) == (0, True)
    assert git(site.api.repo, "rev-list", "--count", DATA) == "1"  # it has no past
    assert git(site.api.repo, "ls-tree", "--name-only", DATA) == HISTORY_FILE
    second = site.update(site.push({"evals/a.jsonl": cases("one")}), now=later(9))
    assert (second.code, f"added to {HISTORY_FILE} on {DATA}" in second.log) == (1, True)  # whatever the verdict
    entries = read_history(site.api.text(HISTORY_FILE, DATA)).entries
    assert [(e.at, e.ref, e.outcome, sorted(e.others)) for e in entries] == [
        (later(8), "main", "pass", []),
        (later(9), "main", "fail", ["one"]),
    ]


def test_push__dry_run_makes_no_branch(site: Site) -> None:
    seen = site.update(site.push({"evalward.yml": WITH_BRANCH}), dry_run="true")
    assert f"the branch {DATA} would be made" in seen.log
    assert DATA not in site.api.branches()


def test_push__a_branch_that_is_measured_is_not_written(site: Site) -> None:
    """With an App's token each line would start the next run."""
    before, after = site.push({"evalward.yml": CONFIG + "history: {branch: main}\n"})
    seen = site.update((before, after))
    assert seen.code == 0
    assert "'main' is the branch that is measured" in seen.log
    assert git(site.api.repo, "log", "--format=%s", "main").count("Keep what") == 0

    site.api.write("develop", {"x": b"x"}, "x", parent=after)  # it has a configuration, so it may be measured as well
    tip = site.api.tip("develop")
    seen = site.update(site.push({"evalward.yml": CONFIG + "history: {branch: develop}\n"}))
    assert "'develop' holds evalward.yml" in seen.log
    assert (seen.code, site.api.tip("develop")) == (0, tip)


def test_push__a_token_that_may_not_write_is_told_and_no_failure(site: Site) -> None:
    site.update(site.push({"README.md": "x"}))
    pair = site.push({"evalward.yml": WITH_BRANCH})
    site.api.can_write = False
    seen = site.update(pair)
    assert (seen.code, "The history was not kept" in seen.log) == (0, True)


def judgement() -> Judgement:
    return decide_report(days({"a": "+"})[0], None, Policy())


def test_keep__two_runs_that_both_make_the_branch(site: Site) -> None:
    """Each finds that there is none, and one of them is faster."""
    reports = days({"a": "+-"})
    told: list[str] = []
    start = threading.Barrier(2)

    def act(index: int) -> None:
        with GitHub(TOKEN, site.api.url, sleep=lambda _: None) as client:
            repository = RepositoryWriter(client, REPOSITORY)
            create = repository.create_branch

            def meeting(branch: str, sha: str) -> None:
                start.wait(PATIENCE_S)
                create(branch, sha)

            repository.create_branch = meeting  # type: ignore[method-assign]
            told.append(
                keep_history(repository, HistoryRequest(DATA, "main", "evalward.yml"), reports[index], judgement())
            )

    threads = [threading.Thread(target=act, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 2
    assert sum("a new branch" in each for each in told) == 1
    assert sorted(e.at for e in read_history(site.api.text(HISTORY_FILE, DATA)).entries) == [
        r.created_at for r in reports
    ]


def test_keep__two_runs_that_append(site: Site) -> None:
    reports = days({"a": "+-+"})
    with GitHub(TOKEN, site.api.url, sleep=lambda _: None) as client:
        repository = RepositoryWriter(client, REPOSITORY)
        keeping = HistoryRequest(DATA, "main", "evalward.yml")
        keep_history(repository, keeping, reports[0], judgement())
        text = append_to_text(site.api.text(HISTORY_FILE, DATA), history([reports[1]]))
        site.api.meet = [lambda branch: site.api.write(branch, {HISTORY_FILE: text.encode()}, "faster")]
        keep_history(repository, keeping, reports[2], judgement())
        assert lines(site) == 3
        assert "already in" in keep_history(repository, keeping, reports[2], judgement())
    assert lines(site) == 3


# --- read by a check ------------------------------------------------------------------------------------------------


HOSTILE = {
    "broken": b"<<<<<<< HEAD\n{\n\xff\xfe\n[[[[[\nnull\n",
    "no text": bytes(range(256)) * 20,
    "deep": b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"\n",
    "oversized": b"x" * 10_000_001,
    "empty": b"",
}


def test_check__a_hostile_history_changes_nothing(site: Site) -> None:
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    head = topic(site)
    before = measured(site, head)
    for kind, content in HOSTILE.items():
        site.api.write(DATA, {HISTORY_FILE: content}, "hostile")
        seen = measured(site, head)
        assert (seen.code, "internal error" in seen.log) == (1, False), kind
        assert outputs(seen) == outputs(before), kind


def outputs(seen: Seen) -> str:
    """The step's outputs, without the random ends of their values."""
    return re.sub(r"evalward-[0-9a-f]{32}", "", seen.outputs)


def test_push__a_hostile_history_is_told_and_continued_where_it_can_be(site: Site) -> None:
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    site.api.write(DATA, {HISTORY_FILE: HOSTILE["oversized"]}, "hostile")
    seen = site.update(site.push({"evalward.yml": WITH_BRANCH + "fail-on: never\n"}), now=later(9))
    assert (seen.code, "The history was not kept" in seen.log) == (0, True)
    site.api.write(DATA, {HISTORY_FILE: b"{}\n\xff"}, "broken")
    seen = site.update(site.push({"evalward.yml": WITH_BRANCH}), now=later(10))
    assert (seen.code, lines(site)) == (0, 1)
    assert "2 lines are not readable" in seen.log


def forged(site: Site, name: str) -> str:
    """A history by which every case fails now and then."""
    entries = read_history(site.api.text(HISTORY_FILE, DATA)).entries
    rows = [json.loads(line) for line in site.api.text(HISTORY_FILE, DATA).splitlines()]
    assert len(entries) == len(rows) == 1
    case_names = list(rows[0]["cases"])
    made = []
    for day in range(1, 13):
        row = {**rows[0], "at": f"2026-11-{day:02d}T08:00:00Z", "commit": f"{day:040x}", "report": f"{day:012x}"}
        row |= {"random": True, "others": {case: [0, 1, 0, 0] for case in case_names} if day % 2 else {}}
        row["evalward"] = name
        made.append(json.dumps(row) + "\n")
    return "".join(made)


def test_check__a_pull_request_can_not_choose_its_history(site: Site) -> None:
    """Not with a configuration of its own, and not with a file in a folder that the base names."""
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    text = forged(site, "forged")
    head = topic(site)
    plain = measured(site, head)
    files = {"evalward.yml": CONFIG + "history: {folder: mine}\n", f"mine/{HISTORY_FILE}": text}
    _, head = site.push(files, "topic")
    seen = measured(site, head)
    assert (plain.code, seen.code) == (1, 1)
    assert "Trend over 12 runs" not in site.api.bodies()[0]

    site.push({"evalward.yml": CONFIG + "history: {folder: mine}\n"})
    git(site.api.repo, "update-ref", "refs/heads/topic", site.api.tip())
    _, head = site.push({**files, "evals/a.jsonl": cases("one", "two", "three")}, "topic")
    assert measured(site, head).code == 1
    assert "Trend over 12 runs" not in site.api.bodies()[0]


@pytest.mark.parametrize("place", ["folder", "branch"])
def test_check__the_trend_is_in_the_comment_and_excuses_nothing(site: Site, place: str) -> None:
    site.update(site.push({"evalward.yml": WITH_BRANCH}))
    text = forged(site, "1")
    if place == "folder":
        config = CONFIG + "history: {folder: kept}\n"
        site.push({"evalward.yml": config, f"kept/{HISTORY_FILE}": text})
    else:
        site.api.write(DATA, {HISTORY_FILE: text.encode()}, "many")
    head = topic(site)
    seen = measured(site, head)
    assert seen.code == 1
    assert "Trend over 12 runs" in site.api.bodies()[0]
    assert "xychart-beta" in site.api.bodies()[0]


# --- the anchor -----------------------------------------------------------------------------------------------------

LENIENT = CONFIG.replace("max_drop: 0.1", "max_drop: 0.25") + "".join(  # one of five cases may go with each push
    f"  - {{metric: {name}, max_drop: 0.25}}\n" for name in ("overall_rate", "tool_call_success_rate")
)
LOST = "since v1.0 tools × oracle lost 40.0 pp"


def released(site: Site, config: str = LENIENT) -> None:
    """A baseline of five passed cases, released as v1.0; then one case broke, which the policy allows."""
    site.update(site.push({"evalward.yml": config}), now=later(8))
    git(site.api.repo, "tag", "v1.0", "main")
    assert site.update(site.push({"evals/a.jsonl": cases("one")}), now=later(9)).code == 0
    assert site.passed() == 4


def test_anchor__what_was_lost_bit_by_bit_since_the_release_fails_a_push_and_warns_a_pull_request(site: Site) -> None:
    released(site)
    pulled = measured(site, topic(site, "one", "two"))
    assert (pulled.code, LOST in pulled.log) == (0, True)
    [body] = site.api.bodies()
    assert "since v1.0" in body

    # The push switches the anchor off, for the next one.
    before, after = site.push({"evals/a.jsonl": cases("one", "two"), "evalward.yml": LENIENT + "anchor: off\n"})
    seen = site.update((before, after), now=later(10))
    assert (seen.code, site.passed(), site.api.tip()) == (1, 4, after)  # what fails is not committed
    assert LOST in seen.log
    assert "more than the 25 pp allowed" in seen.summary
    assert "The baseline is not updated" in seen.log

    proposed = site.update((before, after), now=later(10), baseline_to="pull-request")
    assert (proposed.code, "opened" in proposed.log) == (1, True)


@pytest.mark.parametrize("said", ["off", "v2.0"])
def test_anchor__off_or_a_release_that_is_not_there_says_nothing_of_a_loss(site: Site, said: str) -> None:
    released(site, LENIENT + f"anchor: {said}\n")
    seen = site.update(site.push({"evals/a.jsonl": cases("one", "two")}), now=later(10))
    assert (seen.code, LOST in seen.log) == (0, False)
    assert ("the clone has no tag of that name" in seen.log) is (said == "v2.0")
