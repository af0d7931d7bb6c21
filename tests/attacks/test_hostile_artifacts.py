"""Artifacts and reports that a stranger made: refused with a word to people, never in silence, and no pass."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands import publish, tell
from evalward.commands.artifact import MAX_REPORT_BYTES
from evalward.commands.baseline import update
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.github.accept import evidence_line, unpacked
from evalward.records.report import digest_of
from support.echo_cases import CONFIG, NAMES
from support.git_repo import commit, git, init, write_files
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub, Pull
from support.github_events import BASE, FORK, pull_request, workflow_run

Made = dict[str, Any]


def cases(*broken: str) -> str:
    def line(name: str) -> str:
        task = {
            "id": name,
            "category": "echo",
            "prompt": "Print.",
            "expectations": [{"check": f"stdout_contains:{name}"}],
        }
        return json.dumps({**task, "solution": "echo wrong" if name in broken else f"echo {name}"}) + "\n"

    return "".join(map(line, NAMES))


def world(env: Mapping[str, str] | None = None) -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env=env or {})


def measured(folder: Path, *broken: str) -> Made:
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases(*broken)})
    assert run(world(), RunOptions(folder / "evalward.yml", folder / "out")) == 0
    made: Made = json.loads((folder / "out" / "report.json").read_text("utf-8"))
    return {**made, "provenance": {"commit": HEAD}}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return measured(tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return measured(tmp_path_factory.mktemp("worse"), *NAMES[:3])


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory, honest: Made) -> bytes:
    folder = tmp_path_factory.mktemp("baseline")
    write_files(folder, {"report.json": json.dumps(honest)})
    assert update(world(), folder / "report.json", folder / "baseline.json") == 0
    return (folder / "baseline.json").read_bytes()


@pytest.fixture
def api(baseline: bytes) -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        server.pulls = [Pull(7, HEAD, "topic", FORK, BASE)]
        server.add_file(BASE, "evalward.yml", CONFIG.encode())
        server.add_file(BASE, ".evalward/baseline.json", baseline)
        yield server


@dataclass(frozen=True)
class Stage:
    """Where an artifact is judged: in a workflow of its own, or in another job of the run that measured."""

    folder: Path
    api: FakeGitHub
    event_name: str

    @property
    def artifact(self) -> Path:
        """The folder that the artifact was downloaded to."""
        path = self.folder / "workspace" / "measured"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def put(self, report: object) -> None:
        """Leave this report, or these bytes, in the artifact."""
        data = report if isinstance(report, bytes) else json.dumps(report).encode()
        (self.artifact / "report.json").write_bytes(data)

    def judge(self, **inputs: str) -> tuple[int, str]:
        """Exit code and comment."""
        event = workflow_run() if self.event_name == "workflow_run" else pull_request()
        return act(self.folder, self.api, self.event_name, event, publish="measured", **inputs), self.comment

    @property
    def comment(self) -> str:
        """The comment on the pull request."""
        return "".join(self.api.bodies())


def act(folder: Path, api: FakeGitHub, event_name: str, event: Made, sha: str = "d" * 40, **inputs: str) -> int:
    (folder / "event.json").write_text(json.dumps(event))
    env = {
        "PATH": os.environ["PATH"],
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": event_name,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": sha,
        "GITHUB_API_URL": api.url,
        "GITHUB_RUN_ID": "99",
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "INPUT_GITHUB-TOKEN": TOKEN,
        **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
    }
    return run_action(world(env))


@pytest.fixture(params=["workflow_run", "pull_request"])
def stage(request: pytest.FixtureRequest, tmp_path: Path, api: FakeGitHub) -> Stage:
    return Stage(tmp_path, api, request.param)


def first_case(made: Made, **changes: object) -> Made:
    [one] = made["runs"]
    first, *others = one["cases"]
    return {**made, "runs": [{**one, "cases": [{**first, **changes}, *others]}]}


HOSTILE: dict[str, Callable[[Made], object]] = {
    "deep": lambda _: b"[" * 200_000,
    "deep and closed": lambda r: json.dumps(r)[:-1].encode() + b',"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "not a number": lambda r: first_case(r, score=float("nan")),
    "infinite": lambda r: first_case(r, score=float("inf")),
    "a number of 5000 digits": lambda r: json.dumps(first_case(r, trial=7)).replace(": 7", ": 1" + "0" * 5000).encode(),
    "a lone surrogate": lambda r: first_case(r, category="\ud800"),
    "25 MB": lambda _: b" " * 25_000_000,
    "one byte too many": lambda _: b" " * (MAX_REPORT_BYTES + 1),
    "empty": lambda _: b"",
    "no UTF-8": lambda _: b"\xff\xfe{}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_report__that_is_none(name: str, stage: Stage, honest: Made) -> None:
    stage.put(HOSTILE[name](honest))
    code, comment = stage.judge()
    assert code == 2
    assert "can't be judged" in comment


def folder(path: Path, _secret: Path) -> None:
    path.mkdir()
    (path / "x").write_text("x")


def link(path: Path, secret: Path) -> None:
    path.symlink_to(secret)


def broken_link(path: Path, _secret: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path, _secret: Path) -> None:
    os.mkfifo(path)


def device(path: Path, _secret: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [folder, link, broken_link, pipe, device])
def test_report__that_is_no_file(make: Callable[[Path, Path], None], stage: Stage, honest: Made) -> None:
    secret = stage.folder / "secret.json"
    secret.write_text(json.dumps(honest))
    make(stage.artifact / "report.json", secret)
    code, comment = stage.judge()
    assert code == 2
    assert "can't be judged" in comment


def test_fault_of_ours__is_told_and_is_no_pass(stage: Stage, honest: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever nobody thought of: the comment of an earlier run that passed is replaced."""
    stage.put(honest)
    stage.judge()
    assert "### ✅" in stage.comment

    def fail(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(publish, "recomputed", fail)
    monkeypatch.setattr(tell, "recomputed", fail)
    code, comment = stage.judge()
    assert code == 3
    assert "internal error" in comment
    assert "### ✅" not in comment


# --- the job that tells -----------------------------------------------------------------------------------------------


@pytest.fixture
def job(tmp_path: Path, api: FakeGitHub) -> Stage:
    return Stage(tmp_path, api, "pull_request")


def test_job_that_tells__is_the_check(job: Stage, honest: Made, worse: Made) -> None:
    job.put(honest)
    code, comment = job.judge(status="evalward")
    assert (code, "### ✅ Evalward: passed" in comment) == (0, True)
    assert "Measured by another job of this run" in comment
    assert (
        evidence_line(digest_of(json.dumps(honest).encode())) in comment
    )  # so that a maintainer can accept what is shown
    job.put(worse)
    code, comment = job.judge(status="evalward")
    assert (code, "### ❌ Evalward: failed" in comment) == (1, True)
    assert [status["state"] for _, status in job.api.statuses] == ["success", "failure"]
    assert "(against main@" in job.api.statuses[-1][1]["description"]


def test_job_that_tells__says_what_changed_in_what_judges(job: Stage, honest: Made) -> None:
    job.api.pull_files = [{"filename": "evals/a.jsonl", "status": "modified"}, {"filename": "x", "status": "added"}]
    job.put(honest)
    _, comment = job.judge()
    assert "> - changed `evals/a.jsonl`" in comment
    assert "1 protected file changed" in comment


def test_job_that_tells__believes_no_claimed_number(job: Stage, honest: Made, worse: Made) -> None:
    [one] = worse["runs"]
    job.put({**worse, "runs": [{**one, "metrics": honest["runs"][0]["metrics"]}]})
    code, comment = job.judge()
    assert code == 1
    assert "match its cases" in comment


@pytest.mark.parametrize("measured_commit", ["e" * 40, "", "x\n::error::y"])
def test_job_that_tells__refuses_the_report_of_another_commit(job: Stage, honest: Made, measured_commit: str) -> None:
    job.put({**honest, "provenance": {"commit": measured_commit}})
    code, comment = job.judge()
    assert code == 2
    assert "is judged" in comment


def test_job_that_tells__without_a_measurement_is_no_pass(job: Stage) -> None:
    code, comment = job.judge()
    assert code == 2
    assert "no report" in comment


@pytest.mark.parametrize(("bootstrap", "code"), [("false", 1), ("true", 0)])
def test_job_that_tells__a_base_without_rules_judges_nothing(
    job: Stage, honest: Made, bootstrap: str, code: int
) -> None:
    job.api.files.clear()
    job.api.commits.add(BASE)
    job.put(honest)
    assert job.judge(bootstrap=bootstrap)[0] == code


# --- the input `report` -----------------------------------------------------------------------------------------------


def checked_out(folder: Path, files: Mapping[str, str | bytes], baseline: bytes) -> str:
    """A pull request's head, on top of a base with a gate; returns its commit."""
    workspace = init(folder / "workspace")
    base: dict[str, str | bytes] = {"evalward.yml": CONFIG, "evals/a.jsonl": cases()}
    commit(workspace, {**base, ".evalward/baseline.json": baseline})
    return commit(workspace, files)


def judge_given(folder: Path, api: FakeGitHub, head: str) -> tuple[int, str]:
    api.heads[7] = head
    event = pull_request(head=head, base=git(folder / "workspace", "rev-parse", "HEAD^"))
    return act(folder, api, "pull_request", event, sha=head, report="out/report.json"), "".join(api.bodies())


def test_given_report__that_is_committed(tmp_path: Path, api: FakeGitHub, honest: Made, baseline: bytes) -> None:
    head = checked_out(tmp_path, {"out/report.json": json.dumps({**honest, "provenance": {}})}, baseline)
    code, comment = judge_given(tmp_path, api, head)
    assert code == 2
    assert "is committed" in comment


@pytest.mark.parametrize("where", ["file", "folder"])
def test_given_report__that_a_link_leads_to(
    where: str, tmp_path: Path, api: FakeGitHub, honest: Made, baseline: bytes
) -> None:
    workspace = init(tmp_path / "workspace")
    if where == "folder":
        (workspace / "out").symlink_to("fixtures")
    else:
        (workspace / "out").mkdir()
        (workspace / "out" / "report.json").symlink_to("../fixtures/report.json")
    head = checked_out(tmp_path, {"fixtures/report.json": json.dumps({**honest, "provenance": {}})}, baseline)
    assert judge_given(tmp_path, api, head)[0] == 2


def test_given_report__of_another_commit(tmp_path: Path, api: FakeGitHub, honest: Made, baseline: bytes) -> None:
    head = checked_out(tmp_path, {"README.md": "x"}, baseline)
    write_files(tmp_path / "workspace", {"out/report.json": json.dumps(honest)})
    code, comment = judge_given(tmp_path, api, head)
    assert code == 2
    assert "Measure in the same run" in comment


@pytest.mark.parametrize("said", [True, False])
def test_given_report__of_an_earlier_step(
    said: bool, tmp_path: Path, api: FakeGitHub, honest: Made, baseline: bytes
) -> None:
    head = checked_out(tmp_path, {"README.md": "x"}, baseline)
    origin = {"commit": head} if said else {}
    write_files(tmp_path / "workspace", {"out/report.json": json.dumps({**honest, "provenance": origin})})
    code, comment = judge_given(tmp_path, api, head)
    assert code == 0
    assert ("doesn't say which commit" in comment) is not said


# --- zip files that an acceptance looks into --------------------------------------------------------------------------


def zipped(name: str, method: int) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        archive.writestr(name, bytes(range(256)) * 50)
    return data.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip__with_one_byte_of_another_value(method: int) -> None:
    """Wherever the damage is, there is a report or there is none, and no fault of ours."""
    good = zipped("report.json", method)
    whole = unpacked(good)
    assert whole is not None
    for place in range(0, len(good), 1 if len(good) < 2_000 else 97):
        found = unpacked(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        assert found is None or found == whole


@pytest.mark.parametrize("name", ["../report.json", "/report.json", "a/report.json", "report.json/", "report.json\0x"])
def test_zip__whose_names_lead_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = unpacked(zipped(name, zipfile.ZIP_DEFLATED))
    assert found is None or name.startswith("report.json\0")
    assert list(tmp_path.iterdir()) == []


def test_zip__that_says_it_has_no_size() -> None:
    good = bytearray(zipped("report.json", zipfile.ZIP_DEFLATED))
    start = good.rindex(b"PK\x01\x02")
    struct.pack_into("<I", good, start + 24, 0xFFFFFFFE)
    found = unpacked(bytes(good))
    assert found is None or len(found) == 256 * 50
