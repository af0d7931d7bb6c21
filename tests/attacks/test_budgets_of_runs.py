"""The invocation's purse over whole runs: trials that talk with a model, and an agent that asks one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.config.load import load_config, parse_config
from evalward.engine.control import Spending
from evalward.engine.plan import Plan, make_plan
from evalward.engine.scheduler import Executed, ExecutionSettings, execute
from evalward.engine.selection import Selection
from evalward.keeper.models import ModelKeeper
from evalward.records.budget import Budget
from evalward.records.result import NOT_RUN, Status
from evalward.suites.scenario.spec import ScenarioSuite
from evalward.targets import make_evaluated
from evalward.targets.agents.base import works
from evalward.targets.base import BrokeOffError
from evalward.targets.failures import Cause, TargetError
from evalward.targets.purse import Purse
from support.agent_cases import CASE, job
from support.cases import Silent, task
from support.model_server import KEY, Answer, ModelServer, Script, Tokens, bash

PRICE = {"input": 1.0, "output": 2.0}
TOKENS = Tokens(input=1000, output=500)
COST = (1000 * 1.0 + 500 * 2.0) / 1e6
ENDLESS = Script(default=(bash("echo hello", tokens=TOKENS),) * 50)


def planned(folder: Path, server: ModelServer, purse: Purse) -> Plan:
    tasks = [task(id=f"t{number}") for number in range(8)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(item) + "\n" for item in tasks), "utf-8")
    provider = {
        "base_url": server.openai_url,
        "key_env": "GATEWAY_KEY",
        "prices": {"gpt-5": PRICE},
        "models": {"gpt-5": {"max_tokens": 1000}},
    }
    suite = {"name": "shell", "kind": "bash", "cases": "cases.jsonl", "targets": ["openai/gpt-5"]}
    config = {"version": 1, "suites": [suite], "providers": {"openai": provider}}
    (folder / "evalward.yml").write_text(json.dumps(config), "utf-8")
    loaded, env = load_config(folder / "evalward.yml"), {"GATEWAY_KEY": KEY}
    return make_plan(loaded, Selection(), env, ModelKeeper(loaded.config, env, purse))


def run(folder: Path, server: ModelServer, purse: Purse) -> Executed:
    execution = ExecutionSettings(None, Silent(), account=Spending(Budget()))
    return asyncio.run(execute(planned(folder, server, purse), execution))


def test_trials_under_way_end_when_the_purse_is_empty(tmp_path: Path) -> None:
    purse = Purse(usd=9 * COST)
    with ModelServer(ENDLESS) as server:
        done = run(tmp_path, server, purse)
        asked = len(server.requests)
    (only,) = done.runs
    assert asked == 9  # 8 trials at once would have asked up to 10 times each
    assert {(result.status, result.reason) for result in only.cases} == {(Status.SKIPPED, NOT_RUN)}
    assert done.interrupted == f"budget: ${9 * COST:.4f} of ${9 * COST:g} is spent"


def test_a_budget_that_suffices_changes_nothing(tmp_path: Path) -> None:
    purse = Purse(usd=1.0)
    with ModelServer(
        Script(default=(bash("echo hello", tokens=TOKENS), Answer(text="Done.", tokens=TOKENS)))
    ) as server:
        done = run(tmp_path, server, purse)
    (only,) = done.runs
    assert {result.status for result in only.cases} <= {Status.PASSED, Status.FAILED}
    assert done.interrupted is None
    assert purse.used_usd == pytest.approx(16 * COST)


GREEDY = """\
import json, os, urllib.error, urllib.request
for _ in range(40):
    body = {"model": "claude-sonnet-5", "max_tokens": 500, "messages": [{"role": "user", "content": "Hi"}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01",
         "content-type": "application/json"})
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError:
        pass
"""


def config(server: ModelServer, script: Path, **agent: Any) -> str:
    given: Mapping[str, Any] = {
        "version": 1,
        "suites": [{"name": "s", "kind": "scenario", "cases": "c.yaml", "targets": ["agent:greedy"]}],
        "providers": {
            "anthropic": {
                "base_url": server.messages_url,
                "key_env": "TEST_KEY",
                "prices": {"claude-sonnet-5": PRICE},
            }
        },
        "agents": {"greedy": {"command": [sys.executable, str(script)], "model": "anthropic/claude-sonnet-5", **agent}},
    }
    return yaml.safe_dump(dict(given))


async def test_an_agent_that_the_purse_can_not_pay_has_not_failed(tmp_path: Path) -> None:
    script = tmp_path / "greedy.py"
    script.write_text(GREEDY)
    purse = Purse(usd=9 * COST)
    with ModelServer(Script(default=(Answer(text="Hello.", tokens=TOKENS),))) as server:
        loaded = parse_config(config(server, script), "evalward.yml", Path("/"))
        env = {"TEST_KEY": KEY}
        made = make_evaluated(ScenarioSuite.takes, "agent:greedy", loaded, env, ModelKeeper(loaded.config, env, purse))
        assert works(made)
        try:
            with pytest.raises(BrokeOffError) as caught:
                await made.work(CASE, 1, job(tmp_path))
        finally:
            await made.close()
        assert len(server.requests) == 9
    error = caught.value.error
    assert isinstance(error, TargetError)
    assert error.cause is Cause.BUDGET
    assert error.message == f"budget: ${9 * COST:.4f} of ${9 * COST:g} is spent"
