"""Scenario files with their fixtures, and results of scenario trials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.scenario.details import EvaluatorResult, Interaction, ScenarioDetails

TEXT = """\
name: add_task
description: an agent adds one task
template_folder: add_task
target:
  binary: ./todo
  command_pattern: 'todo\\s+(\\S+)'
  health_check: ./todo --version
  env: {TODO_FILE: tasks.txt}
task:
  prompt: Add a task called milk.
setup:
  commands: [touch tasks.txt]
evaluation:
  gates:
    - {type: file_contains, path: tasks.txt, substring: milk}
    - {type: script, command: ./check.sh, description: the task is there}
  composite: {gate_weight: 0.5, judge_weight: 0.3, interaction_weight: 0.2}
scripts:
  post:
    - {command: cat tasks.txt}
  evaluators:
    - {name: tidy, command: sh tidy.sh, timeout_secs: 5}
tool_matrix:
  - {tool: claude-code, models: [a, b]}
  - {tool: codex}
run: {timeout_secs: 60, max_turns: 20}
cost: {max_usd: 0.5, cache: false}
tags: [basic, quick]
tier: 1
solution:
  - ./todo add milk
"""
FILES = {
    "AGENTS.md": "Use ./todo.\n",
    ".claude/skills/todo/SKILL.md": "Add tasks with ./todo add.\n",
    "todo": "#!/bin/sh\necho $2 >> tasks.txt\n",
    "check.sh": "#!/bin/sh\ngrep milk tasks.txt\n",
    "tidy.sh": "echo 1\n",
    "notes/old.txt": "old\n",
}
EXECUTABLE = {"todo", "check.sh"}


def write_fixture(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """A fixture of these files; `todo` and `check.sh` can be run."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755 if name in EXECUTABLE else 0o644)
    return folder


def write_scenario(root: Path, text: str = TEXT, name: str = "add_task.yaml", fixture: str = "add_task") -> Path:
    """A scenario's file with its fixture beside it."""
    write_fixture(root / fixture)
    file = root / name
    file.write_text(text, "utf-8")
    return file


def trial(
    name: str = "a",
    status: str = "passed",
    *,
    counts: tuple[int, int, int] = (4, 2, 1),
    first: int | None = 1,
    gates: tuple[int, int] = (2, 2),
    interaction: Mapping[str, Any] | None = None,
    scores: Mapping[str, float | None] | None = None,
    **details: Any,
) -> Result:
    """One result; `counts` are commands, identities and errors, `gates` passed and all."""
    total, unique, errors = counts
    told = {
        "total_commands": total,
        "unique_commands": unique,
        "error_count": errors,
        "retry_count": total - unique,
        "first_try_count": first,
        "retries_after_failure": 1,
        "completed": True,
        **(interaction or {}),
    }
    return Result(
        id=name,
        category="general",
        definition="sha256:d",
        status=Status(status),
        usage=Usage(input_tokens=100, output_tokens=10, cost_usd=0.25),
        duration_ms=1000,
        details=ScenarioDetails(
            interaction=Interaction.model_validate(told),
            gates_passed=gates[0],
            gates_total=gates[1],
            evaluators=[EvaluatorResult(name=n, score=s) for n, s in (scores or {}).items()],
            **{"completed": True, **details},
        ),
    )


def result_line(**changes: Any) -> str:
    """One line of another program's results."""
    efficiency = {
        "total_commands": 5,
        "unique_commands": 2,
        "error_count": 1,
        "retry_count": 3,
        "help_invocations": 1,
        "first_try_success_rate": 1.0,
        "iteration_ratio": 2.5,
    }
    data = {
        "id": "run-20260101-101112-123456789",
        "scenario_id": "add_task",
        "scenario_hash": "abc123",
        "tool": "opencode",
        "model": "openai/gpt-5.5",
        "timestamp": "2026-01-01T10:11:12.123456789Z",
        "duration_secs": 12.5,
        "cost_usd": 0.02,
        "gates_passed": True,
        "metrics": {
            "gates_passed": 2,
            "gates_total": 2,
            "details": [{"gate_type": "CommandJsonPath", "passed": True, "message": "ok"}],
            "efficiency": efficiency,
            "composite_score": 0.9,
            "evaluator_results": [{"name": "tidy", "metrics": {"lines": 3, "odd": "x"}, "score": 0.5}],
        },
        "judge_score": None,
        "outcome": "Pass",
        "transcript_path": "results/20260101-101112-opencode-openai_gpt-5.5-add_task/artifacts/transcript.raw.txt",
        **changes,
    }
    return json.dumps(data) + "\n"
