"""Batches as users have them: real processes against a server whose batches end when they are made, or never."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from support.live_runs import CLAUDE, EVERYWHERE, TASKS, Repo, model_of, values
from support.model_server import BatchRules, ModelServer
from support.patience import PATIENCE_S, wait_until

CLOCKS = {"total_duration_ms", "avg_duration_ms"}


def server(**rules: object) -> ModelServer:
    return ModelServer(model_of(TASKS), batches=BatchRules(**rules))  # type: ignore[arg-type]


def bought(served: ModelServer) -> list[int]:
    return [len(batch.lines) for batch in served.batches.made.values()]


def live(served: ModelServer) -> int:
    return sum("batch" not in logged.path for logged in served.requests)


@pytest.mark.parametrize("target", EVERYWHERE)
def test_a_run_in_batches_measures_the_same_for_half_the_money(target: str, tmp_path: Path) -> None:
    runs = {}
    for words in ((), ("--batch",)):
        root = tmp_path / ("batched" if words else "live")
        root.mkdir()
        with server() as served:
            repo = Repo(root, served)
            repo.write([target], suite={"trials": 2})
            done = repo.run("run", *words)
            assert done.code == 0, done.err
            (runs[words],) = repo.report()["runs"]
            if words:
                assert live(served) == 0
                assert bought(served) == [8, 8, 4]  # a batch a turn: all trials ask, all do, those of two scripts go on
                assert done.err.count("at half price. It may take up to 24 h.") == 3
                assert "20 requests were answered in batches, at half price: $0.0037 instead of $0.0074" in done.out
    normal, batched = runs[()], runs["--batch",]
    assert [case["status"] for case in batched["cases"]] == [case["status"] for case in normal["cases"]]
    same = {name for name in values(normal) if name != "cost_usd"}
    assert {name: values(batched)[name] for name in same} == {name: values(normal)[name] for name in same}
    assert values(batched)["cost_usd"] == pytest.approx((values(normal)["cost_usd"] or 0) / 2)
    assert {batched["metrics"][name]["value"] for name in CLOCKS} == {None}
    assert {batched["metrics"][name]["reason"] for name in CLOCKS} == {"the model answered in batches"}


def test_a_killed_run_in_batches_is_resumed_and_buys_nothing_twice(tmp_path: Path) -> None:
    with server(looks=None) as served:
        repo = Repo(tmp_path, served)
        repo.write([CLAUDE])
        process = repo.start("run", "--batch")
        wait_until(lambda: bool(list(repo.path("batches").glob("*.json"))))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        served.batches.rules = BatchRules()
        done = repo.run("run", "--batch", "--resume")
        assert done.code == 0, done.err
        assert bought(served) == [4, 4, 2]
        assert live(served) == 0


def test_the_plan_says_half_price_and_how_long_it_may_take(tmp_path: Path) -> None:
    with server() as served:
        repo = Repo(tmp_path, served)
        repo.write([CLAUDE])
        assert repo.run("run").code == 0
        assert repo.run("baseline", "update").code == 0
        plans = [json.loads(repo.run("run", "--plan", "--format", "json", *words).out) for words in ((), ("--batch",))]
        shown = repo.run("check", "--plan", "--batch").out
        asked = len(served.requests)
        repo.write([CLAUDE], more={"batch": {"wait": "5h", "then": "stop"}})
        shorter = repo.run("check", "--plan", "--batch").out
        repo.write([CLAUDE])
        assert repo.run("run", "--batch").code == 0
        assert repo.run("baseline", "update").code == 0
        again = json.loads(repo.run("run", "--plan", "--format", "json").out)
    costs = [plan["usage"]["cost_usd"]["amount"] for plan in (*plans, again)]
    assert costs[1] == pytest.approx(costs[0] / 2)
    assert costs[2] == pytest.approx(costs[0])  # a baseline keeps what trials cost live
    assert asked == 10
    assert plans[1]["wall"]["most_ms"] is None
    assert "Requests go in batches, at half price; a batch may take up to 24 h." in " ".join(shown.split())
    assert "Requests go in batches, at half price; a batch may take up to 5 h." in " ".join(shorter.split())


def test_a_run_that_may_not_wait_longer_is_not_judged(tmp_path: Path) -> None:
    with server(fates={"beta": "expired"}) as served:
        repo = Repo(tmp_path, served)
        repo.write([CLAUDE], more={"batch": {"then": "stop"}})
        done = repo.run("run", "--batch")
        assert done.code == 3
        assert repo.report()["interrupted_by"] == "batch"
        assert "continue with --resume" in " ".join(done.out.split())
        served.batches.rules = BatchRules()
        assert repo.run("run", "--batch", "--resume").code == 0
        assert live(served) == 0
