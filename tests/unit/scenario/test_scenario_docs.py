"""What docs/scenario-suite.md says is so: every key, gate, metric and finding, and files to copy that load."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from evalward.config.agents import AgentProgram
from evalward.suites.scenario import findings
from evalward.suites.scenario.assertion import FORMS, parse_assertion
from evalward.suites.scenario.gate_models import GATES
from evalward.suites.scenario.metrics import METRIC_IDS
from evalward.suites.scenario.model import Composite, Evaluation, Evaluator, JudgeLayer, Scenario, ScenarioTool, Setup
from evalward.suites.scenario.scripts import ScriptContext
from evalward.suites.scenario.spec import ScenarioSuite, SuiteTool
from evalward.suites.scenario.tolerance import _OLD_GATES

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "scenario-suite.md").read_text("utf-8")
MIGRATION = (ROOT / "docs" / "from-llm-tool-test.md").read_text("utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")
NAMED = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE + MIGRATION))))
IGNORED = {"variants", "cost", "run", "tool", "evaluation", "scripts", "setup", "task"}


def blocks(text: str) -> list[Any]:
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]


@pytest.mark.parametrize(
    "record", [Scenario, ScenarioTool, Setup, Evaluation, JudgeLayer, Composite, Evaluator, AgentProgram]
)
def test_every_key_is_named(record: type[BaseModel]) -> None:
    last = NAMED | {name.rpartition(".")[2] for name in NAMED}
    assert set(record.model_fields) - IGNORED <= last


def test_every_gate_metric_and_old_gate_is_named() -> None:
    for gate, record in GATES.items():
        assert {gate, *record.model_fields} - {"type"} <= NAMED
    assert set(METRIC_IDS) <= NAMED
    old = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in NAMED}
    assert set(_OLD_GATES) - {"link_exists"} <= old


def test_every_assertion_is_one() -> None:
    told = re.findall(r"`((?:exists|equals|contains|len)\b[^`]*)`", PAGE)
    assert len(told) >= 6
    for form in told:
        parse_assertion(form.replace(" N", " 3"))
    assert all(f"`{form}`" in PAGE for form in FORMS.split(", "))


def test_every_variable_is_named() -> None:
    told = ScriptContext("s", "a", "m", "f", "r", "t", "e").env
    assert {name for name in told if name.startswith("EVALWARD_")} <= NAMED


def test_every_finding_is_named_with_its_threshold() -> None:
    source = Path(findings.__file__).read_text("utf-8")
    ids = set(re.findall(r'(?:_finding|_Pattern)\(\s*"(\w+)"', source))
    assert len(ids) > 10
    assert ids <= NAMED
    for threshold in (
        f"errors > {findings.ERROR_HIGH * 100:.0f} %",
        f"errors ≤ {findings.ERROR_LOW * 100:.0f} %",
        f"help > {findings.HELP_HIGH:g}",
        f"help ≤ {findings.HELP_LOW:g}",
        f"fewer than {findings.FIRST_TRY_LOW * 100:.0f} %",
        f"> {findings.RETRY_HIGH * 100:.0f} %, at least {findings.RETRY_LEAST}",
        f"> {findings.COMMANDS_HIGH:g} commands",
        f"< {findings.COMPLETION_LOW * 100:.0f} %",
    ):
        assert threshold in PAGE, threshold


def test_suites_and_agents_to_copy_are_sound() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    suites = [suite for block in blocks(PAGE + readme) for suite in block.get("suites", [])]
    found = [ScenarioSuite.model_validate(suite) for suite in suites if suite["kind"] == "scenario"]
    assert len(found) == 2
    (agents,) = [block["agents"] for block in blocks(PAGE) if "agents" in block]
    assert AgentProgram.model_validate(agents["mine"]).output == "events"


def test_the_scenario_to_copy_is_sound() -> None:
    (block,) = [block for block in blocks(PAGE) if "name" in block]
    scenario = Scenario.model_validate(block)
    assert scenario.name == "add-milk"
    assert len(scenario.evaluation.gates) == 2


def test_every_key_of_a_suite_is_in_the_configurations_page() -> None:
    fields = [*ScenarioSuite.model_fields.items(), *SuiteTool.model_fields.items()]
    keys = {field.alias or name for name, field in fields}
    assert keys <= set(re.findall(r"`(\w+)`", CONFIGURATION))
