"""Cases, jobs and agents for the tests of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from msgspec import structs

from evalward.config.agents import AgentProgram
from evalward.config.load import parse_config
from evalward.keeper.models import ModelKeeper
from evalward.records.case import Case
from evalward.records.problem import Place as Written
from evalward.suites.scenario.spec import ScenarioSuite
from evalward.targets import make_evaluated
from evalward.targets.agents.base import Agent, AgentJob, works
from support.model_server import KEY, ModelServer
from support.places import FolderPlace

CASE = Case(id="greet", category="files", definition="sha256:1", place=Written(file="cases.yaml", line=1))
MODELS = {"anthropic": "claude-sonnet-5", "openai": "gpt-4.1", "openai-responses": "gpt-5"}
KEY_NAME = "TEST_KEY"


def job(below: Path, prompt: str = "Make a.txt", **more: Any) -> AgentJob:
    return structs.replace(AgentJob(prompt=prompt, workspace=FolderPlace.made(below), timeout_s=60), **more)


def agent(
    name: str, server: ModelServer, path: str | None = None, programs: Mapping[str, AgentProgram] | None = None
) -> Agent:
    """An agent whose models are asked at the server, with the key that it wants, at stated prices."""
    providers = {
        provider: {
            "base_url": server.messages_url if provider == "anthropic" else server.openai_url,
            "key_env": KEY_NAME,
            "prices": {model: {"input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.0}},
        }
        for provider, model in MODELS.items()
    }
    suite = {"name": "s", "kind": "bash", "cases": "c.jsonl", "targets": ["oracle"]}
    text = yaml.safe_dump({"version": 1, "suites": [suite], "providers": providers})
    loaded = parse_config(text, "evalward.yml", Path("/"))
    loaded = replace(loaded, config=loaded.config.model_copy(update={"agents": dict(programs or {})}))
    env = {KEY_NAME: KEY, **({"PATH": path} if path else {})}
    made = make_evaluated(ScenarioSuite.takes, name, loaded, env, ModelKeeper(loaded.config, env))
    assert works(made)
    return made
