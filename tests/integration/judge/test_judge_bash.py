"""The bash suite's `llm_judge` check: judged with its weight, by recorded judges and over the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.engine.control import Spending
from evalward.engine.plan import Plan, make_plan, without_missing_keys
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.keeper.models import ModelKeeper
from evalward.records.budget import Budget
from evalward.records.judge import JUDGE_ERROR
from evalward.records.problem import InputError
from evalward.records.result import Result, Status
from evalward.runner.measure import prepare, refuse_missing_keys
from evalward.suites.bash.details import BashDetails
from support.cases import Silent, task
from support.model_server import KEY, Answer, ModelServer, Script, Tokens

TASKS = [
    task(
        id="polite",
        expectations=[{"check": "stdout_contains:hello"}, {"check": "llm_judge:Is it polite?", "weight": 3}],
    ),
    task(id="twice", expectations=[{"check": "llm_judge:First?"}, {"check": "llm_judge:Second?", "weight": 2}]),
]


def says(score: Any, issues: Any = ()) -> dict[str, Any]:
    scores = {"answer": score}
    return {"scores": scores, "weighted_score": score, "confidence": 1, "issues": list(issues), "highlights": []}


def write(folder: Path, answers: Mapping[str, Any] | None, tasks: Any = TASKS, **config: Any) -> LoadedConfig:
    (folder / "cases.jsonl").write_text("".join(json.dumps(item) + "\n" for item in tasks), "utf-8")
    suite = {"name": "shell", "kind": "bash", "cases": "cases.jsonl", "targets": ["oracle"], "timeout_s": 60}
    judge: dict[str, Any] = {}
    if answers is not None:
        lines = [json.dumps({"id": name, "answers": given}) for name, given in answers.items()]
        (folder / "judge.jsonl").write_text("\n".join(lines), "utf-8")
        judge = {"judge": {"model": "recorded:judge.jsonl"}}
    (folder / "evalward.yml").write_text(json.dumps({"version": 1, "suites": [suite], **judge, **config}), "utf-8")
    return load_config(folder / "evalward.yml")


def planned(loaded: LoadedConfig, env: Mapping[str, str] | None = None) -> Plan:
    return make_plan(loaded, Selection(), env, ModelKeeper(loaded.config, env or {}))


def run(plan: Plan, store: Path | None = None, budget: Budget | None = None) -> Executed:
    account = Spending(budget) if budget else None
    return asyncio.run(execute(plan, ExecutionSettings(Store(store) if store else None, Silent(), account=account)))


def results(loaded: LoadedConfig) -> dict[str, Result]:
    (only,) = run(planned(loaded)).runs
    return {result.id: result for result in only.cases}


def judgements(result: Result) -> list[Any]:
    assert isinstance(result.details, BashDetails)
    return result.details.judgements


def test_a_judged_check_counts_with_its_weight(tmp_path: Path) -> None:
    found = results(write(tmp_path, {"polite": [says(0.9)], "twice": [says(0.8)], "twice/2": [says(0.2, ["Rude."])]}))
    polite, twice = found["polite"], found["twice"]
    assert (polite.status, polite.score, polite.max_score) == (Status.PASSED, 4.0, 4.0)
    assert (twice.status, twice.score, twice.max_score, twice.reason) == (Status.FAILED, 1.0, 3.0, "checks_failed")
    assert [check.detail for check in twice.checks] == [
        "scored 0.80, 0.70 wanted",
        "scored 0.20, 0.70 wanted; issue: Rude.",
    ]
    assert [outcome.passed for outcome in judgements(twice)] == [True, False]
    assert polite.judge_usage is not None
    assert (polite.judge_usage.cost_usd, polite.usage.cost_usd) == (0.0, 0.0)


@pytest.mark.parametrize("answers", [{"polite": ["Fine!"]}, {"polite": [says(1.5), says("1")]}, {"other": [says(1)]}])
def test_a_judge_error_is_neither_pass_nor_failure(tmp_path: Path, answers: dict[str, Any]) -> None:
    polite = results(write(tmp_path, answers, TASKS[:1]))["polite"]
    assert (polite.status, polite.reason, polite.valid) == (Status.ERROR, JUDGE_ERROR, False)
    assert (polite.message or "").startswith("recorded:judge.jsonl could not judge: ")
    assert [check.passed for check in polite.checks] == [True, False]
    assert polite.checks[1].weight == 0.0


def test_a_repair_and_the_threshold_of_the_config(tmp_path: Path) -> None:
    judge = {"model": "recorded:judge.jsonl", "pass_threshold": 0.5, "votes": 1}
    polite = results(write(tmp_path, {"polite": ["no", says(0.5)]}, TASKS[:1], judge=judge))["polite"]
    assert polite.status is Status.PASSED
    assert judgements(polite)[0].votes[0].repaired


def test_votes_and_their_agreement(tmp_path: Path) -> None:
    judge = {"model": "recorded:judge.jsonl", "votes": 3}
    polite = results(write(tmp_path, {"polite": [says(1), says(0.6), says(0.8)]}, TASKS[:1], judge=judge))["polite"]
    assert polite.checks[1].detail == "scored 0.80, 0.70 wanted; 67 % of 3 votes agree"


def test_without_a_judge_it_passes_unseen_and_weighs_nothing(tmp_path: Path) -> None:
    polite = results(write(tmp_path, None))["polite"]
    assert (polite.status, polite.max_score, polite.judge_usage) == (Status.PASSED, 1.0, None)
    assert polite.checks[1].detail == "not judged: no judge is configured (set judge: in the config)"


def test_a_key_alone_makes_nobody_a_judge(tmp_path: Path) -> None:
    loaded = write(tmp_path, None)
    (only,) = planned(loaded, {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}).runs
    assert only.suite.judges is not None
    assert only.suite.judges.of() is None
    assert "judge" not in only.suite.subject


def test_who_judges_is_part_of_the_subject(tmp_path: Path) -> None:
    answers = {"polite": [says(1)], "twice": [says(1)], "twice/2": [says(1)]}
    (first,) = run(planned(write(tmp_path, answers))).runs
    (second,) = run(planned(write(tmp_path, {**answers, "polite": [says(0.9)]}))).runs
    assert first.subject.parts["judge"] != second.subject.parts["judge"]


def test_suites_without_judged_checks_need_no_judge(tmp_path: Path) -> None:
    (only,) = planned(write(tmp_path, {"x": [says(1)]}, [task()])).runs
    assert only.suite.judges is None


def test_a_judge_without_its_key(tmp_path: Path) -> None:
    loaded = write(tmp_path, None, judge={"model": "openai/gpt-5-mini"})
    plan = prepare(loaded, Selection(), {})
    with pytest.raises(InputError, match=r"judge: the judge openai/gpt-5-mini needs a key, and OPENAI_API_KEY"):
        refuse_missing_keys(loaded, plan)
    (only,) = without_missing_keys(plan).runs
    assert only.not_measured == "there is no key for the judge openai/gpt-5-mini here (OPENAI_API_KEY is not set)"


def live(folder: Path, server: ModelServer, **more: Any) -> LoadedConfig:
    price = {"input": 1.0, "output": 10.0}
    provider = {"base_url": server.openai_url, "key_env": "GATEWAY_KEY", "prices": {"gpt-5-mini": price}}
    return write(folder, None, TASKS[:1], judge={"model": "openai/gpt-5-mini"}, providers={"openai": provider}, **more)


def test_over_the_wire_with_cost_apart_cached_and_within_the_budget(tmp_path: Path) -> None:
    tokens = Tokens(input=1000, output=100)
    with ModelServer(Script(default=(Answer(text=json.dumps(says(0.9)), tokens=tokens),))) as server:
        loaded = live(tmp_path, server)
        (first,) = run(planned(loaded, {"GATEWAY_KEY": KEY}), tmp_path / "out", Budget(usd=0.001)).runs
        done = run(planned(loaded, {"GATEWAY_KEY": KEY}))
        assert len(server.requests) == 1
        question = server.requests[0].body["messages"][1]["content"]
    for part in ("Print hello.", "passed: stdout_contains:hello", "Is it polite?", "AGENT RAN:\necho hello"):
        assert part in question
    (result,) = first.cases
    assert (result.status, result.usage.cost_usd) == (Status.PASSED, 0.0)
    assert result.judge_usage is not None
    assert result.judge_usage.cost_usd == pytest.approx(0.002)
    (again,) = done.runs[0].cases
    assert judgements(again)[0].cached
    assert again.judge_usage is not None
    assert again.judge_usage.cost_usd == 0.0


def test_the_judges_cost_counts_for_the_budget(tmp_path: Path) -> None:
    tokens = Tokens(input=1000, output=100)
    with ModelServer(Script(default=(Answer(text=json.dumps(says(0.9)), tokens=tokens),))) as server:
        done = run(planned(live(tmp_path, server), {"GATEWAY_KEY": KEY}), None, Budget(usd=0.001))
    assert done.interrupted == "budget: $0.0020 of $0.001 is spent"


def test_replay_is_judged_once_though_it_is_run_twice(tmp_path: Path) -> None:
    answers = {"polite": [says(0.9)]}
    run(planned(write(tmp_path, answers, TASKS[:1])), tmp_path / "out")
    config = json.loads((tmp_path / "evalward.yml").read_text())
    config["suites"][0]["targets"] = ["replay:r"]
    config["recordings"] = {"r": "out"}
    (tmp_path / "evalward.yml").write_text(json.dumps(config))
    (only,) = run(planned(load_config(tmp_path / "evalward.yml"))).runs
    (result,) = only.cases
    assert isinstance(result.details, BashDetails)
    assert (result.status, result.details.deterministic, len(result.details.judgements)) == (Status.PASSED, True, 1)
