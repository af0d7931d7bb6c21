"""A pull request that touches one skill, in the action and in the second stage of a fork's: what stands of others."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from support.git_repo import pull_request_repo, write_files
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub, Pull
from support.github_events import BASE, FORK, pull_request
from support.publishing import NOW, Stage, staged, updated, world
from support.two_skills import ALL, CONFIG, CSV, FILES, OF_CSV

NOTES = ["notes-query", "notes-task"]
EDIT = {"skills/csv/SKILL.md": f"{CSV}Then write the number.\n"}
EDITED = [{"filename": "skills/csv/SKILL.md", "status": "modified"}]
MISSING = "2 cases (notes-query, notes-task) of the baseline are missing"
STAND = "2 stand as in the baseline of 2026-11-21"


def report_of(folder: Path) -> dict[str, Any]:
    assert run(world(), RunOptions(folder / "evalward.yml", folder / "out")) == 0
    found: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("base")
    write_files(folder, FILES)
    report_of(folder)
    return updated(folder / "out")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that the head gives, measured as a whole."""
    folder = tmp_path_factory.mktemp("head")
    write_files(folder, {**FILES, **EDIT})
    return report_of(folder)


def known(baseline: bytes, *ids: str) -> list[dict[str, Any]]:
    """What an artifact says of cases that it left out."""
    cases = {case["id"]: case for case in json.loads(baseline)["runs"][0]["cases"]}
    return [{key: cases[name][key] for key in ("id", "definition", "depends")} for name in ids]


def left_out(whole: Mapping[str, Any], of: list[dict[str, Any]], *ids: str, **more: Any) -> dict[str, Any]:
    """The artifact of a first stage that didn't measure these cases."""
    (found,) = whole["runs"]
    cases = [case for case in found["cases"] if case["id"] not in ids]
    stands = {"since": NOW, "commit": None, "cases": len(of), "of": of}
    return {**whole, "runs": [{**found, "cases": cases, "planned": len(cases), "standing": stands, **more}]}


@pytest.fixture
def api(baseline: bytes) -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        server.pulls = [Pull(7, HEAD, "topic", FORK, BASE)]
        server.heads[7] = HEAD
        server.pull_files = list(EDITED)
        server.add_file(BASE, "evalward.yml", CONFIG.encode())
        server.add_file(BASE, ".evalward/baseline.json", baseline)
        yield server


@pytest.fixture
def stage(tmp_path: Path, api: FakeGitHub) -> Stage:
    return staged(tmp_path, api)


@pytest.fixture
def artifact(whole: dict[str, Any], baseline: bytes) -> dict[str, Any]:
    """What an honest first stage leaves."""
    return left_out(whole, known(baseline, *NOTES), *NOTES)


def test_cases_that_a_fork_left_out__are_decided_once_more(stage: Stage, artifact: dict[str, Any]) -> None:
    seen = stage(artifact, fail_on="inconclusive")
    assert seen.code == 0, seen.log
    assert STAND in seen.comment.replace("\\", "")
    assert "Measured 3 of 5 cases" in seen.comment
    assert "results are not verified" in seen.comment
    assert "left out as unchanged" not in seen.comment
    assert "How to accept" not in seen.comment


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"files": ["skills/csv/SKILL.md", "skills/notes/read.md"]}, "skills/csv/SKILL.md changed"),
        ({"files": ["skills/csv/SKILL.md", "evals/cases.yaml"]}, "skills/csv/SKILL.md changed"),
        ({"files": ["skills/csv/SKILL.md", "skills/common.md"]}, "skills/csv/SKILL.md changed"),
        ({"files": ["skills/csv/SKILL.md", "evalward.yml"]}, "evalward.yml changed in something"),
        ({"files": ["skills/csv/lib"], "opaque": {"skills/csv/lib": "160000"}}, "skills/csv/lib changed"),
        ({"opaque": {"skills/notes/lib": "120000"}}, "skills/csv/SKILL.md changed"),
        ({"config": f"{CONFIG}    always: true\n"}, "it has always: true"),
    ],
    ids=["other", "cases", "common", "config", "submodule", "link", "always"],
)
def test_what_the_base_does_not_say__stands_for_nothing(
    stage: Stage, api: FakeGitHub, artifact: dict[str, Any], change: dict[str, Any], why: str
) -> None:
    files = change.get("files", ["skills/csv/SKILL.md"])
    api.pull_files = [{"filename": file, "status": "modified", "patch": "@@ -1 +1 @@\n-a\n+b"} for file in files]
    api.opaque = change.get("opaque", {})
    api.add_file(BASE, "evalward.yml", change.get("config", CONFIG).encode())
    said = stage(artifact).summary.replace("`", "").replace("\\", "")
    assert STAND not in said
    assert MISSING in said
    refused = re.search(
        r"skills × oracle( \(2 cases\))? was left out as unchanged, which doesn't hold here: (.*)", said
    )
    assert refused is not None
    assert refused[2].startswith(why)


@pytest.mark.parametrize("forged", ["touched", "definition", "subject", "parts", "since", "unknown", "whole"])
def test_an_artifact__can_not_claim_more_than_the_bases_data_allow(
    stage: Stage, whole: dict[str, Any], baseline: bytes, forged: str
) -> None:
    ids, of = NOTES, known(baseline, *NOTES)
    more: dict[str, Any] = {}
    if forged == "touched":
        ids, of = ["csv-task"], known(baseline, "csv-task")
    elif forged == "definition":
        of[0]["definition"] = "sha256:" + "0" * 64
    elif forged == "subject":
        of[0]["depends"]["subject"] = "sha256:" + "0" * 64
    elif forged == "parts":
        ids, of = ["csv-task"], known(baseline, "csv-task")
        of[0]["depends"]["parts"] = ["skills/notes"]
    elif forged == "since":
        more = {"standing": {"since": "2026-11-22T08:00:00Z", "cases": 2, "of": of}}  # nothing hangs on its word
    elif forged == "unknown":
        ids, of = ["csv-task"], [{**known(baseline, "notes-task")[0], "id": "csv-task"}]
    else:
        ids, of = ALL, known(baseline, *ALL)
        stands = {"since": NOW, "cases": 5, "of": of}
        more = {"unchanged": stands, "standing": None, "not_measured": "unchanged since the baseline, $0"}
    seen = stage(left_out(whole, of, *ids, **more))
    said = " ".join(seen.summary.replace("`", "").split())
    if forged == "since":
        assert STAND in said
    elif forged == "whole":
        assert "3 cases (csv-near, csv-query, csv-task) of the baseline are missing" in said
    else:
        gone = "notes-query" if forged in {"definition", "subject"} else "csv-task"
        assert f"failed — skills × oracle: the case {gone} of the baseline is missing" in said


def test_a_case_that_is_left_out_twice__is_refused(stage: Stage, whole: dict[str, Any], baseline: bytes) -> None:
    seen = stage(left_out(whole, known(baseline, "notes-task", "notes-task"), *NOTES))
    assert "leaves out a case twice" in seen.log + seen.summary


def test_the_action__measures_what_the_pull_request_touches(tmp_path: Path, baseline: bytes) -> None:
    """Also where somebody's report of an earlier step claims to stand."""
    base = {**FILES, ".evalward/baseline.json": baseline.decode()}
    repo = pull_request_repo(tmp_path / "workspace", base, EDIT)
    with FakeGitHub() as api:
        api.heads[7] = repo.head
        (tmp_path / "event.json").write_text(json.dumps(pull_request(head=repo.head, base=repo.base)))
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(repo.folder),
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_API_URL": api.url,
            "GITHUB_OUTPUT": str(tmp_path / "outputs"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
        }
        said = StringIO()
        code = run_action(World(out=said, err=said, now=lambda: NOW, env=env))
        comment = "".join(api.bodies()[:1])
        assert code == 0, said.getvalue()
        (found,) = json.loads((repo.folder / "evalward-out/report.json").read_text("utf-8"))["runs"]
        assert sorted(case["id"] for case in found["cases"]) == OF_CSV
        assert sorted(case["id"] for case in found["standing"]["of"]) == NOTES
        assert STAND in comment
        assert "makes these results the baseline" not in comment
        kept = repo.folder.parent / "report.json"
        kept.write_bytes((repo.folder / "evalward-out/report.json").read_bytes())
        (repo.folder / "given").mkdir()
        kept.rename(repo.folder / "given/report.json")
        given = {**env, "INPUT_REPORT": "given/report.json"}
        assert run_action(World(out=said, err=said, now=lambda: NOW, env=given)) == 1
        assert MISSING in (tmp_path / "summary").read_text("utf-8")
