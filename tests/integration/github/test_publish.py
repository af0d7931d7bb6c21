"""The second stage: what a hostile artifact can't do, and what becomes of an honest one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalward.cli import build_parser
from evalward.commands.artifact import MAX_REPORT_BYTES
from evalward.github.comment import Marker, parse_marker
from support.echo_cases import CONFIG
from support.git_repo import write_files
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub, Pull
from support.github_events import BASE, FORK, workflow_run
from support.publishing import Stage, measured, staged, updated, world

UNVERIFIED = "results are not verified"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of an unbroken run."""
    return read(measured(tmp_path_factory.mktemp("honest")))


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of a run with four broken cases."""
    return read(measured(tmp_path_factory.mktemp("worse"), "one", "two", "three", "four"))


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return updated(measured(tmp_path_factory.mktemp("baseline")))


def read(out: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((out / "report.json").read_text("utf-8"))
    return report


@pytest.fixture
def api(baseline: bytes) -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        server.pulls = [Pull(7, HEAD, "topic", FORK, BASE)]
        server.add_file(BASE, "evalward.yml", CONFIG.encode())
        server.add_file(BASE, ".evalward/baseline.json", baseline)
        yield server


@pytest.fixture
def stage(tmp_path: Path, api: FakeGitHub) -> Stage:
    return staged(tmp_path, api)


def test_honest__is_judged_by_the_base_and_commented(stage: Stage, honest: dict[str, Any]) -> None:
    seen = stage(honest)

    assert seen.code == 0, seen.log
    assert "### ✅ Evalward: passed" in seen.comment
    assert UNVERIFIED in seen.comment
    assert UNVERIFIED in seen.summary
    assert "match its cases" not in seen.comment
    assert parse_marker(seen.comment) == Marker("evalward", HEAD, 20, 2)
    assert "/actions/runs/20" in seen.comment


def test_worse__is_told_and_fails_only_when_asked_to(stage: Stage, worse: dict[str, Any]) -> None:
    told, asked = stage(worse), stage(worse, fail_on="regression")

    assert (told.code, asked.code) == (0, 1)
    assert "### ❌ Evalward: failed" in told.comment
    assert "fail\n" in told.outputs


def test_worse__the_comment_fetches_the_run_that_measured(stage: Stage, worse: dict[str, Any]) -> None:
    seen = stage(worse)
    assert f"gh run download {workflow_run()['workflow_run']['id']} " in seen.comment
    assert "→ `evalward show two`" in seen.comment


def test_page__has_the_places_that_the_comment_will_be_linked_to(
    stage: Stage, worse: dict[str, Any], tmp_path: Path
) -> None:
    """Of the report alone: the fork's own page is never shown."""
    own = tmp_path / "workspace" / "first" / "report.html"
    own.parent.mkdir(parents=True)
    own.write_text("forged")
    seen = stage(worse)
    page = (tmp_path / "workspace" / "evalward-out" / "report.html").read_text("utf-8")
    places = re.findall(r"<!-- evalward:link=(\S+) -->", seen.comment)
    assert len(places) == 4
    assert [page.count(f'id="{place}"') for place in places] == [1] * 4
    assert "forged" not in page


def test_claimed_metrics__are_not_believed(stage: Stage, honest: dict[str, Any], worse: dict[str, Any]) -> None:
    [run] = worse["runs"]
    lie = {**worse, "runs": [{**run, "metrics": honest["runs"][0]["metrics"]}]}

    seen = stage(lie)

    assert "### ❌ Evalward: failed" in seen.comment
    assert "match its cases" in seen.comment
    assert "pass_rate" in seen.comment


def test_fresh_trials__decide_as_they_do_in_the_first_stage(stage: Stage, worse: dict[str, Any]) -> None:
    """Of the case that failed, without the paths that nobody follows."""
    [run] = worse["runs"]
    random = {**worse, "runs": [{**run, "random": True}]}
    passed = {"status": "passed", "score": 2.0, "max_score": 2.0, "reason": None, "checks": []}
    seen = stage(random)
    assert "How sure is this?" in seen.comment
    fresh = [
        {**case, **passed, "trial": trial} for case in run["cases"] if case["status"] == "failed" for trial in (2, 3)
    ]
    seen = stage({**random, "runs": [{**random["runs"][0], "confirmation": fresh}]})

    assert seen.code == 0, seen.log
    assert "### ✅ Evalward: passed" in seen.comment
    assert "4 cases that failed were retried: 8 of 8 retrials passed" in seen.comment


def test_unknown_kind__keeps_no_metrics_and_misses_its_limits(stage: Stage, honest: dict[str, Any]) -> None:
    [run] = honest["runs"]
    seen = stage({**honest, "runs": [{**run, "kind": "mine"}]})

    assert "is not known here" in seen.comment
    assert "### ✅" not in seen.comment


def test_no_config_in_the_base__is_said(stage: Stage, api: FakeGitHub, honest: dict[str, Any]) -> None:
    api.files.clear()

    seen = stage(honest)

    assert seen.code == 0
    assert "nothing was compared" in seen.comment


# --- hostile artifacts ----------------------------------------------------------------------------------------------


def changed(report: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The report with another first result."""
    [run] = report["runs"]
    first, *others = run["cases"]
    return {**report, "runs": [{**run, "cases": [{**first, **changes}, *others]}]}


def confirmed(report: dict[str, Any], *fresh: dict[str, Any], copies: int = 1) -> dict[str, Any]:
    """The report with a confirm stage: fresh trials of the first case, each with these changes."""
    [run] = report["runs"]
    trials = [{**run["cases"][0], "trial": 2 + number, **change} for number, change in enumerate(fresh)]
    return {**report, "runs": [{**run, "confirmation": trials * copies}]}


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "not JSON": lambda _: b"{",
    "not UTF-8": lambda _: b'{"schema": "\xff"}',
    "a list": lambda _: [],
    "deep": lambda _: b"[" * 200_000,
    "another schema": lambda r: {**r, "schema": "evalward.report/2"},
    "too large": lambda _: b" " * (MAX_REPORT_BYTES + 1),
    "too many runs": lambda r: {**r, "runs": [{**r["runs"][0], "suite": f"s{n}", "cases": []} for n in range(201)]},
    "twice the same run": lambda r: {**r, "runs": r["runs"] * 2},
    "twice the same trial": lambda r: {**r, "runs": [{**r["runs"][0], "cases": r["runs"][0]["cases"] * 2}]},
    "planned below zero": lambda r: {**r, "runs": [{**r["runs"][0], "planned": -1}]},
    "planned beyond all": lambda r: {**r, "runs": [{**r["runs"][0], "planned": 10**9}]},
    "a huge number": lambda r: changed(r, duration_ms=10**30),
    "a number of 5000 digits": lambda r: json.dumps(changed(r, duration_ms=7)).replace(": 7", ": 1" + "0" * 5000),
    "infinite": lambda r: changed(r, score=float("inf")),
    "not a number": lambda r: changed(r, score=float("nan")),
    "a score above its maximum": lambda r: changed(r, score=1000.0),
    "a score below zero": lambda r: changed(r, score=-1.0),
    "a text for a number": lambda r: changed(r, duration_ms="7"),
    "a surrogate": lambda r: changed(r, category="\ud800"),
    "a long id": lambda r: changed(r, id="x" * 2000),
    "fresh trials of no case": lambda r: confirmed(r, {"id": "other"}),
    "fresh trials of another definition": lambda r: confirmed(r, {"definition": "sha256:other"}),
    "a fresh trial that is a planned one": lambda r: confirmed(r, {"trial": 1}),
    "a fresh trial numbered among the planned ones": lambda r: confirmed(r, {"trial": 0}),
    "twice the same fresh trial": lambda r: confirmed(r, {}, copies=2),
    "too many fresh trials": lambda r: confirmed(r, *({"trial": n} for n in range(2, 50_002))),
    "a fresh score above its maximum": lambda r: confirmed(r, {"score": 1000.0}),
    "a fresh category that is too long": lambda r: confirmed(r, {"category": "x" * 2000}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile__is_refused_and_that_is_commented(name: str, stage: Stage, honest: dict[str, Any]) -> None:
    made = HOSTILE[name](honest)

    seen = stage(made.encode() if isinstance(made, str) else made)

    assert seen.code == 2, seen.log
    assert "can't be judged" in seen.comment
    assert "error\n" in seen.outputs
    assert "Traceback" not in seen.log


def test_link__is_not_followed(stage: Stage, tmp_path: Path, honest: dict[str, Any]) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(honest))
    (tmp_path / "workspace" / "first").mkdir(parents=True)
    (tmp_path / "workspace" / "first" / "report.json").symlink_to(tmp_path / "secret.json")

    seen = stage()

    assert seen.code == 2
    assert "can't be read" in seen.comment


def test_pipe__is_not_waited_for(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "workspace" / "first").mkdir(parents=True)
    os.mkfifo(tmp_path / "workspace" / "first" / "report.json")

    assert stage().code == 2


def test_no_report__is_said_with_the_run_that_left_none(stage: Stage) -> None:
    seen = stage()

    assert seen.code == 2
    assert "no report" in seen.comment
    assert "/actions/runs/20" in seen.comment


def test_text__stays_text(stage: Stage, worse: dict[str, Any]) -> None:
    seen = stage(changed(worse, message="@octocat <img src=x> ![x](https://evil.example)\n::error::x", id="@octocat"))

    assert seen.code == 0
    assert "<img" not in seen.comment
    assert "`@octocat`" in seen.comment
    assert "\n::error::x" not in seen.log


# --- which pull request ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [Pull(7, "e" * 40, "topic", FORK, BASE)],
        [Pull(7, HEAD, "other", FORK, BASE)],
        [Pull(7, HEAD, "topic", "stranger/second-fork", BASE)],
    ],
    ids=["closed", "moved on", "another branch", "another repository"],
)
def test_other_pulls__are_left_alone(pulls: list[Pull], stage: Stage, api: FakeGitHub, honest: dict[str, Any]) -> None:
    api.pulls = pulls

    seen = stage(honest)

    assert (seen.code, seen.comment) == (0, "")
    assert "nothing to publish" in seen.log


def test_several_pulls__can_not_be_told_apart(stage: Stage, api: FakeGitHub, honest: dict[str, Any]) -> None:
    api.pulls.append(replace(api.pulls[0], number=8, base_ref="release"))

    seen = stage(honest)

    assert (seen.code, seen.comment) == (3, "")
    assert "#7, #8" in seen.log


@pytest.mark.parametrize("change", [{"event": "push"}, {"head_repository": None}, {"head_branch": None}])
def test_runs_of_no_pull__have_nothing_to_publish(
    change: dict[str, Any], stage: Stage, honest: dict[str, Any], api: FakeGitHub
) -> None:
    seen = stage(honest, workflow_run(**change))

    assert (seen.code, seen.comment, api.requests) == (0, "", [])


def test_other_events__are_refused(stage: Stage, honest: dict[str, Any], api: FakeGitHub) -> None:
    seen = stage(honest, event_name="push")

    assert (seen.code, api.requests) == (2, [])
    assert "on: workflow_run" in seen.log


def test_an_odd_branch_name__is_only_a_value(stage: Stage, honest: dict[str, Any], api: FakeGitHub) -> None:
    branch = "a&state=closed#?/%0A"
    api.pulls = [replace(api.pulls[0], ref=branch)]

    seen = stage(honest, workflow_run(head_branch=branch))

    assert (seen.code, UNVERIFIED in seen.comment) == (0, True)
    assert api.requests[0].query["state"] == "open"


def test_github_down__could_not_be_judged(stage: Stage, honest: dict[str, Any], api: FakeGitHub) -> None:
    api.fail("GET", "/pulls$", 401)

    assert stage(honest).code == 3


def test_an_older_run__does_not_overwrite(stage: Stage, honest: dict[str, Any], api: FakeGitHub) -> None:
    api.add_comment(f"{Marker('evalward', HEAD, 21, 1).format()}\nnewer")

    stage(honest)

    assert api.bodies() == [f"{Marker('evalward', HEAD, 21, 1).format()}\nnewer"]


def test_inputs__that_run_something_are_refused(stage: Stage, honest: dict[str, Any]) -> None:
    seen = stage(honest, suites="tools")

    assert seen.code == 2
    assert "combined with publish" in seen.log


def test_command_line__does_the_same(api: FakeGitHub, tmp_path: Path, honest: dict[str, Any]) -> None:
    write_files(tmp_path, {"first/report.json": json.dumps(honest), "event.json": json.dumps(workflow_run())})
    env = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_API_URL": api.url,
        "GITHUB_TOKEN": TOKEN,
        "PATH": os.environ["PATH"],
    }
    args = build_parser().parse_args(["publish", "first", "--fail-on", "regression"])

    assert args.handler(world(env, tmp_path), args) == 0
    assert UNVERIFIED in api.bodies()[0]
    marker, tried, rest = api.bodies()[0].split("\n", 2)
    assert tried.startswith("<!-- evalward:tries {")  # what is posted also remembers the tries of this commit
    assert (tmp_path / "evalward-out" / "comment.md").read_text("utf-8") == f"{marker}\n{rest}"
