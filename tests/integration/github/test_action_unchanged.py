"""A pull request that can't have touched a suite: the baseline's trials stand, no model is asked, and that is said."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import PullRequestRepo, commit, init, pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import merge_group, pull_request, push, release
from support.live_runs import CHAT, VARIABLE, Repo, model_of, task
from support.model_server import KEY, ModelServer

TASKS = [task(name) for name in ("one", "two", "three")]
POLICY = [{"metric": "pass_rate", "max_drop": 0.02, "floor": 0.5}]
MADE, NOW, LATE = "2026-11-20T08:00:00Z", "2026-11-23T08:00:00Z", "2026-12-04T08:00:01Z"
TRIALS = 5
README = {"README.md": "# Better words\n"}
SPARED = "nothing was measured: the change touches nothing that the suites depend on"


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of(TASKS)) as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> dict[str, str]:
    """A base with its baseline of five trials of each case, all passed."""
    repo = Repo(tmp_path_factory.mktemp("base"), server)
    repo.write(tasks=TASKS, suite={"system": "prompts/system.md"}, more={"policy": POLICY})
    (repo.root / "prompts").mkdir()
    (repo.root / "prompts" / "system.md").write_text("Use bash.\n", "utf-8")
    assert repo.run("run", "--trials", str(TRIALS)).code == 0
    assert repo.run("baseline", "update").code == 0
    names = ("evalward.yml", "cases.jsonl", "prompts/system.md", ".evalward/baseline.json")
    found = {name: (repo.root / name).read_text("utf-8") for name in names}
    made = json.loads(found[".evalward/baseline.json"])["provenance"]["created_at"]
    found[".evalward/baseline.json"] = found[".evalward/baseline.json"].replace(made, MADE)
    return found


@dataclass(frozen=True)
class Acted:
    """What the action did: its exit code, log and comment, the report, and how many requests it made."""

    code: int
    log: str
    comment: str
    report: dict[str, Any]
    requests: int

    @property
    def measured(self) -> bool:
        """Whether the only run was measured."""
        (run,) = self.report["runs"]
        return run["not_measured"] is None and len(run["cases"]) > 0


@dataclass(frozen=True)
class Acting:
    """The action on a checkout with a base of these files."""

    folder: Path
    server: ModelServer
    base: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=lambda: {VARIABLE: KEY})

    def on(
        self,
        head: Mapping[str, str],
        *,
        now: str = NOW,
        event: str = "pull_request",
        inputs: Mapping[str, str] | None = None,
    ) -> Acted:
        """The action on a pull request that changes these files."""
        repo = pull_request_repo(Path(mkdtemp(dir=self.folder)) / "workspace", dict(self.base), dict(head))
        return self.again(repo, now=now, event=event, inputs=inputs)

    def again(
        self,
        repo: PullRequestRepo,
        *,
        now: str = NOW,
        event: str = "pull_request",
        inputs: Mapping[str, str] | None = None,
    ) -> Acted:
        """The action in a checkout that is there already."""
        payload = {
            "pull_request": pull_request(head=repo.head, base=repo.base),
            "merge_group": merge_group(repo.base, repo.head),
            "push": push(repo.base, repo.merge),
            "schedule": {"schedule": "0 0 * * *"},
            "release": release(),
        }[event]
        before = len(self.server.requests)
        with FakeGitHub() as api:
            api.heads[7] = repo.head
            (self.folder / "event.json").write_text(json.dumps(payload))
            env = {
                "PATH": os.environ["PATH"],
                "GITHUB_WORKSPACE": str(repo.folder),
                "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_EVENT_NAME": event,
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_SHA": repo.head if event == "merge_group" else repo.merge,
                "GITHUB_REF": "refs/heads/main",
                "GITHUB_API_URL": api.url,
                "GITHUB_OUTPUT": str(self.folder / "outputs"),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
                "INPUT_GITHUB-TOKEN": TOKEN,
                **self.env,
                **{f"INPUT_{name.upper()}": value for name, value in (inputs or {}).items()},
            }
            said = StringIO()
            code = run_action(World(out=said, err=said, now=lambda: now, env=env))
            comment = "".join(api.bodies()[:1])
        left = repo.folder / (inputs or {}).get("output-dir", "evalward-out") / "report.json"
        report = json.loads(left.read_text("utf-8")) if left.exists() else {}
        return Acted(code, said.getvalue(), comment, report, len(self.server.requests) - before)


@pytest.fixture
def acting(tmp_path: Path, server: ModelServer, files: dict[str, str]) -> Callable[..., Acting]:
    def made(
        config: Mapping[str, Any] | None = None,
        suite: Mapping[str, Any] | None = None,
        more: Mapping[str, str] | None = None,
        **others: Any,
    ) -> Acting:
        base = {**files, "evalward.yml": configured(files, config, suite), **(more or {})}
        return Acting(tmp_path, server, base, **others)

    return made


def configured(
    files: Mapping[str, str], config: Mapping[str, Any] | None = None, suite: Mapping[str, Any] | None = None
) -> str:
    found = {**json.loads(files["evalward.yml"]), **(config or {})}
    found["suites"] = [{**found["suites"][0], **(suite or {})}]
    return json.dumps(found)


def test_a_readme_alone__costs_nothing(acting: Callable[..., Acting]) -> None:
    found = acting().on(README)
    assert (found.code, found.requests) == (0, 0), found.log
    assert "### ✅ Evalward: passed" in found.comment
    assert SPARED in found.comment
    assert "Unchanged since the baseline of 2026-11-20" in found.comment
    assert "not measured, &#36;0" in found.comment
    assert "How to accept" not in found.comment
    (run,) = found.report["runs"]
    assert (run["cases"], run["metrics"]) == ([], {})  # nothing that a baseline, a history or an anchor could take
    assert run["unchanged"]["since"] == MADE


def test_without_a_key__a_readme_passes_all_the_same(acting: Callable[..., Acting]) -> None:
    found = acting(env={}).on(README)
    assert (found.code, SPARED in found.comment) == (0, True), found.log


@pytest.mark.parametrize(
    "head",
    [
        {"prompts/system.md": "Use bash well.\n"},
        {"src/tool.py": "print()\n"},
        {"uv.lock": "version = 2\n"},
        {"docs/guide.md": "# Guide\n"},
        {"AGENTS.md": "Be good.\n"},
    ],
    ids=lambda head: next(iter(head)),
)
def test_whatever_may_matter__is_measured(acting: Callable[..., Acting], head: dict[str, str]) -> None:
    found = acting().on({**README, **head})
    assert (found.code, found.measured) == (0, True), found.log
    assert found.requests == 2 * len(TASKS)


def test_what_a_link_leads_to__is_measured_where_the_link_is_named(
    acting: Callable[..., Acting], tmp_path: Path
) -> None:
    action = acting(suite={"paths": ["linkdir/**/*.md"]}, more={"docs/deep/guide.md": "1\n"})
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "linkdir").symlink_to("docs")
    repo = pull_request_repo(tmp_path / "linked", dict(action.base), {"docs/deep/guide.md": "2\n"})
    assert action.again(repo).measured


def test_a_changed_submodule__is_measured_where_a_file_below_it_is_named(
    acting: Callable[..., Acting], tmp_path: Path
) -> None:
    action = acting(suite={"paths": ["vend/sub/**/*.py"]})
    inner = init(tmp_path / "linked" / "vend" / "sub")
    commit(inner, {"deep/a.py": "1\n"})
    repo = pull_request_repo(tmp_path / "linked", dict(action.base), README)
    commit(inner, {"deep/a.py": "2\n"})
    assert action.again(replace(repo, merge=commit(repo.folder, {}))).measured


def test_a_changed_case__is_measured(acting: Callable[..., Acting], files: dict[str, str]) -> None:
    found = acting().on({"cases.jsonl": files["cases.jsonl"].replace("echo", "word", 1)})
    assert found.measured


def test_with_an_old_baseline__it_is_measured(acting: Callable[..., Acting]) -> None:
    found = acting().on(README, now=LATE)
    assert (found.code, found.measured) == (0, True), found.log


@pytest.mark.parametrize("event", ["merge_group", "push", "schedule", "release"])
def test_whatever_is_no_pull_request__is_measured(acting: Callable[..., Acting], event: str) -> None:
    found = acting().on(README, event=event)
    assert (found.measured, found.requests) == (True, 2 * len(TASKS)), found.log


def test_a_release_check_of_a_pull_request__measures(acting: Callable[..., Acting]) -> None:
    assert acting().on(README, inputs={"mode": "release"}).measured


def test_another_version_than_the_baselines__is_measured(acting: Callable[..., Acting], files: dict[str, str]) -> None:
    """Nothing in the repository says that the versions have changed: only the subject does."""
    made = json.loads(files[".evalward/baseline.json"])
    made["runs"][0]["subject"]["hash"] = "sha256:" + "0" * 64
    found = acting(more={".evalward/baseline.json": json.dumps(made)}).on(README)
    assert (found.code, found.measured) == (0, True), found.log


def test_shards__leave_it_out__and_so_does_the_job_that_judges(acting: Callable[..., Acting], tmp_path: Path) -> None:
    """No shard asks a model, the plan is one, and the merging job decides by the base once more."""
    act = acting()
    repo = pull_request_repo(tmp_path / "workspace", dict(act.base), README)
    plans = []
    for index in ("0", "1"):
        part = {"shard-index": index, "shard-total": "2", "output-dir": f"parts/{index}"}
        found = act.again(repo, inputs=part)
        assert (found.code, found.requests, found.comment) == (0, 0, ""), found.log
        plans.append(found.report["part"]["plan"])
        assert [run["unchanged"]["since"] for run in found.report["runs"]] == [MADE]
    assert plans[0] == plans[1]
    judged = act.again(repo, inputs={"parts": "parts"})
    assert (judged.code, judged.requests, SPARED in judged.comment) == (0, 0, True), judged.log


def test_parts_that_left_out_what_is_to_be_measured_by_now__are_refused(
    acting: Callable[..., Acting], tmp_path: Path
) -> None:
    """The baseline became too old between the shards and the job that judges."""
    act = acting()
    repo = pull_request_repo(tmp_path / "workspace", dict(act.base), README)
    for index in ("0", "1"):
        act.again(repo, inputs={"shard-index": index, "shard-total": "2", "output-dir": f"parts/{index}"})
    judged = act.again(repo, now=LATE, inputs={"parts": "parts"})
    assert (judged.code, judged.requests) == (2, 0), judged.log
    assert "the parts left it out as unchanged since the baseline" in judged.log


def test_trials_that_the_workflow_asks_for__are_made(acting: Callable[..., Acting]) -> None:
    assert acting().on(README, inputs={"trials": "2"}).measured


@pytest.mark.parametrize(("config", "suite"), [({"max_age_days": 0}, {}), ({}, {"always": True})])
def test_the_base_may_want_it_measured_always(
    acting: Callable[..., Acting], config: dict[str, Any], suite: dict[str, Any]
) -> None:
    assert acting(config, suite).on(README).measured


def test_paths_of_the_base__leave_the_rest_out(acting: Callable[..., Acting]) -> None:
    found = acting(suite={"paths": ["src/**"]}).on({"docs/guide.md": "# Guide\n"})
    assert (found.code, found.requests) == (0, 0), found.log


def test_a_head_that_no_longer_wants_to_be_measured_always__is_measured(
    acting: Callable[..., Acting], files: dict[str, str]
) -> None:
    assert acting(suite={"always": True}).on({"evalward.yml": configured(files)}).measured


def test_a_head_that_lets_baselines_grow_older__is_measured(
    acting: Callable[..., Acting], files: dict[str, str]
) -> None:
    head = {"evalward.yml": configured(files, {"max_age_days": 365})}
    assert acting().on(head, now=LATE).measured
    assert acting({"max_age_days": 0}).on(head).measured


@pytest.mark.parametrize("paths", [["nothing/**"], ["!**"]], ids=["others", "none"])
def test_a_head_that_narrows_its_paths__is_measured(
    acting: Callable[..., Acting], files: dict[str, str], paths: list[str]
) -> None:
    head = {"evalward.yml": configured(files, suite={"paths": paths}), "src/tool.py": "print('worse')\n"}
    assert acting().on(head).measured
    assert acting(suite={"paths": ["src/**"]}).on(head).measured


def test_a_pull_request_that_edits_its_suites_entry__is_measured(
    acting: Callable[..., Acting], files: dict[str, str]
) -> None:
    assert acting().on({"evalward.yml": configured(files, suite={"max_turns": 3})}).measured
    assert CHAT in files["evalward.yml"]


def test_a_changed_policy_alone__is_judged_by_the_bases__on_the_standing_trials(
    acting: Callable[..., Acting], files: dict[str, str]
) -> None:
    lenient = [{"metric": "pass_rate", "max_drop": 0.02, "floor": 0.1}]
    found = acting().on({"evalward.yml": configured(files, {"policy": lenient})})
    assert (found.code, found.requests) == (0, 0), found.log
    assert "edits its policy" in found.comment


def test_a_baseline_that_violates_a_floor__fails_all_the_same(acting: Callable[..., Acting]) -> None:
    ceiling = [{"metric": "total_turns", "ceiling": 1.0}]
    found = acting({"policy": ceiling}).on(README)
    assert (found.code, found.requests) == (1, 0), found.log
    assert "total_turns" in found.comment
