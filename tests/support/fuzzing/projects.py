"""The files of a project, each damaged in turn, and read by `evalward validate` as it reads them all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evalward.commands.validate import validate
from support.fuzzing.folders import quiet_world, write_files
from support.fuzzing.mutation import Form
from support.fuzzing.reader import Reader
from support.results import baseline as example_baseline
from support.results import result, run
from support.scenarios import TEXT as MATRIX
from support.scenarios import write_fixture
from support.speedup_tasks import CODE, ORACLE, task

EXAMPLES = Path(__file__).parents[3] / "examples"
TEXT = MATRIX.replace("tool_matrix:\n  - {tool: claude-code, models: [a, b]}\n  - {tool: codex}\n", "")
TEXT = TEXT.replace("  composite:", "  judge: {enabled: true, rubric: rubric.yaml, pass_threshold: 0.7}\n  composite:")
CASE: dict[str, Any] = {
    "id": "one",
    "category": "echo",
    "prompt": "Print one.",
    "system": None,
    "files": {"a/b.txt": "x"},
    "solution": ["echo one"],
    "timeout_s": 5,
    "max_turns": 3,
    "expectations": [
        {"check": "stdout_contains:one", "weight": 2.0},
        {"check": "file_exists:/a/b.txt"},
        {"check": "stdout_regex:^one$"},
        {"check": "exit_code:0"},
    ],
}
COMMAND_CASE: dict[str, Any] = {
    "id": "list",
    "prompt": "List all files.",
    "category": "correctness",
    "expected_command": "ls -la",
    "safe": True,
    "posix_compliant": True,
    "match": "pattern",
    "pattern": "ls -(la|al)",
    "tags": ["a"],
    "notes": "n",
}
CASE_022: dict[str, Any] = {
    "metadata": {
        "total_cases": 1,
        "categories": {"correctness": 1},
        "risk_distribution": {"safe": 1},
        "posix_coverage": 1,
    },
    "test_cases": [
        {
            "id": "a",
            "prompt": "p",
            "expected_command": "ls",
            "category": "correctness",
            "risk_level": "safe",
            "posix_compliant": True,
            "tags": ["x"],
            "metadata": {"a": 1},
        }
    ],
}
CASE_026: dict[str, Any] = {
    "id": "a-1",
    "category": "posix",
    "input_request": "list",
    "expected_command": "ls",
    "expected_behavior": "x",
    "validation_rule": "pattern_match",
    "validation_pattern": "ls.*",
    "tags": ["a"],
    "difficulty": "easy",
}
TOML = b"""\
[metadata]
total_cases = 1
[[test_cases]]
id = "w"
prompt = "list"
expected_command = "ls"
category = "correctness"
safe = true
posix_compliant = true
"""
PROMPT_FILE: dict[str, Any] = {
    "name": "one",
    "model": "openai/gpt-4o",
    "modelParameters": {"temperature": 0.5, "maxTokens": 50, "seed": 1},
    "responseFormat": "json_schema",
    "jsonSchema": '{"name": "n", "schema": {"type": "object", "properties": {}, "additionalProperties": false}}',
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say {{input}}."}],
    "testData": [{"id": "a", "input": "hello", "expected": "Hello", "list": [1, {"a": None}]}],
    "evaluators": [
        {"name": "same", "string": {"contains": "{{expected}}", "startsWith": "H"}},
        {
            "name": "tone",
            "llm": {
                "modelId": "openai/gpt-4o",
                "prompt": "Kind? {{completion}}",
                "choices": [{"choice": "yes", "score": 1}, {"choice": "no", "score": 0}],
                "systemPrompt": "You judge.",
            },
        },
        {"name": "similar", "uses": "github/similarity"},
    ],
}
STEPS: dict[str, Any] = {
    "add_task": ["./todo add milk", {"say": "Done."}, {"sleep": 0.1}, {"exit": 0}],
    "default": ["ls"],
}
RUBRIC: dict[str, Any] = {
    "criteria": [
        {"id": "clear", "weight": 0.5, "description": "It is clear."},
        {"id": "whole", "weight": 0.5, "description": "It is whole."},
    ],
    "output": {"format": "json", "require_fields": ["scores", "issues"]},
}
TOOL: dict[str, Any] = {
    "description": "Run it.",
    "input_schema": {"type": "object", "properties": {"commands": {"type": "string"}}, "required": ["commands"]},
}
MODELS: dict[str, Any] = {
    "anthropic": {
        "concurrency": 2,
        "headers": {"x-a": "b"},
        "key_env": "A_KEY",
        "base_url": "https://a.example",
        "prices": {"m": {"input": 1, "output": 2}},
        "models": {"m": {"max_tokens": 5, "timeout_s": 2}},
    },
    "openai": {"stream": False},
    "openai-responses": {"reasoning_effort": "low", "stream": True},
}
CONFIG: dict[str, Any] = {
    "version": 1,
    "baseline": "baseline.json",
    "recordings": {"agent": "recording.jsonl"},
    "budget_tokens": 3,
    "scripts": {"tidy": "steps.yaml"},
    "patches": {"agent": "oracle.patch"},
    "providers": MODELS,
    "programs": {"p": {"command": ["./run.sh", "{prompt}"], "timeout_s": 5}},
    "agents": {"reader": {"command": ["./run.sh"], "output": "events", "model": "openai/m", "env": {"A": "b"}}},
    "judge": {"model": "recorded:answers.jsonl", "votes": 1, "max_error_rate": 0.1},
    "suites": [
        {
            "name": "tools",
            "kind": "bash",
            "cases": ["cases.json*", "**/cases.jsonl", "cases.yaml"],
            "targets": ["oracle", "replay:agent", "anthropic/m"],
            "system": "system.txt",
            "tool": "tool.json",
            "trials": 2,
            "max_turns": 5,
            "timeout_s": 10,
        },
        {
            "name": "shell",
            "kind": "command",
            "cases": ["commands.yaml", "commands.jsonl", "022.json", "026.yaml", "wp06.toml"],
            "targets": ["oracle", "program:p"],
            "match": "equivalent",
        },
        {
            "name": "todo",
            "kind": "scenario",
            "cases": "add_task.yaml",
            "targets": ["oracle", "scripted:tidy", "agent:reader", "openai/m"],
            "network": "none",
            "target": {"binary": "./todo"},
        },
        {
            "name": "speed",
            "kind": "speedup",
            "cases": "task.yaml",
            "targets": ["oracle", "nop", "patch:agent"],
            "rounds": 3,
        },
        {
            "name": "prompts",
            "kind": "prompt",
            "cases": "one.prompt.yml",
            "targets": ["openai/m"],
        },
    ],
    "policy": [{"metric": "pass_rate", "suite": "tools", "floor": 0.5, "max_drop": 0.1, "alpha": 0.05}],
    "limits": {"max_error_rate": 0.1},
    "waive": [{"id": "one", "reason": "known"}],
    "protect": ["evalward.yml"],
    "profiles": {"main": {"branches": ["main"], "fail-on": "never"}},
}


OF_SUITE: Mapping[str, str] = {
    **dict.fromkeys(("cases.jsonl", "cases.yaml", "system.txt", "tool.json", "recording.jsonl"), "tools"),
    **dict.fromkeys(("commands.yaml", "commands.jsonl", "022.json", "026.yaml", "wp06.toml"), "shell"),
    **dict.fromkeys(("steps.yaml", "add_task.yaml", "rubric.yaml", "answers.jsonl"), "todo"),
    **dict.fromkeys(("task.yaml", "oracle.patch"), "speed"),
    "one.prompt.yml": "prompts",
}
"""Of a file that one suite alone reads: which. The other suites would be read as ever, which takes longest."""


NEEDED_BY: Mapping[str, set[str]] = {
    "tools": {"recordings", "providers"},
    "shell": {"programs"},
    "todo": {"scripts", "agents", "judge"},
    "speed": {"patches"},
    "prompts": {"judge"},
}
"""What of the configuration's top a suite needs; for others it is a mistake."""


def config_around(name: str) -> dict[str, Any]:
    """A configuration that has this file read, and no suite that has nothing to do with it."""
    kept = OF_SUITE.get(name)
    if kept is None:
        return CONFIG
    suites = [suite for suite in CONFIG["suites"] if suite["name"] == kept]
    policy = [rule for rule in CONFIG["policy"] if rule["suite"] == kept]
    strange = set().union(*NEEDED_BY.values()) - NEEDED_BY[kept]
    rest = {key: value for key, value in CONFIG.items() if key not in strange}
    return {**rest, "suites": suites, "policy": policy}


def _jsonl(*values: Any) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


@cache
def recording() -> list[Any]:
    """A few recorded trials."""
    lines = (EXAMPLES / "bash-tools/recordings/hand-written-before.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")][:3]


@cache
def files() -> Mapping[str, bytes]:
    """All of them, well-formed."""
    return {
        "evalward.yml": yaml.safe_dump(CONFIG).encode(),
        "baseline.json": example_baseline(run([result()])).model_dump_json(by_alias=True).encode(),
        "recording.jsonl": _jsonl(*recording()),
        "cases.jsonl": _jsonl(CASE),
        "cases.yaml": yaml.safe_dump([{**CASE, "id": "two"}]).encode(),
        "commands.yaml": yaml.safe_dump([COMMAND_CASE]).encode(),
        "commands.jsonl": _jsonl({**COMMAND_CASE, "id": "other"}),
        "022.json": json.dumps(CASE_022).encode(),
        "026.yaml": yaml.safe_dump([CASE_026]).encode(),
        "wp06.toml": TOML,
        "system.txt": b"You are careful.\n",
        "tool.json": json.dumps(TOOL).encode(),
        "steps.yaml": yaml.safe_dump(STEPS).encode(),
        "add_task.yaml": TEXT.encode(),
        "rubric.yaml": yaml.safe_dump(RUBRIC).encode(),
        "answers.jsonl": _jsonl({"id": "add_task", "answers": ["{}", {"scores": {"clear": 1}}]}),
        "task.yaml": yaml.safe_dump(task()).encode(),
        "one.prompt.yml": yaml.safe_dump(PROMPT_FILE).encode(),
        "oracle.patch": ORACLE.encode(),
        "run.sh": b"#!/bin/sh\n",
        **{f"code/{name}": text.encode() for name, text in CODE.items()},
    }


def write_project(folder: Path) -> None:
    """The project, well-formed."""
    write_files(folder, files())
    write_fixture(folder / "add_task")
    (folder / "run.sh").chmod(0o755)


def _validated(name: str, form: Form, good: Callable[[], Any], label: str = "") -> Reader:
    def read(data: bytes, folder: Path) -> object:
        if not (folder / "evalward.yml").exists():
            write_project(folder)
            if name in OF_SUITE:
                (folder / "evalward.yml").write_text(yaml.safe_dump(config_around(name)), "utf-8")
        (folder / name).write_bytes(data)
        return validate(quiet_world(folder), [folder / "evalward.yml"], prove=False)

    return Reader(label or name, form, good, read, share=10)


def _text(name: str) -> Callable[[], Any]:
    return lambda: files()[name]


def _value(value: Any) -> Callable[[], Any]:
    return lambda: value


PROJECTS: tuple[Reader, ...] = (
    _validated("evalward.yml", "yaml", _value(CONFIG)),
    _validated("evalward.yml", "text", _text("evalward.yml"), "evalward.yml as text"),
    _validated("cases.jsonl", "jsonl", _value([CASE])),
    _validated("cases.yaml", "yaml", _value([{**CASE, "id": "two"}])),
    _validated("commands.yaml", "yaml", _value([COMMAND_CASE])),
    _validated("commands.jsonl", "jsonl", _value([{**COMMAND_CASE, "id": "b"}, {**COMMAND_CASE, "id": "c"}])),
    _validated("022.json", "json", _value(CASE_022)),
    _validated("026.yaml", "yaml", _value([CASE_026])),
    _validated("wp06.toml", "text", _text("wp06.toml")),
    _validated("system.txt", "text", _text("system.txt")),
    _validated("tool.json", "json", _value(TOOL)),
    _validated("steps.yaml", "yaml", _value(STEPS)),
    _validated("rubric.yaml", "yaml", _value(RUBRIC)),
    _validated("add_task.yaml", "yaml", lambda: yaml.safe_load(TEXT)),
    _validated("add_task.yaml", "text", TEXT.encode, "add_task.yaml as text"),
    _validated("task.yaml", "yaml", task),
    _validated("one.prompt.yml", "yaml", _value(PROMPT_FILE)),
    _validated("oracle.patch", "text", _text("oracle.patch")),
    _validated("answers.jsonl", "jsonl", _value([{"id": "add_task", "answers": ["{}", {"scores": {"clear": 1}}]}])),
    _validated("recording.jsonl", "jsonl", recording),
    _validated("baseline.json", "json", lambda: json.loads(files()["baseline.json"]), "baseline of a config"),
)
