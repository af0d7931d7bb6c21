"""`--plan` from end to end: what it says before anything is spent, and that nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.live_runs import Repo, model_of, repo_with, task
from support.model_server import ModelServer

NAMES = ("one", "two", "three", "four")
TASKS = [task(name) for name in NAMES]
POLICY: dict[str, Any] = {"policy": [{"metric": "pass_rate", "max_drop": 0.02}]}
COST = 2 * (70 * 1 + 20 * 0.1 + 30 * 10) / 1e6  # of a trial, in dollars: two turns


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The baseline: one trial of each case but the last."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path_factory.mktemp("baseline"), server)
        repo.write(tasks=TASKS[:3], more=POLICY)
        assert repo.run("run").code == 0
        assert repo.run("baseline", "update").code == 0
        return (repo.root / ".evalward" / "baseline.json").read_bytes()


@pytest.fixture
def repo(tmp_path: Path, known: bytes) -> Iterator[Repo]:
    with ModelServer(model_of(TASKS)) as server:
        yield repo_with(tmp_path, server, known, TASKS, POLICY)


def test_check_plan__figures_of_the_baseline_and_nothing_is_asked_or_written(repo: Repo) -> None:
    done = repo.run("check", "--plan", "--format", "json")
    assert done.code == 0, done.err
    plan = json.loads(done.out)
    (run,) = plan["runs"]
    assert (run["due"], run["cases_new"], run["usage"]["requests"]["amount"]) == (4, 1, 8)
    assert run["usage"]["cost_usd"]["amount"] == pytest.approx(4 * COST)
    assert repo.asked() == []
    assert not repo.path("report.json").parent.exists()


@pytest.mark.parametrize("command", ["check", "run"])
def test_plan_for_people__on_standard_output(repo: Repo, command: str) -> None:
    done = repo.run(command, "--plan")
    assert done.code == 0, done.err
    assert done.out.startswith("Plan: 1 run, trials: 4. Nothing was run.\n")
    assert done.err == ""
    assert repo.asked() == []


def test_live_check__begins_with_its_plan(repo: Repo) -> None:
    done = repo.run("check")
    assert done.err.startswith("Plan: trials 4, requests 8, tokens ")
    assert len(repo.asked()) == 8  # as planned


def test_resumed__what_is_kept_is_not_planned_again(repo: Repo) -> None:
    assert repo.run("run").code == 0
    before = len(repo.asked())
    done = repo.run("check", "--plan", "--resume", "--format", "json")
    plan = json.loads(done.out)
    assert (plan["due"], plan["kept"], plan["usage"]["cost_usd"]["amount"]) == (0, 4, 0)
    assert len(repo.asked()) == before


def test_format_without_plan__is_a_mistake(repo: Repo) -> None:
    done = repo.run("check", "--format", "json")
    assert done.code == 2
    assert "is the format of --plan" in done.err
    assert repo.asked() == []
