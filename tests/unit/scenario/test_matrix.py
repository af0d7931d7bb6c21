"""Which targets a scenario's matrix means."""

from __future__ import annotations

import pytest

from evalward.suites.scenario.matrix import is_meant
from evalward.suites.scenario.model import ToolModels
from evalward.suites.scenario.trial import who

MATRIX = [
    ToolModels(tool="claude-code", models=["sonnet", "opus"]),
    ToolModels(tool="codex"),
    ToolModels(tool="opencode", models=["gpt-5"]),
    ToolModels(tool="builtin", models=["openai/gpt-5"]),
    ToolModels(tool="own"),
]


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("claude-code/sonnet", True),
        ("claude-code/haiku", False),
        ("codex/gpt-5", True),
        ("opencode/openai/gpt-5", True),
        ("opencode/anthropic/opus", False),
        ("openai/gpt-5", True),
        ("openai/gpt-4", False),
        ("anthropic/gpt-5", False),
        ("agent:own", True),
        ("agent:other", False),
        ("oracle", True),
        ("nop", True),
        ("replay:x", True),
        ("scripted:x", True),
    ],
)
def test_a_matrix_means_agents_with_their_models(target: str, meant: bool) -> None:
    assert is_meant(MATRIX, target) is meant


def test_without_a_matrix_everybody_is_meant() -> None:
    assert is_meant([], "claude-code/haiku")


def test_the_default_model_is_any() -> None:
    assert is_meant([ToolModels(tool="claude", models=["default"])], "claude-code/haiku")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("agent:own", ("own", "")),
        ("codex/gpt-5", ("codex", "gpt-5")),
        ("opencode/openai/gpt-5", ("opencode", "openai/gpt-5")),
        ("openai/gpt-5", ("builtin", "openai/gpt-5")),
        ("openai/llama3.1:8b", ("builtin", "openai/llama3.1:8b")),
        ("replay:r", ("replay", "r")),
        ("oracle", ("oracle", "")),
    ],
)
def test_scripts_are_told_agent_and_model(target: str, told: tuple[str, str]) -> None:
    assert who(target) == told
