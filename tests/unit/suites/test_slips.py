"""Slips of a first hour, each with the whole message that it gives: what is wrong, where, and what to write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evalward.config.load import load_config
from evalward.engine.selection import Selection
from evalward.records.problem import InputError
from evalward.records.words import did_you_mean
from evalward.runner.measure import prepare

BASH = '{"id":"one","category":"c","prompt":"p","expectations":[{"check":"exit_code:0"}],"solution":"echo"}'
COMMANDS = "- {id: ls, prompt: list files, expected_command: ls, category: x, safe: true}\n"
CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: t.jsonl, targets: [oracle]}
  - {name: cmd, kind: command, cases: c.yaml, targets: [oracle]}
"""


def told(folder: Path, name: str, content: str | bytes) -> list[str]:
    """What is said when one file of a sound project is written so."""
    files: dict[str, str | bytes] = {"evalward.yml": CONFIG, "t.jsonl": BASH, "c.yaml": COMMANDS, name: content}
    for file, text in files.items():
        (folder / file).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as raised:
        prepare(load_config(folder / "evalward.yml", "evalward.yml"), Selection())
    return [re.sub(r" \(column [0-9]+\)", "", str(problem)) for problem in raised.value.problems]


def config(line: str) -> str:
    """A configuration whose first suite, or what follows it, is this."""
    return f"version: 1\nsuites:\n  - {line}\n"


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (
            config("{name: tools, kind: bash, cases: t.jsonl, target: [oracle]}"),
            [
                'evalward.yml:3: suites[0].target: unknown key "target". Did you mean targets?',
                "evalward.yml:3: suites[0].targets: the key is missing. Add it.",
            ],
        ),
        (
            config("{name: tools, kind: bash, cases: t.jsonl, targets: [claude-haiku-4-5, gpt-5.5, llama]}"),
            [
                'evalward.yml:3: suites[0].targets[0]: unknown target "claude-haiku-4-5". '
                "Did you mean anthropic/claude-haiku-4-5?",
                'evalward.yml:3: suites[0].targets[1]: unknown target "gpt-5.5". Did you mean openai/gpt-5.5?',
                'evalward.yml:3: suites[0].targets[2]: unknown target "llama". Known: oracle, nop, replay:NAME, '
                "anthropic/NAME, openai/NAME, openai-responses/NAME.",
            ],
        ),
        (
            config("{name: tools, kind: bash, cases: t.jsonl, targets: [oracle], system: prompts/bsh.md}"),
            [
                "evalward.yml:3: suites[0].system: prompts/bsh.md: can't be read: No such file or directory. "
                "Name a text file, relative to the config's folder."
            ],
        ),
        (
            config(
                "{name: s, kind: scenario, cases: c.yaml, targets: [oracle], "
                "tool: {binary: ' ', command_pattern: '(', env: {1BAD: x}}}"
            ),
            [
                "evalward.yml:3: suites[0].tool.binary: it is empty.",
                "evalward.yml:3: suites[0].tool.command_pattern: '(' is not an RE2 pattern: missing ): (.",
                "evalward.yml:3: suites[0].tool.env: '1BAD' can't be the name of an environment variable.",
            ],
        ),
        (
            config("{name: t, kind: bash, cases: t.jsonl, targets: [oracle]}")
            + "policy: [{metric: pass_rate, floor: 1.1}]\n",
            [
                "evalward.yml:4: policy[0].floor: pass_rate is a ratio from 0 to 1, and 1.1 is above 1. "
                "Write a number from 0 to 1."
            ],
        ),
        (
            config("{name: t, kind: bash, cases: t.jsonl, targets: [oracle]}")
            + "policy: [{metric: pass_rate, floor: 95}]\n",
            [
                "evalward.yml:4: policy[0].floor: pass_rate is a ratio from 0 to 1, and 95 is above 1. "
                "Write it as a share: 0.95, not 95."
            ],
        ),
        (
            config("{name: t, kind: bash, cases: t.jsonl, targets: [oracle]}")
            + "providers: {anthropic: {api_key: sk-ant-1234567890}}\n",
            [
                "evalward.yml:4: providers.anthropic.api_key: an API key doesn't belong in this file (api_key). "
                "Remove it and, if the file was ever committed or shared, revoke the key. Put the new one into an "
                "environment variable; providers.NAME.key_env names another variable than the default."
            ],
        ),
        (
            "version: 1\n<<<<<<< HEAD\nsuites: []\n=======\nsuites: {}\n>>>>>>> topic\n",
            [
                "evalward.yml:2: the file has a git conflict marker. "
                "Resolve the conflict, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>."
            ],
        ),
        (b"version: 1\n# caf\xe9\n", ["evalward.yml:2: the file is not UTF-8 text. Save it as UTF-8."]),
    ],
)
def test_config(tmp_path: Path, content: str | bytes, messages: list[str]) -> None:
    assert told(tmp_path, "evalward.yml", content) == messages


def bash(**more: object) -> str:
    return json.dumps({"id": "one", "category": "c", "prompt": "p", "expectations": [{"check": "exit_code:0"}], **more})


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (
            bash(expectations=["exit_code:0"]),
            [
                't.jsonl:1: expectations[0]: must be a mapping of keys to values, not the text "exit_code:0". '
                "Write its keys: check, weight."
            ],
        ),
        (bash(prompt=42), ['t.jsonl:1: prompt: must be text, not the number 42. Put it in quotes: "42".']),
        (
            bash(expectation=[]),
            ["t.jsonl:1: expectation: unknown key. Did you mean expectations?"],
        ),
        (
            '{"id":"one","category":"c",}',
            [
                "t.jsonl:1: not a JSON object: there is a comma before the closing }; remove it. "
                "Write one JSON object per line."
            ],
        ),
        (
            '{"expectations":[{"check":"x"},]}',
            [
                "t.jsonl:1: not a JSON object: there is a comma before the closing ]; remove it. "
                "Write one JSON object per line."
            ],
        ),
        (
            "{'id': 'one'}",
            [
                "t.jsonl:1: not a JSON object: JSON strings need double quotes, not single quotes. "
                "Write one JSON object per line."
            ],
        ),
        (
            '{"id": True}',
            [
                "t.jsonl:1: not a JSON object: True is not a word of JSON; write true, false or null. "
                "Write one JSON object per line."
            ],
        ),
        (
            '{"id": "a" "b": 1}',
            ["t.jsonl:1: not a JSON object: a comma is missing. Write one JSON object per line."],
        ),
        ('["id"]', ["t.jsonl:1: not a JSON object: it is a list. Write one JSON object per line."]),
        (
            BASH + "\n>>>>>>> topic\n",
            [
                "t.jsonl:2: the file has a git conflict marker. "
                "Resolve the conflict, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>."
            ],
        ),
        (BASH.encode() + b'\n{"id": "caf\xe9"}', ["t.jsonl:2: the file is not UTF-8 text. Save it as UTF-8."]),
    ],
)
def test_json_lines(tmp_path: Path, content: str | bytes, messages: list[str]) -> None:
    assert told(tmp_path, "t.jsonl", content) == messages


@pytest.mark.parametrize(
    ("keys", "messages"),
    [
        ("safe: yep", ['c.yaml:1: ls: safe: must be true or false, not the text "yep". Write true or false.']),
        ("accepted: ls -a", ['c.yaml:1: ls: accepted: must be a list, not the text "ls -a". Write ["ls -a"].']),
        (
            "accepted: [[ -f x ]]",
            ["c.yaml:1: ls: accepted[0]: must be text, not a list. Put quotes around text that begins with [."],
        ),
        ("match: behavior", ['c.yaml:1: ls: match: unknown value "behavior". Did you mean behaviour?']),
        ("expected: ls", ["c.yaml:1: ls: expected: unknown key. Did you mean expected_command?"]),
        (
            "notes: Files: list all",
            [
                "c.yaml:1: unquoted text with a colon in a [list] or {mapping}. "
                'Put quotes around it: {prompt: "Files: all of them"}.'
            ],
        ),
    ],
)
def test_commands(tmp_path: Path, keys: str, messages: list[str]) -> None:
    line = f"- {{id: ls, prompt: list files, expected_command: ls, category: x, {keys}}}\n"
    assert told(tmp_path, "c.yaml", line) == messages


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("anthropic", "evalward.yml: no target matches 'anthropic'. Did you mean anthropic/*?"),
        ("gemini", "evalward.yml: no target matches 'gemini'. Targets: oracle, anthropic/claude-haiku-4-5."),
    ],
)
def test_target_that_is_chosen(tmp_path: Path, pattern: str, message: str) -> None:
    (tmp_path / "evalward.yml").write_text(
        config("{name: t, kind: bash, cases: t.jsonl, targets: [oracle, anthropic/claude-haiku-4-5]}"), "utf-8"
    )
    (tmp_path / "t.jsonl").write_text(BASH, "utf-8")
    with pytest.raises(InputError) as raised:
        prepare(load_config(tmp_path / "evalward.yml", "evalward.yml"), Selection(targets=(pattern,)))
    assert str(raised.value) == message


def test_other_suffix_lies_beside(tmp_path: Path) -> None:
    (tmp_path / "evalward.yaml").write_text(CONFIG, "utf-8")
    with pytest.raises(InputError) as raised:
        load_config(tmp_path / "evalward.yml", "evalward.yml")
    assert str(raised.value) == (
        "evalward.yml: there is no such file. "
        "There is evalward.yaml in this folder: rename it, or name it with --config."
    )


def test_what_was_written_is_no_proposal() -> None:
    assert did_you_mean("target", ["target"]) == ""
    assert did_you_mean("target", ["target", "targets"]) == "Did you mean targets?"
    assert did_you_mean("expected", ["expected_command", "prompt"]) == "Did you mean expected_command?"
    assert did_you_mean("key", ["key_env", "api_key"]) == "", "two are as near"
