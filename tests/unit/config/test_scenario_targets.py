"""Targets of scenario suites in the configuration, and the sections that they name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.records.providers import AGENT_PROVIDERS
from evalward.registry import TARGETS, load
from evalward.targets.agents.make import CodingAgent


def config(targets: Sequence[str], kind: str = "scenario", **more: Any) -> LoadedConfig:
    suite = {"name": "s", "kind": kind, "cases": "c.yaml", "targets": list(targets)}
    return parse_config(json.dumps({"version": 1, "suites": [suite], **more}), "evalward.yml", Path("/repo"))


def problems(targets: Sequence[str], kind: str = "scenario", **more: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        config(targets, kind, **more)
    return [str(problem) for problem in caught.value.problems]


def test_every_form_of_agent_and_model_is_a_scenarios_target() -> None:
    targets = [
        "oracle", "nop", "replay:r", "anthropic/claude-x", "openai/gpt-5", "openai-responses/gpt-5", "claude-code/x",
        "codex/gpt-5", "opencode/anthropic/claude-x", "agent:own", "scripted:s",
    ]  # fmt: skip
    loaded = config(
        targets, recordings={"r": "rec"}, agents={"own": {"command": ["./agent.sh"]}}, scripts={"s": "s.yaml"}
    )
    assert loaded.config.suites[0].targets == targets
    assert loaded.config.agents["own"].output == "text"


def suite_with(**more: object) -> str:
    return json.dumps(
        {"version": 1, "suites": [{"name": "s", "kind": "scenario", "cases": "c.yaml", "targets": ["nop"], **more}]},
        indent=1,
    )


def read(text: str) -> LoadedConfig:
    return parse_config(text, "evalward.yml", Path("/repo"))


def test_the_suites_tool_has_an_old_key_of_the_same_meaning() -> None:
    tool = {"binary": "todo", "env": {"A": "b"}}
    new, old = read(suite_with(tool=tool)), read(suite_with(target=tool))
    assert new.config == old.config
    assert new.config.model_dump() == old.config.model_dump()


@pytest.mark.parametrize("key", ["tool", "target"])
def test_mistakes_in_the_suites_tool_name_the_key_as_it_was_written(key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(suite_with(**{key: {"binary": "todo", "health_chek": "todo"}}))
    assert [str(problem) for problem in caught.value.problems] == [
        f'evalward.yml:13: suites[0].{key}.health_chek: unknown key "health_chek". Did you mean health_check?'
    ]


def test_a_suites_tool_under_both_keys_is_a_mistake() -> None:
    with pytest.raises(InputError) as caught:
        read(suite_with(tool={"binary": "todo"}, target={"binary": "todo"}))
    assert [str(problem) for problem in caught.value.problems] == [
        "evalward.yml:14: suites[0].target: tool is also there under its old name. Keep tool: only."
    ]


@pytest.mark.parametrize("kind", ["bash", "command"])
@pytest.mark.parametrize("target", ["claude-code/x", "codex/x", "opencode/openai/x", "agent:own", "scripted:s"])
def test_other_kinds_have_no_agents(kind: str, target: str) -> None:
    told = problems([target], kind)[0]
    assert f"is an agent, which works by itself; suites of kind {kind} have none" in told
    assert "Agents work on suites of kind scenario and speedup." in told


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("program:p", "gives one answer, and scenarios are worked on. Name the program under agents: and write agent:"),
        ("agent:ow", 'there is no agent "ow". Did you mean own?'),
        ("agent:", "doesn't name its agent. Write agent:NAME with the name of an agent."),
        ("scripted:t", 'there is no script "t".'),
        ("claude-code/", "doesn't name its model. Write claude-code/MODEL."),
        ("codex", "doesn't name its model. Write codex/MODEL."),
        ("opencode/x", "doesn't name its provider and model. Write opencode/PROVIDER/MODEL with one of: anthropic,"),
        ("opencode/openai/", "doesn't name its model. Write opencode/openai/MODEL."),
        ("claude-cod/x", 'unknown target "claude-cod/x".'),
    ],
)
def test_a_target_that_isnt_there_is_told(target: str, words: str) -> None:
    told = problems([target, "agent:own"], agents={"own": {"command": ["a"]}})
    assert [line for line in told if words in line], told


def test_agents_and_scripts_that_nobody_uses_are_told() -> None:
    told = problems(["oracle"], agents={"own": {"command": ["a"]}}, scripts={"s": "s.yaml"})
    assert [line.partition(": ")[2] for line in told] == [
        'agents.own: no suite has the target "agent:own". Add the target, or remove this.',
        'scripts.s: no suite has the target "scripted:s". Add the target, or remove this.',
    ]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("command:", 'agents.own.model: the model "command:" doesn\'t name its provider. Write it as PROVIDER/NAME'),
        ("gpt-5", "doesn't name its provider"),
        ("openai/", "doesn't name its model"),
        ("openai/a b", "has a model name that can't be one"),
    ],
)
def test_an_agents_model_is_a_providers(model: str, words: str) -> None:
    told = problems(["agent:own"], agents={"own": {"command": ["a"], "model": model}})
    assert [line for line in told if words in line], told


def test_scripts_stay_in_the_repository() -> None:
    (told,) = problems(["scripted:s"], scripts={"s": "../s.yaml"})
    assert "has .. in it" in told


@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("claude-code/m", {}),
        ("opencode/anthropic/m", {}),
        ("agent:own", {"agents": {"own": {"command": ["a"], "model": "anthropic/m"}}}),
    ],
)
def test_settings_of_a_model_may_be_an_agents(target: str, more: dict[str, Any]) -> None:
    providers = {"anthropic": {"models": {"m": {"max_tokens": 100}}}}
    assert config([target], providers=providers, **more)
    assert "no suite has the target" in problems(["oracle"], providers=providers)[0]


@pytest.mark.parametrize("program", AGENT_PROVIDERS)
def test_every_agent_program_has_what_starts_it(program: str) -> None:
    assert isinstance(load(TARGETS, program), CodingAgent)
