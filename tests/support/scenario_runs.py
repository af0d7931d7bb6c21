"""Scenario suites that are run: a small tool in a fixture, targets of every form, and trials behind real walls."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.keeper.models import ModelKeeper
from evalward.suites.base import TrialOutcome
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.kind import SCENARIO, ScenarioPrepared
from evalward.suites.scenario.spec import ScenarioSuite
from evalward.targets import make_evaluated
from support.model_server import KEY, ModelServer

TODO = """\
#!/bin/sh
case "$1" in
  --version) echo 1.0 ;;
  add) echo "$2" >> tasks.txt ;;
  list) cat tasks.txt ;;
  *) echo "todo: unknown command $1" >&2; exit 2 ;;
esac
"""
GATES: tuple[Mapping[str, Any], ...] = (
    {"type": "file_contains", "path": "tasks.txt", "substring": "milk"},
    {"type": "command_output_contains", "command": "./todo list", "substring": "milk"},
)
PROMPT = "Add a task called milk."
KEY_NAME = "TEST_KEY"
MODEL = "gpt-4.1"


def scenario(name: str = "add_task", **more: Any) -> dict[str, Any]:
    """A scenario in which a task is added; `more` replaces keys."""
    return {
        "name": name,
        "description": "an agent adds one task",
        "template_folder": "fixture",
        "target": {"binary": "./todo", "command_pattern": r"todo\s+(\S+)"},
        "task": {"prompt": PROMPT},
        "evaluation": {"gates": list(GATES)},
        "run": {"timeout_secs": 20},
        "solution": ["./todo add milk"],
        **more,
    }


@dataclass
class Bench:
    """A folder with a suite of scenarios, its fixture and whatever its targets need."""

    root: Path
    suite: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def write(self, targets: Sequence[str] = ("oracle",), *scenarios: Mapping[str, Any]) -> LoadedConfig:
        """Write configuration, scenarios and fixture; the configuration as it is loaded."""
        fixture = self.root / "evals" / "fixture"
        fixture.mkdir(parents=True, exist_ok=True)
        (fixture / "todo").write_text(TODO, "utf-8")
        (fixture / "todo").chmod(0o755)
        (fixture / "AGENTS.md").write_text("Use ./todo add NAME.\n", "utf-8")
        for item in scenarios or (scenario(),):
            (self.root / "evals" / f"{item['name']}.yaml").write_text(yaml.safe_dump(dict(item)), "utf-8")
        suite = {"name": "todo", "kind": "scenario", "cases": "evals/*.yaml", "targets": list(targets), **self.suite}
        text = json.dumps({"version": 1, "suites": [suite], **self.more}, indent=1)
        (self.root / "evalward.yml").write_text(text, "utf-8")
        return parse_config(text, "evalward.yml", self.root)

    def script(self, name: str, *steps: Any) -> str:
        """A script for the target that is returned."""
        (self.root / f"{name}.json").write_text(json.dumps({"default": list(steps)}), "utf-8")
        self.more.setdefault("scripts", {})[name] = f"{name}.json"
        return f"scripted:{name}"

    def serve(self, server: ModelServer) -> None:
        """Ask this server for every model."""
        self.env[KEY_NAME] = KEY
        urls = {"anthropic": server.messages_url, "openai": server.openai_url}
        prices = {name: {"input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.0} for name in MODELS}
        self.more["providers"] = {
            name: {"base_url": url, "key_env": KEY_NAME, "prices": prices} for name, url in urls.items()
        }

    def prepared(self, loaded: LoadedConfig) -> tuple[ScenarioPrepared, list[Any]]:
        """The suite and its targets."""
        spec = loaded.config.suites[0]
        assert isinstance(spec, ScenarioSuite)
        asker = ModelKeeper(loaded.config, self.env)
        made = [make_evaluated(spec.takes, name, loaded, self.env, asker) for name in spec.targets]
        return SCENARIO.prepare(spec, loaded), made


MODELS = (MODEL, "claude-sonnet-5")


@dataclass(frozen=True)
class Tried:
    """One trial's outcome. Its artifacts are read and removed."""

    outcome: TrialOutcome
    files: Mapping[str, str]

    @property
    def details(self) -> ScenarioDetails:
        """The layers."""
        details = self.outcome.result.details
        assert isinstance(details, ScenarioDetails)
        return details

    @property
    def gates(self) -> list[bool]:
        """Which gates passed, in order."""
        return [gate.passed for gate in self.details.gates]

    @property
    def commands(self) -> list[str]:
        """What the agent ran."""
        return [call.commands for call in self.outcome.trace.tool_calls]


async def tried(bench: Bench, target: str, *scenarios: Mapping[str, Any]) -> Tried:
    """One trial of the first scenario by this target."""
    prepared, (made,) = bench.prepared(bench.write((target,), *scenarios))
    made.prepare()
    try:
        outcome = await SCENARIO.run_trial(prepared, prepared.cases[0], made, 1)
    finally:
        await made.close()
    folder = outcome.artifacts
    assert folder is not None
    files = {
        str(p.relative_to(folder)): p.read_text("utf-8", "replace") for p in sorted(folder.rglob("*")) if p.is_file()
    }
    shutil.rmtree(folder)
    return Tried(outcome, files)
