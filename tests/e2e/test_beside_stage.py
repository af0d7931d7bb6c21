"""`evalward check` where a doubt is left: the commit of the baseline is measured alongside the files here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.git_repo import commit, init
from support.live_runs import Repo, model_of, task, timeless
from support.model_server import ModelServer
from support.two_sides import TwoSided, two_sided

NAMES = ("one", "two", "three", "four", "five", "six")
TASKS = [task(name) for name in NAMES]
MORE = {"policy": [{"metric": "pass_rate", "max_drop": 0.02}], "confirm": {"trials": 2, "base_trials": 3, "at_most": 9}}
SUITE = {"system": "prompt.md"}
TRIAL_USD = 2 * (70 * 1 + 20 * 0.1 + 30 * 10) / 1e6  # two turns


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A commit with its baseline, and a changed prompt in the working tree."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(init(tmp_path_factory.mktemp("made")), server)
        repo.write(tasks=TASKS, suite=SUITE, more=MORE, concurrency=1)
        (repo.root / "prompt.md").write_text("The bases way.")
        commit(repo.root, {".gitignore": "evalward-out\n"})
        assert repo.run("run").code == 0
        assert repo.run("baseline", "update").code == 0
        (repo.root / "prompt.md").write_text("The heads way.")
        yield repo


@pytest.fixture
def repo(made: Repo, tmp_path: Path) -> Repo:
    """The same, for one test."""
    return made.copied(tmp_path)


def sided(repo: Repo, **failing: tuple[str, ...]) -> TwoSided:
    script = two_sided(TASKS, **failing)
    repo.server.settings = replace(repo.server.settings, script=script)
    return script


def beside(repo: Repo) -> dict[str, Any]:
    (run,) = repo.report()["runs"]
    return dict(run["beside"])


def statuses(results: list[dict[str, Any]]) -> list[str]:
    return [each["status"] for each in results]


def test_commit_of_the_baseline__is_measured__and_resumed(repo: Repo) -> None:
    script = sided(repo, heads=("one",), bases=())
    done = repo.run("check")
    known = json.loads((repo.root / ".evalward/baseline.json").read_text())["provenance"]["commit"]
    assert f"1 case, 3 trials on each side, the base commit {known[:7]} alongside this one." in done.err, done.err
    assert (statuses(beside(repo)["head"]), statuses(beside(repo)["base"])) == (["failed"] * 3, ["passed"] * 3)
    assert script.said[-6:] == [("heads", "one"), ("bases", "one")] * 3
    before, asked = repo.report(), len(repo.asked())
    again = repo.run("check", "--resume")
    assert (again.code, len(repo.asked())) == (done.code, asked), again.err
    assert timeless(repo.report()) == timeless(before)


def test_model_upgrade__is_measured_beside_the_model_that_it_replaces(repo: Repo) -> None:
    (repo.root / "prompt.md").write_text("The bases way.")
    upgraded = {"targets": [{"id": "openai/gpt-4.1", "replaces": "openai/gpt-5"}], **SUITE}
    repo.write(tasks=TASKS, suite=upgraded, more=MORE, concurrency=1)
    script = sided(repo, **{"gpt-4.1": ("one",), "gpt-5": ()})
    done = repo.run("check")
    assert (statuses(beside(repo)["head"]), statuses(beside(repo)["base"])) == (["failed"] * 3, ["passed"] * 3)
    # They begin in turns; which of two that are under way is heard first, is chance: each model has its own client.
    assert sorted(script.said[-6:]) == [("gpt-4.1", "one")] * 3 + [("gpt-5", "one")] * 3
    assert "0 of 3 trials passed here and 3 of 3 there" in " ".join(done.out.split())
    assert "openai/gpt-5 → openai/gpt-4.1" in done.out


def test_renamed_suite__is_measured_beside_the_one_that_it_replaces(repo: Repo) -> None:
    repo.write(tasks=TASKS, suite={"name": "new", "replaces": "live", **SUITE}, more=MORE, concurrency=1)
    sided(repo, heads=("one",), bases=())
    done = repo.run("check")
    assert (statuses(beside(repo)["head"]), statuses(beside(repo)["base"])) == (["failed"] * 3, ["passed"] * 3), (
        done.err
    )


def test_model_that_has_no_key_any_more__is_a_note(repo: Repo) -> None:
    """The base's provider is another one, whose key nobody sets since the upgrade."""
    config = json.loads((repo.root / "evalward.yml").read_text())
    config["providers"]["openai"]["key_env"] = "OLD_KEY"
    config["suites"][0]["targets"] = [{"id": "openai-responses/gpt-5", "replaces": "openai/gpt-5"}]
    (repo.root / "evalward.yml").write_text(json.dumps(config))
    sided(repo, heads=("one",), bases=())
    done = repo.run("check")
    assert beside(repo)["note"] == "openai/gpt-5 needs a key, and OLD_KEY is not set", done.err


def test_budget_spent_meanwhile__leaves_what_there_is(repo: Repo) -> None:
    repo.write(tasks=TASKS, suite=SUITE, more={**MORE, "budget_usd": 10.5 * TRIAL_USD}, concurrency=1)
    sided(repo, heads=("one",), bases=())
    done = repo.run("check")
    assert beside(repo)["note"].startswith("it ended early: budget"), done.err
    assert repo.report()["interrupted"] is None
    assert "skipped" in statuses(beside(repo)["base"])
    assert done.code in {0, 1}, done.err


def test_baseline_of_a_commit_that_is_not_here__is_a_note(repo: Repo) -> None:
    sided(repo, heads=("one",), bases=())
    path = repo.root / ".evalward/baseline.json"
    known = json.loads(path.read_text())
    known["provenance"]["commit"] = "c" * 40
    path.write_text(json.dumps(known))
    done = repo.run("check")
    why = "the commit of the baseline, cccccccccccc, is not in the repository here; fetch it"
    assert (beside(repo)["note"], beside(repo)["base"]) == (why, []), done.err
    assert f"In doubt: live × openai/gpt-5: {why}." in done.err
