"""A check with a history: real processes, a model that fails when the test says so. It is told, and decides nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.live_runs import Repo, model_of, task
from support.model_server import ModelServer
from support.moody import moody_model

NAMES = ("one", "two", "three", "four")
TASKS = [task(name) for name in NAMES]
POLICY = {"policy": [{"metric": "pass_rate", "max_drop": 0.02}]}
ALWAYS = 20  # trials: more than the planned and the fresh ones


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A repository whose case `one` came and went for twelve days."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path_factory.mktemp("made"), server)
        repo.write(tasks=TASKS, more={**POLICY, "history": {"folder": "kept"}})
        assert repo.run("run", "--trials", "5").code == 0
        assert repo.run("baseline", "update").code == 0
        assert repo.run("history", "append", "--folder", "kept", "--ref", "main").code == 0
        file = repo.root / "kept" / "history.jsonl"
        line = json.loads(file.read_text("utf-8"))
        file.write_text("".join(json.dumps(earlier(line, day)) + "\n" for day in range(1, 13)), "utf-8")
        yield repo


@pytest.fixture
def repo(made: Repo, tmp_path: Path) -> Repo:
    """The same, for one test: now `one` and `two` fail."""
    made.server.settings = replace(made.server.settings, script=moody_model(TASKS, {"one": ALWAYS, "two": ALWAYS}))
    return made.copied(tmp_path)


def earlier(line: dict[str, Any], day: int) -> dict[str, Any]:
    rate = 0.8 if day % 2 else 1.0
    metric = {**line["metrics"]["pass_rate"], "value": rate, "numerator": rate * 20}
    return {
        **line,
        "at": f"2026-11-{day:02d}T03:00:00Z",
        "commit": f"{day:040x}",
        "report": f"{day:012x}",
        "metrics": {**line["metrics"], "pass_rate": metric},
        "others": {"one": [1, 4, 0, 0]} if day % 2 else {},
    }


def verdict(repo: Repo) -> Any:
    found = json.loads(repo.path("judgement.json").read_text("utf-8"))["verdict"]
    return {key: found[key] for key in ("outcome", "reasons", "rules")}


def test_check__tells_what_is_flaky_since_when_and_the_trend(repo: Repo) -> None:
    done = repo.run("check")
    assert done.code == 1
    assert "Trend over 12 earlier runs" in done.out
    assert "▁█▁█▁█▁█▁█▁█" in done.out
    comment = repo.path("comment.md").read_text("utf-8")
    for told in (done.out, comment):
        flat = " ".join(told.split())
        assert "flaky: passes" in flat
        assert "since 2026-11-01" in flat
    assert "<summary>Trend over 12 runs</summary>" in comment
    assert "xychart-beta" in comment


def test_check__the_verdict_is_the_same_with_any_history(repo: Repo) -> None:
    repo.run("check")
    before = verdict(repo)
    file = repo.root / "kept" / "history.jsonl"
    for content in (None, b"\xff\xfe{[\n" * 50 + b'{"a":' * 10_000):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        again = moody_model(TASKS, {"one": ALWAYS, "two": ALWAYS})
        repo.server.settings = replace(repo.server.settings, script=again)
        done = repo.run("check")
        assert (done.code, verdict(repo)) == (1, before)
        assert "Trend over" not in done.out
        assert ("51 lines are not readable" in done.err) == (content is not None)
        file.touch()
