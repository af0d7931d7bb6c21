"""What the id of a target says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.target_id import target_id


@pytest.mark.parametrize(
    ("text", "form", "head", "name"),
    [
        ("oracle", "oracle", "oracle", ""),
        ("nop", "nop", "nop", ""),
        ("oracle:x", "other", "oracle", "x"),
        ("replay:a/b", "replay", "replay", "a/b"),
        ("replay", "replay", "replay", ""),
        ("program:p", "program", "program", "p"),
        ("program/p", "other", "program", "p"),
        ("agent:own", "agent", "agent", "own"),
        ("scripted:s", "scripted", "scripted", "s"),
        ("patch:p", "patch", "patch", "p"),
        ("log:l", "log", "log", "l"),
        ("echo:a:b", "other", "echo", "a:b"),
        ("echo", "other", "echo", ""),
        ("model:x", "other", "model", "x"),
        ("openai", "other", "openai", ""),
        ("openai:gpt-5", "other", "openai", "gpt-5"),
        ("", "other", "", ""),
    ],
)
def test_an_id_says_form_and_name(text: str, form: str, head: str, name: str) -> None:
    asked = target_id(text)
    assert (asked.text, asked.form, asked.head, asked.name) == (text, form, head, name)
    assert (asked.provider, asked.model) == ("", "")


@pytest.mark.parametrize(
    ("text", "form", "provider", "model"),
    [
        ("anthropic/claude-haiku-4-5", "model", "anthropic", "claude-haiku-4-5"),
        ("openai/org/llama-3.1:8b", "model", "openai", "org/llama-3.1:8b"),
        ("openai/", "model", "openai", ""),
        ("claude-code/opus", "coding-agent", "anthropic", "opus"),
        ("codex/gpt-5", "coding-agent", "openai-responses", "gpt-5"),
        ("opencode/openai/org/m:1", "coding-agent", "openai", "org/m:1"),
        ("opencode/gpt-5", "coding-agent", "", ""),
        ("gemini/x", "other", "", ""),
    ],
)
def test_an_id_says_which_model_is_asked(text: str, form: str, provider: str, model: str) -> None:
    asked = target_id(text)
    assert (asked.form, asked.provider, asked.model) == (form, provider, model)


@given(st.text(max_size=30) | st.from_regex(r"(openai|opencode|agent|echo)[:/]{1,2}[a-z:/]{0,8}", fullmatch=True))
def test_any_text_is_an_id_and_nothing_of_it_is_lost(text: str) -> None:
    asked = target_id(text)
    assert f"{asked.head}{asked.mark}{asked.name}" == text
    assert not set(asked.head) & {":", "/"}
