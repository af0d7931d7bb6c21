"""The base measured alongside the head, by the action on real commits: what differs is what the change did."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import PullRequestRepo, pull_request_repo, shallow_clone
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import FORK, pull_request
from support.live_runs import VARIABLE, Repo, model_of, task
from support.model_server import KEY, ModelServer
from support.two_sides import TwoSided, two_sided

NAMES = ("one", "two", "three", "four", "five", "six")
TASKS = [task(name) for name in NAMES]
POLICY = {
    "policy": [{"metric": "pass_rate", "max_drop": 0.02}],
    "confirm": {"trials": 2, "base_trials": 3, "at_most": 9},
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of(TASKS)) as running:
        yield running


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> dict[str, str]:
    """A base with a baseline of one trial of each case, all passed; its prompt is its own."""
    repo = Repo(tmp_path_factory.mktemp("base"), server)
    (repo.root / "prompt.md").write_text("The bases way.")
    repo.write(tasks=TASKS, suite={"system": "prompt.md"}, more=POLICY, concurrency=1)
    assert repo.run("run").code == 0
    assert repo.run("baseline", "update").code == 0
    names = ("evalward.yml", "cases.jsonl", "prompt.md", ".evalward/baseline.json")
    return {name: (repo.root / name).read_text("utf-8") for name in names}


@dataclass(frozen=True)
class Acted:
    """What the action did on a pull request."""

    code: int
    log: str
    comment: str
    repo: PullRequestRepo

    @property
    def run(self) -> dict[str, Any]:
        """The only run of its report."""
        report = json.loads((self.repo.folder / "evalward-out" / "report.json").read_text("utf-8"))
        (run,) = report["runs"]
        return dict(run)


def act(
    folder: Path, base: dict[str, str], head: dict[str, str], *, shallow: bool = False, stranger: bool = False
) -> Acted:
    """The action on a pull request that changes these files. `shallow`: the clone lacks the base, which GitHub has.

    `stranger`: it comes from a fork, whose run has no key.
    """
    repo = pull_request_repo(folder / "workspace", base, head)
    if shallow:
        repo = replace(repo, folder=shallow_clone(repo, folder / "shallow"))
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        for path, content in base.items() if shallow else ():
            api.add_file(repo.base, path, content.encode())
        event = pull_request(head=repo.head, base=repo.base, head_repository=FORK if stranger else REPOSITORY)
        (folder / "event.json").write_text(json.dumps(event))
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(repo.folder),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
            **({} if stranger else {VARIABLE: KEY}),
        }
        log = StringIO()
        code = run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=env))
        return Acted(code, log.getvalue(), (api.bodies() or [""])[0], repo)


def sided(server: ModelServer, **failing: tuple[str, ...]) -> TwoSided:
    script = two_sided(TASKS, **failing)
    server.settings = replace(server.settings, script=script)
    return script


HEAD = {"prompt.md": "The heads way."}


def outcomes(run: dict[str, Any], side: str) -> list[tuple[str, int, str]]:
    return [(trial["id"], trial["trial"], trial["status"]) for trial in run["beside"][side]]


def test_both_sides_are_measured_in_turns__each_with_its_own_prompt(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    script = sided(server, heads=("one",), bases=())
    done = act(tmp_path, base, HEAD)
    beside = done.run["beside"]
    assert outcomes(done.run, "head") == [("one", number, "failed") for number in (4, 5, 6)], done.log
    assert outcomes(done.run, "base") == [("one", number, "passed") for number in (4, 5, 6)]
    assert (beside["commit"], beside["note"]) == (done.repo.base, None)
    assert script.said[-6:] == [("heads", "one"), ("bases", "one")] * 3
    assert (
        f"In doubt: 1 case, 3 trials on each side, the base commit {done.repo.base[:7]} alongside this one." in done.log
    )


def test_trials_of_the_base__lie_in_a_folder_of_their_own(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    sided(server, heads=("one",), bases=())
    done = act(tmp_path, base, HEAD)
    output = done.repo.folder / "evalward-out"
    for trial in done.run["beside"]["base"]:
        assert trial["trace"].startswith("beside/trials/")
        assert (output / trial["trace"]).is_file()
    for trial in done.run["beside"]["head"]:
        assert trial["trace"].startswith("trials/")
        assert (output / trial["trace"]).is_file()


def test_cases_that_the_base_asks_otherwise__are_left_out(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    """The baseline knows the case as the head asks it, the base commit asks it with more turns: nothing to pair."""
    sided(server, heads=("one", "two"), bases=())
    asked = [task("one", category="other", max_turns=3) if t["id"] == "one" else t for t in TASKS]
    changed = "".join(json.dumps(each) + "\n" for each in asked)
    done = act(tmp_path, {**base, "cases.jsonl": changed}, {**HEAD, "cases.jsonl": base["cases.jsonl"]})
    assert {case for case, _, _ in outcomes(done.run, "base")} == {"two"}, done.log
    assert {case for case, _, _ in outcomes(done.run, "head")} == {"two"}
    assert "1 case is different or missing in the base" in done.run["beside"]["note"]


def test_base_that_the_clone_lacks__is_read_through_the_api(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    sided(server, heads=("one",), bases=())
    done = act(tmp_path, base, HEAD, shallow=True)
    assert outcomes(done.run, "base") == [("one", number, "passed") for number in (4, 5, 6)], done.log
    listed = json.loads(base["evalward.yml"])
    listed["suites"][0]["cases"] = "*.jsonl"
    done = act(tmp_path / "listed", {**base, "evalward.yml": json.dumps(listed)}, HEAD, shallow=True)
    assert "what the base commit has there can't be listed here" in done.run["beside"]["note"], done.log


def test_head_never_reaches_the_bases_folder(tmp_path: Path, server: ModelServer, base: dict[str, str]) -> None:
    """The head would have the base's side look bad: by its own prompt under a name that the base lacks, or has."""
    sided(server, heads=("one",), bases=())
    config = json.loads(base["evalward.yml"])
    config["suites"][0]["system"] = "other.md"
    head = {"evalward.yml": json.dumps(config), "other.md": "The heads way.", "prompt.md": "The heads way, too."}
    done = act(tmp_path, base, head)
    assert outcomes(done.run, "base") == [("one", number, "passed") for number in (4, 5, 6)], done.log


def test_off_in_the_base__is_not_switched_on_by_the_head(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    sided(server, heads=("one",), bases=())
    off = {**json.loads(base["evalward.yml"]), "confirm": {"trials": 2, "base": "off"}}
    done = act(tmp_path, {**base, "evalward.yml": json.dumps(off)}, {**HEAD, "evalward.yml": base["evalward.yml"]})
    assert done.run["beside"] is None, done.log


def test_suite_that_the_base_lacks_the_files_of__is_a_note(
    tmp_path: Path, server: ModelServer, base: dict[str, str]
) -> None:
    sided(server, heads=("one",), bases=())
    lacking = {name: text for name, text in base.items() if name != "prompt.md"}
    done = act(tmp_path, lacking, HEAD)
    assert done.run["beside"]["base"] == done.run["beside"]["head"] == []
    assert "prompt.md" in done.run["beside"]["note"], done.log
    assert done.code in {0, 1}


# --- suites that are compared with the base ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(base: dict[str, str]) -> dict[str, str]:
    """The same without a baseline: both sides are measured now, twice each case."""
    config = json.loads(base["evalward.yml"])
    config["suites"][0] |= {"compare_with": "base", "trials": 2}
    return {"evalward.yml": json.dumps(config), "cases.jsonl": base["cases.jsonl"], "prompt.md": base["prompt.md"]}


def report_of(done: Acted) -> dict[str, Any]:
    return dict(json.loads((done.repo.folder / "evalward-out" / "report.json").read_text("utf-8")))


def test_compared_with_the_base__all_trials_of_both_sides_in_turns(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    script = sided(server, heads=("one", "two", "three"), bases=())
    done = act(tmp_path, compared, HEAD)
    assert script.said[:24] == [(side, name) for name in NAMES for _ in "12" for side in ("heads", "bases")], done.log
    (run,) = report_of(done)["base"]["runs"]
    assert [trial["status"] for trial in run["cases"]] == ["passed"] * 12
    assert report_of(done)["base"]["commit"] == done.repo.base
    assert {"The bases way.", "The heads way."} <= set(report_of(done)["texts"].values())
    assert f"Both sides of live: 12 trials of the base commit {done.repo.base[:7]} alongside this one." in done.log
    assert done.code == 1, done.log


def test_compared_with_the_base__nothing_changed__passes(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    """Both sides fail the same cases: what a committed baseline of better days would have held against the change."""
    sided(server, heads=("one", "two"), bases=("one", "two"))
    done = act(tmp_path, compared, HEAD)
    assert done.code == 0, done.log
    assert "### ✅ Evalward: passed" in done.comment


def test_compared_with_the_base__cases_and_suites_that_are_gone_are_missing(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    sided(server, heads=(), bases=())
    fewer = "".join(json.dumps(each) + "\n" for each in TASKS[1:])
    done = act(tmp_path, compared, {**HEAD, "cases.jsonl": fewer})
    assert done.code == 1, done.log
    assert "the case one of the baseline is missing" in done.log
    config = json.loads(compared["evalward.yml"])
    config["suites"][0]["name"] = "other"
    gone = act(tmp_path / "gone", compared, {**HEAD, "evalward.yml": json.dumps(config)})
    assert gone.code == 1, gone.log
    assert "live × openai/gpt-5 is in the baseline and was not run" in gone.log


def test_compared_with_the_base__that_cant_be_measured__is_no_pass(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    sided(server, heads=(), bases=())
    lacking = {name: text for name, text in compared.items() if name != "prompt.md"}
    done = act(tmp_path, lacking, HEAD)
    assert (done.code, "inconclusive" in done.comment) == (0, True), done.log
    assert "live × openai/gpt-5 was not compared with the base: the base can't be measured" in done.log
    assert "compare_with: baseline" in done.comment


def test_head_that_would_rather_have_the_committed_baseline__changes_nothing(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    sided(server, heads=("one", "two", "three"), bases=())
    config = json.loads(compared["evalward.yml"])
    config["suites"][0]["compare_with"] = "baseline"
    done = act(tmp_path, compared, {**HEAD, "evalward.yml": json.dumps(config)})
    assert done.code == 1, done.log
    assert "compared with the base: live → none" in done.comment


@pytest.mark.parametrize("which", ["base", "compared"])
def test_stranger_without_keys__measures_neither_side(
    tmp_path: Path, server: ModelServer, which: str, request: pytest.FixtureRequest
) -> None:
    files, asked = request.getfixturevalue(which), len(server.requests)
    done = act(tmp_path, files, HEAD, stranger=True)
    assert len(server.requests) == asked
    assert (done.code, "was not measured: there is no key here" in done.log) == (0, True), done.log
    assert done.run["beside"] is None


def test_base_without_a_configuration__is_measured_by_nobody(
    tmp_path: Path, server: ModelServer, compared: dict[str, str]
) -> None:
    sided(server, heads=("one",), bases=())
    asked = len(server.requests)
    done = act(tmp_path, {"README.md": "before"}, {**compared, **HEAD})
    assert len(server.requests) == asked
    assert (done.code, "inconclusive" in done.log) == (1, True), done.log
