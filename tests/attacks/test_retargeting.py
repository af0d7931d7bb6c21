"""A verdict against one branch that is meant for another, and a change that decides what it is compared with."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.action import run_action
from evalward.commands.baseline import update
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.git import GitTree
from evalward.github.base import resolve_base
from evalward.github.errors import GitHubError
from evalward.github.event import plan_event
from support.echo_cases import CONFIG, NAMES
from support.git_repo import commit, git, init, pull_request_repo, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import merge_group, pull_request
from support.model_server import KEY, ModelServer, oracle_like

LENIENT = CONFIG.replace("max_drop: 0.1", "max_drop: 1.0") + "fail-on: never\n"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "workflows"


def cases(broken: tuple[str, ...] = (), redefined: tuple[str, ...] = ()) -> str:
    def line(name: str) -> str:
        prompt = f"Print {name}, please." if name in redefined else f"Print {name}."
        task = {
            "id": name,
            "category": "echo",
            "prompt": prompt,
            "expectations": [{"check": f"stdout_contains:{name}"}],
        }
        return json.dumps({**task, "solution": "echo wrong" if name in broken else f"echo {name}"}) + "\n"

    return "".join(map(line, NAMES))


def world(env: Mapping[str, str] | None = None) -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env=env or {})


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("baseline")
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    assert run(world(), RunOptions(folder / "evalward.yml", folder / "out")) == 0
    assert update(world(), folder / "out" / "report.json", folder / "baseline.json") == 0
    return (folder / "baseline.json").read_text("utf-8")


@pytest.fixture
def api() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server


Act = Callable[..., int]


@pytest.fixture
def act(tmp_path: Path, api: FakeGitHub, baseline: str) -> Act:
    """One head, two branches: `main` has a gate, `docs` has nothing. Judge the head against one of them."""
    folder = init(tmp_path / "workspace")
    empty = commit(folder, {"README.md": "docs\n"})
    git(folder, "branch", "docs", empty)
    main = commit(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases(), ".evalward/baseline.json": baseline})

    def call(base: str, head: Mapping[str, str], event_name: str = "pull_request", key: str = "", **inputs: str) -> int:
        shutil.rmtree(folder / "evalward-out", ignore_errors=True)
        git(folder, "checkout", "--quiet", "-B", "topic", main)
        sha = commit(folder, head)
        api.heads[7] = sha
        base_sha = {"main": main, "docs": empty}[base]
        event = pull_request(head=sha, base=base_sha)
        event["pull_request"]["base"]["ref"] = base
        if event_name == "merge_group":
            event = merge_group(base_sha, sha)
        (tmp_path / "event.json").write_text(json.dumps(event))
        env = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": sha,
            "GITHUB_API_URL": api.url,
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "INPUT_GITHUB-TOKEN": TOKEN,
            "INPUT_STATUS": "evalward",
            "OPENAI_API_KEY": key,
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in inputs.items()},
        }
        return run_action(world(env))

    return call


BROKEN = {"evals/a.jsonl": cases(broken=NAMES), "evalward.yml": LENIENT}


def test_a_branch_without_a_gate__gives_no_green_check(act: Act, api: FakeGitHub) -> None:
    """Opened against a branch that knows no rules, to be turned towards the one that does."""
    assert act("docs", BROKEN) == 1
    assert act("docs", {"evals/a.jsonl": cases(broken=NAMES), "evalward.yml": CONFIG}) == 1
    assert {status["state"] for _, status in api.statuses} == {"failure"}
    assert "bootstrap: true" in api.bodies()[0]


def test_a_branch_without_a_gate__in_the_merge_queue(act: Act) -> None:
    assert act("docs", BROKEN, event_name="merge_group") == 1


def test_bootstrap__is_the_workflows_word_alone(act: Act) -> None:
    assert act("docs", {"evalward.yml": CONFIG + "bootstrap: true\n"}) == 2  # no key of the configuration
    assert act("docs", {"evalward.yml": CONFIG}, bootstrap="true") == 0
    assert act("docs", {"evalward.yml": CONFIG}, fail_on="never") == 0


def test_a_branch_without_a_gate__asks_no_model_at_our_expense(act: Act, api: FakeGitHub) -> None:
    """Nor would a budget of the head's own choice bind anybody."""
    config = CONFIG.replace("[oracle]", "[oracle, openai/gpt-5]") + "budget_usd: 1000000\n"
    with ModelServer(oracle_like({})) as server:
        live = config + f"providers: {{openai: {{base_url: '{server.openai_url}'}}}}\n"
        assert act("docs", {"evalward.yml": live}, key=KEY) == 1
        assert server.requests == []
    assert "was not measured" in api.bodies()[0]


def test_bootstrap__changes_nothing_where_the_base_has_rules(act: Act) -> None:
    assert act("main", BROKEN, bootstrap="true") == 1


def test_status_and_comment__name_the_base(act: Act, api: FakeGitHub) -> None:
    act("main", {"README.md": "new\n"})
    assert api.statuses[-1][1]["description"].endswith(")")
    assert "(against main@" in api.statuses[-1][1]["description"]
    assert "judged against `main@" in api.bodies()[0]
    act("docs", {"README.md": "new\n"}, bootstrap="true")
    assert "(against docs@" in api.statuses[-1][1]["description"]


def test_a_merge_commit_of_the_old_base__is_not_judged(tmp_path: Path) -> None:
    """GitHub makes the merge commit anew some time after the base changed: until then, it is the old base's."""
    repo = pull_request_repo(tmp_path / "workspace", {"README.md": "old\n"}, {"evalward.yml": CONFIG})
    tree = GitTree(repo.folder)
    edited = pull_request("edited", head=repo.head, base="c" * 40)
    env = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": repo.merge}
    plan = plan_event(env, {**edited, "changes": {"base": {"ref": {"from": "docs"}}}})
    with pytest.raises(GitHubError, match="has a new base"):
        resolve_base(plan, tree)
    assert resolve_base(plan_event(env, {**edited, "changes": {"title": {"from": "x"}}}), tree).sha == repo.base
    ours = pull_request("edited", head=repo.head, base=repo.base)
    assert resolve_base(plan_event(env, {**ours, "changes": {"base": {}}}), tree).sha == repo.base


# --- cases that the change asks anew ----------------------------------------------------------------------------------


@pytest.mark.parametrize("redefined", [NAMES, NAMES[:4], NAMES[:3]], ids=["all", "all but one", "most"])
def test_redefined_cases__are_no_green_check(redefined: tuple[str, ...], act: Act, api: FakeGitHub) -> None:
    assert act("main", {"evals/a.jsonl": cases(redefined=redefined)}) == 1
    assert "It blocks because most of the known cases were redefined" in api.bodies()[0]
    assert "inconclusive" in api.bodies()[0]


def test_redefined_cases__the_workflow_may_let_pass(act: Act) -> None:
    assert act("main", {"evals/a.jsonl": cases(redefined=NAMES)}, fail_on="regression") == 0


def test_redefined_cases__one_of_several_is_ordinary_work(act: Act, api: FakeGitHub) -> None:
    assert act("main", {"evals/a.jsonl": cases(redefined=("one",))}) == 0
    assert "inconclusive" in api.bodies()[0]


# --- the examples -----------------------------------------------------------------------------------------------------


def pull_request_examples() -> list[Path]:
    found = [path for path in sorted(EXAMPLES.glob("*.yml")) if "pull_request" in on(path)]
    assert len(found) >= 4
    return found


def on(path: Path) -> dict[str, Any]:
    events: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))[True]
    return events


@pytest.mark.parametrize("path", pull_request_examples(), ids=lambda path: path.stem)
def test_example__a_changed_base_is_judged_and_a_changed_text_replaces_no_check(path: Path) -> None:
    """GitHub shows the latest check of each name, and a skipped one as passed. The name of a job with a matrix is only
    made when it runs, so a job that is skipped can't take the required check's place.
    """
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert on(path)["pull_request"]["types"] == ["opened", "synchronize", "reopened", "edited"]
    for job in workflow["jobs"].values():
        assert "needs" in job or "github.event.action != 'edited' || github.event.changes.base" in job["if"]
        assert "${{ matrix." in job["name"]
    judging = list(workflow["jobs"].values())[-1]  # whose check is required
    assert all(len(values) == 1 for values in judging["strategy"]["matrix"].values())
    assert "github.event.action == 'edited' && !github.event.changes.base" in workflow["concurrency"]["group"]
