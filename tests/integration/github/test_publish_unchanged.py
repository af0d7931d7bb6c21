"""What a fork's run leaves out as unchanged: the second stage decides once more, and the artifact is not asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.github.client import MAX_PULL_FILES
from support.echo_cases import CONFIG
from support.github_api import HEAD, FakeGitHub, Pull
from support.github_events import BASE, FORK, pull_request
from support.publishing import Seen, Stage, measured, staged, updated

README = [{"filename": "README.md", "status": "modified"}]
SPARED = "nothing was measured: the change touches nothing that the suites depend on"
REFUSED = "tools × oracle was left out as unchanged, which doesn't hold here"
LATE = "2026-12-05T08:00:01Z"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], bytes]:
    """The report of the base, and the baseline that was made of it."""
    folder = tmp_path_factory.mktemp("base")
    out = measured(folder)
    report: dict[str, Any] = json.loads((out / "report.json").read_text("utf-8"))
    return report, updated(out)


def left_out(report: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The artifact of a first stage that measured nothing, because the baseline stands."""
    (run,) = report["runs"]
    stands = {"since": report["created_at"], "commit": None, "cases": len(run["cases"])}
    spared = {"cases": [], "metrics": {}, "categories": {}, "planned": 0, "unchanged": stands}
    return {**report, "runs": [{**run, **spared, "not_measured": "unchanged since the baseline, $0", **more}]}


@pytest.fixture
def api(base: tuple[dict[str, Any], bytes]) -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        server.pulls = [Pull(7, HEAD, "topic", FORK, BASE)]
        server.heads[7] = HEAD
        server.pull_files = list(README)
        server.add_file(BASE, "evalward.yml", CONFIG.encode())
        server.add_file(BASE, ".evalward/baseline.json", base[1])
        yield server


@pytest.fixture
def stage(tmp_path: Path, api: FakeGitHub) -> Stage:
    return staged(tmp_path, api)


@pytest.fixture
def artifact(base: tuple[dict[str, Any], bytes]) -> dict[str, Any]:
    return left_out(base[0])


def test_a_readme_alone__passes_as_on_a_branch_of_the_repository(stage: Stage, artifact: dict[str, Any]) -> None:
    seen = stage(artifact, fail_on="inconclusive")
    assert seen.code == 0, seen.log
    assert "### ✅ Evalward: passed" in seen.comment
    assert SPARED in seen.comment
    assert "decided here, by GitHub's list of the changed files" in seen.comment
    assert "results are not verified" not in seen.comment
    assert "How to accept" not in seen.comment


def refused(seen: Seen, why: str) -> None:
    """Nothing stands, and the page says why. It is also the job's summary, where no comment is written."""
    assert seen.code == 1, seen.log
    assert "Evalward: inconclusive" in seen.summary
    assert SPARED not in seen.summary
    assert f"{REFUSED}: {why}." in seen.summary.replace("`", "").replace("\\", "")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([*README, {"filename": "src/tool.py", "status": "modified"}], "src/tool.py changed"),
        ([{"filename": "README.md", "status": "renamed", "previous_filename": "src/help.txt"}], "src/help.txt changed"),
        ([{"filename": "evals/a.jsonl", "status": "removed"}], "evals/a.jsonl changed"),
        ([{"filename": ".github/workflows/evals.yml", "status": "added"}], ".github/workflows/evals.yml changed"),
        (
            [*README, {"filename": "evalward.yml", "status": "modified"}],
            "evalward.yml changed in something that its trials may depend on",
        ),
        ([], "nothing changed"),
        (README * MAX_PULL_FILES, "what changed since the base isn't known"),
    ],
    ids=["source", "renamed", "case", "workflow", "config", "nothing", "too-many"],
)
def test_what_the_pull_request_may_have_touched__is_not_left_out_by_its_own_word(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any], files: list[dict[str, str]], why: str
) -> None:
    api.pull_files = files
    refused(stage(artifact, fail_on="inconclusive"), why)


def test_files_of_another_commit__are_not_those_of_the_run(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any]
) -> None:
    api.heads[7] = "f" * 40
    refused(stage(artifact, fail_on="inconclusive"), "what changed since the base isn't known")


def test_a_list_that_can_not_be_read__is_said(stage: Stage, api: FakeGitHub, artifact: dict[str, Any]) -> None:
    del api.heads[7]
    seen = stage(artifact, fail_on="inconclusive")
    assert "The changed files could not be listed" in seen.summary
    refused(seen, "what changed since the base isn't known")


def test_another_subject_than_the_baselines__does_not_stand(stage: Stage, base: tuple[dict[str, Any], bytes]) -> None:
    (run,) = base[0]["runs"]
    other = left_out(base[0], subject={**run["subject"], "hash": "sha256:" + "0" * 64})
    refused(
        stage(other, fail_on="inconclusive"),
        "its prompt, tool, guidance, model or versions aren't those of the baseline",
    )


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (CONFIG.replace("[oracle]}", "[oracle], always: true}"), "it has always: true"),
        (CONFIG.replace("[oracle]}", "[oracle], trials: 2}"), "the baseline has too few valid trials of a case"),
        (CONFIG.replace("name: tools", "name: others"), "evalward.yml of the base has no suite of this name"),
        (CONFIG + "max_age_days: 0\n", "max_age_days is 0 in evalward.yml of the base"),
    ],
    ids=["always", "trials", "suite", "age"],
)
def test_what_the_base_says_counts(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any], config: str, why: str
) -> None:
    api.add_file(BASE, "evalward.yml", config.encode())
    refused(stage(artifact, fail_on="inconclusive"), why)


def test_an_old_baseline__does_not_stand(tmp_path: Path, api: FakeGitHub, artifact: dict[str, Any]) -> None:
    seen = staged(tmp_path, api, now=LATE)(artifact, fail_on="inconclusive")
    refused(seen, "the baseline is of 2026-11-21, and max_age_days allows 14 days")


def test_a_base_without_a_baseline__has_nothing_that_could_stand(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any]
) -> None:
    del api.files[BASE, ".evalward/baseline.json"]
    seen = stage(artifact, fail_on="inconclusive")
    assert SPARED not in seen.comment
    assert f"{REFUSED}: there is no baseline." in seen.comment


def test_an_artifact_with_trials__stands_by_these(stage: Stage, base: tuple[dict[str, Any], bytes]) -> None:
    (run,) = base[0]["runs"]
    stands = {"since": base[0]["created_at"], "commit": None, "cases": 5}
    seen = stage({**base[0], "runs": [{**run, "unchanged": stands}]}, fail_on="inconclusive")
    assert seen.code == 0
    assert SPARED not in seen.comment
    assert "results are not verified" in seen.comment


def test_the_job_of_the_same_run_that_tells__decides_in_the_same_way(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any]
) -> None:
    commit = {**artifact, "provenance": {**artifact["provenance"], "commit": HEAD}}
    event = pull_request(head=HEAD, base=BASE)
    seen = stage(commit, event, event_name="pull_request", fail_on="inconclusive")
    assert (seen.code, SPARED in seen.comment) == (0, True), seen.log
    api.pull_files = [{"filename": "src/tool.py", "status": "modified"}]
    assert stage(commit, event, event_name="pull_request", fail_on="inconclusive").code == 1


@pytest.mark.parametrize("mode", ["", "160000", "120000"])
def test_a_submodule_or_link__counts_for_what_the_base_names_below_it(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any], mode: str
) -> None:
    config = yaml.safe_load(CONFIG)
    config["suites"][0]["paths"] = ["vend/sub/**/*.py"]
    api.add_file(BASE, "evalward.yml", json.dumps(config).encode())
    changed = "docs/a.md" if mode == "120000" else "vend/sub"
    api.pull_files = [{"filename": changed, "status": "modified", "patch": "@@ -1 +1 @@\n-a\n+b"}]
    api.opaque = {"vend/sub": mode} if mode else {}
    seen = stage(artifact, fail_on="inconclusive")
    if mode:
        refused(seen, f"{changed} changed")
    else:
        assert seen.code == 0, seen.log


def test_a_new_submodule__is_known_by_its_patch(stage: Stage, api: FakeGitHub, artifact: dict[str, Any]) -> None:
    config = yaml.safe_load(CONFIG)
    config["suites"][0]["paths"] = ["vend/sub/**/*.py"]
    api.add_file(BASE, "evalward.yml", json.dumps(config).encode())
    patch = "@@ -0,0 +1 @@\n+Subproject commit 9642c2931397b9599660a0781324d17213983710"
    api.pull_files = [{"filename": "vend/sub", "status": "added", "patch": patch}]
    refused(stage(artifact, fail_on="inconclusive"), "vend/sub changed")


def test_a_tree_that_github_cuts__is_not_known(stage: Stage, api: FakeGitHub, artifact: dict[str, Any]) -> None:
    api.truncated = True
    refused(stage(artifact, fail_on="inconclusive"), "what changed since the base isn't known")
