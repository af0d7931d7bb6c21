"""Shards in a matrix: each job measures its part and says nothing, one job judges all of them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.artifact import read_artifact, recomputed
from evalward.commands.world import World
from evalward.decide.history_file import dump_entry
from evalward.records.metric import Metric
from support.cases import task
from support.git_repo import PullRequestRepo, pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import pull_request
from support.histories import entry

CONFIG = """\
version: 1
suites:
  - {name: shell, kind: bash, cases: cases.jsonl, targets: [oracle, nop]}
policy:
  - {metric: pass_rate, suite: shell, target: oracle, floor: 0.9}
"""
NAMES = ("one", "two", "three", "four", "five")
CASES = "".join(json.dumps(task(id=name)) + "\n" for name in NAMES)
BASE = {"evalward.yml": CONFIG, "cases.jsonl": CASES}
TOTAL = 2
PARTS = {"parts": "parts"}


@dataclass
class Site:
    """A pull request's checkout, and GitHub beside it."""

    folder: Path
    repo: PullRequestRepo
    api: FakeGitHub
    outputs: dict[str, str] = field(default_factory=dict)
    said: str = ""

    @property
    def workspace(self) -> Path:
        return self.repo.folder

    def act(self, inputs: Mapping[str, str], attempt: int = 1) -> int:
        """Run the action with these inputs; its exit code."""
        (self.folder / "event.json").write_text(json.dumps(pull_request(head=self.repo.head, base=self.repo.base)))
        (self.folder / "outputs").write_text("")
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": self.repo.merge,
            "GITHUB_API_URL": self.api.url,
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_OUTPUT": str(self.folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        said = StringIO()
        code = run_action(World(out=said, err=said, now=lambda: "2026-11-23T08:00:00Z", env=env))
        self.said = said.getvalue()
        self.outputs = _outputs((self.folder / "outputs").read_text("utf-8"))
        return code

    def shard(self, index: int, attempt: int = 1, name: str = "") -> int:
        """Measure a shard; its output folder then lies where the merging job downloads it."""
        code = self.act({"shard_index": str(index), "shard_total": str(TOTAL), "output_dir": "measured"}, attempt)
        shutil.move(self.workspace / "measured", self.workspace / "parts" / (name or f"evalward-{index}"))
        return code


def _outputs(text: str) -> dict[str, str]:
    found = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, _, end = line.partition("<<")
        value = []
        while (following := next(lines)) != end:
            value.append(following)
        found[name] = "\n".join(value)
    return found


def site_of(folder: Path, api: FakeGitHub, head: Mapping[str, str], base: Mapping[str, str] = BASE) -> Site:
    repo = pull_request_repo(folder / "workspace", dict(base), dict(head))
    api.heads[7] = repo.head
    (repo.folder / "parts").mkdir(exist_ok=True)
    return Site(folder, repo, api)


def test_each_shard_measures_its_part__and_one_job_comments(tmp_path: Path) -> None:
    broken = CASES.replace('"echo hello"', '"echo nothing"', 1)
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"cases.jsonl": broken})
        for index in range(TOTAL):
            assert site.shard(index) == 0, site.said
            assert (site.outputs["verdict"], site.outputs["exit-code"]) == ("", "0")
            assert f"Shard {index + 1}/{TOTAL}: 5 trials measured." in site.said
        assert api.bodies() == []  # a shard has no verdict, so it says none
        assert site.act(PARTS) == 1, site.said
        (comment,) = api.bodies()
    assert "Evalward: failed" in comment
    assert "`one`" in comment
    assert site.outputs["verdict"] == "fail"
    report = json.loads((site.workspace / "evalward-out" / "report.json").read_text("utf-8"))
    assert [len(run["cases"]) for run in report["runs"]] == [5, 5]
    assert len(list((site.workspace / "evalward-out" / "trials").rglob("*.json"))) == 10
    anew = recomputed(read_artifact(site.workspace / "evalward-out"))  # as the second stage of a fork's run
    assert anew.mismatches == []


def test_a_shard_that_is_missing__is_no_verdict(tmp_path: Path) -> None:
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"README.md": "new\n"})
        site.shard(0)
        assert site.act(PARTS) == 3
        (comment,) = api.bodies()
    assert "there is no part of 1 shard of 2: 2" in comment
    assert site.outputs["verdict"] == "error"


def test_a_later_attempt_of_one_shard__is_judged_with_the_others(tmp_path: Path) -> None:
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"README.md": "new\n"})
        for index in range(TOTAL):
            site.shard(index)
        site.shard(1, attempt=2, name="again")
        assert site.act(PARTS, attempt=2) == 0, site.said
    assert "shard 2/2: there are 2 parts of it; the newest counts (parts/again)" in site.said


def test_parts_that_were_not_downloaded__are_one_message(tmp_path: Path) -> None:
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"README.md": "new\n"})
        assert site.act(PARTS) == 2
        (site.workspace / "parts").rmdir()
        first = site.said
        assert site.act(PARTS) == 2
    assert "file=parts::it holds no part. Name the output folders of all shards" in first
    assert "file=parts::there is no such folder. Name the output folders of all shards" in site.said
    assert not (site.workspace / "parts").exists()


def test_parts_that_a_pull_request_brings_along__are_refused(tmp_path: Path) -> None:
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"parts/forged/report.json": "{}"})
        for index in range(TOTAL):
            site.shard(index)
        assert site.act(PARTS) == 2
    assert "file=parts/forged::is committed: what is judged would say its own results" in site.said


def plan_of_shard(folder: Path, base: Mapping[str, str], head: Mapping[str, str]) -> str:
    """What a shard says that the whole plan is."""
    with FakeGitHub() as api:
        site = site_of(folder, api, head, base)
        assert site.shard(0) == 0, site.said
    report = json.loads((site.workspace / "parts" / "evalward-0" / "report.json").read_text("utf-8"))
    plan: str = report["part"]["plan"]
    return plan


def history_of(**times: float) -> str:
    """A line for each target, with the mean time of its trials in milliseconds."""
    made = {
        target: entry(1, cases=5, metrics={"avg_duration_ms": Metric(value=time, unit="ms", better="lower")})
        for target, time in times.items()
    }
    named = [one.model_copy(update={"suite": "shell", "target": target}) for target, one in made.items()]
    return "".join(dump_entry(one) + "\n" for one in named)


def test_the_bases_history_says_how_long_trials_take__whatever_the_head_makes_of_it(tmp_path: Path) -> None:
    config = CONFIG + "history: {folder: kept}\n"
    first, other = (history_of(oracle=1, nop=time) for time in (4, 900))
    base = {**BASE, "evalward.yml": config, "kept/history.jsonl": first}
    readme = {"README.md": "new\n"}
    plan = plan_of_shard(tmp_path / "same", base, readme)
    assert plan_of_shard(tmp_path / "edited", base, {"kept/history.jsonl": other}) == plan
    assert plan_of_shard(tmp_path / "other", {**base, "kept/history.jsonl": other}, readme) != plan


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"shard_index": "0"}, "input shard-total: is missing. Write ${{ strategy.job-total }}."),
        ({"shard_total": "4"}, "input shard-index: is missing. Write ${{ strategy.job-index }}."),
        ({"shard_index": "4", "shard_total": "4"}, "input shard-index: is 4, and there are 4 shards, from 0."),
        ({"shard_index": "x", "shard_total": "4"}, "input shard-index: 'x' is not a whole number from 0 to 255."),
        ({"shard_index": "0", "shard_total": "4", "mode": "release"}, "input mode: has no meaning for a shard."),
        (
            {"shard_index": "0", "shard_total": "4", "parts": "parts"},
            "input shard-index: can't be combined with parts.",
        ),
        ({"parts": "parts", "report": "r.json"}, "input report: can't be combined with parts."),
        ({"parts": "parts", "publish": "p"}, "input publish: can't be combined with parts."),
    ],
)
def test_inputs_that_contradict_each_other__are_mistakes(tmp_path: Path, inputs: dict[str, str], said: str) -> None:
    with FakeGitHub() as api:
        site = site_of(tmp_path, api, {"README.md": "new\n"})
        assert site.act(inputs) == 2
    text = " ".join(site.said.replace("::", ": ").split())
    assert said in text or said in (tmp_path / "summary").read_text("utf-8"), text
