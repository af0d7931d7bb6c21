"""A model takes another's place, from end to end: what the pull request sees, and the baseline after it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.live_runs import PRICE, TASKS, Repo, model_of, task
from support.model_server import ModelServer

OLD, NEW = "anthropic/claude-haiku-4-5", "anthropic/claude-opus-4-6"
POLICY: Mapping[str, Any] = {"policy": [{"metric": "pass_rate", "max_drop": 0.02, "target": OLD}]}
BETTER = (*TASKS[:3], task("delta"))
WORSE = (task("alpha", "echo something else"), *BETTER[1:])


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    """With a baseline of the old model: three cases of four pass."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path, server)
        repo.write((OLD,), more=POLICY)
        assert repo.run("run").code == 0
        assert repo.run("baseline", "update").code == 0
        yield repo


def upgrade(repo: Repo, targets: list[Any]) -> None:
    """The pull request: other targets, and the rule for whoever is there. The cases are what they were."""
    rule = {**POLICY["policy"][0], "target": "*"}
    prices = {"claude-haiku-4-5": PRICE, "claude-opus-4-6": {kind: 2 * price for kind, price in PRICE.items()}}
    repo.write(targets, more={"policy": [rule]}, prices=prices)


def test_a_model_upgrade_is_compared_shown_and_stored_under_its_name(repo: Repo) -> None:
    repo.server.settings = replace(repo.server.settings, script=model_of(BETTER))
    upgrade(repo, [{"id": NEW, "replaces": OLD}])
    done = repo.run("check")
    assert done.code == 0, done.err
    page = repo.path("comment.md").read_text("utf-8")
    assert f"#### Model `{OLD}` → `{NEW}` in `live`" in page
    assert (
        "passed 75.0 % (3/4) → 100.0 % (4/4) · cost per case &#36;0.0009 → &#36;0.0019 (+100 %) · time per case "
        in page
    )
    assert "- ✅ 1 got fixed: `delta`" in page
    assert f"Model {OLD} → {NEW} in live" in done.out
    judgement = json.loads(repo.path("judgement.json").read_text("utf-8"))
    (run,) = judgement["comparison"]["runs"]
    assert (run["replaced"]["target"], run["replaced"]["named"]) == (OLD, True)
    assert run["replaced"]["now"]["cost_usd"] > 0
    assert repo.run("baseline", "update").code == 0
    stored = json.loads((repo.root / ".evalward" / "baseline.json").read_text("utf-8"))
    assert [run["target"] for run in stored["runs"]] == [NEW]
    assert repo.run("check").code == 0


def test_a_replaced_model_is_no_way_out_of_a_regression(repo: Repo) -> None:
    repo.server.settings = replace(repo.server.settings, script=model_of(WORSE))
    upgrade(repo, [{"id": NEW, "replaces": OLD}, "oracle"])
    done = repo.run("check")
    assert "1 case broke: alpha" in done.out
    upgrade(repo, [{"id": "oracle", "replaces": OLD}])
    done = repo.run("check")
    assert done.code == 1
    assert f"live × {OLD} is in the baseline and was not run" in done.out
