"""bashkit-eval result files of our own making, in the form that the public ones have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def call(commands: str, stdout: str = "", stderr: str = "", exit_code: int = 0) -> dict[str, Any]:
    """One tool call."""
    return {"commands": commands, "stdout": stdout, "stderr": stderr, "exit_code": exit_code}


def entry(name: str, calls: Sequence[Mapping[str, Any]], passed: Sequence[bool], **trace: Any) -> dict[str, Any]:
    """One result: a task with a check per entry of `passed`, and a conversation of one call a turn."""
    checks = [{"check": f"stdout_contains:{name}{n}", "weight": 1.0} for n in range(len(passed))]
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": f"Do {name}."}]}]
    for n, one in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{n}", "name": "bash", "input": {"commands": one["commands"]}}
        read = {"type": "tool_result", "tool_use_id": f"t{n}", "content": one["stdout"], "is_error": False}
        messages += [{"role": "assistant", "content": [use]}, {"role": "tool_result", "content": [read]}]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "Done."}]})
    task: dict[str, Any] = {
        "id": name,
        "category": "basic",
        "description": "",
        "system": None,
        "prompt": f"Do {name}.",
        "files": {},
        "expectations": checks,
    }
    recorded = {
        "messages": messages,
        "tool_calls": list(calls),
        "tool_call_count": len(calls),
        "turns": len(calls) + 1,
        "last_tool_response": calls[-1] if calls else None,
        "natural_stop": True,
        "total_input_tokens": 100,
        "total_output_tokens": 10,
        "duration_ms": 1500,
        **trace,
    }
    results = [{**check, "passed": ok, "detail": "as it was"} for check, ok in zip(checks, passed, strict=True)]
    score = {"task_id": name, "results": results, "score": float(sum(passed)), "max_score": float(len(passed))}
    return {"task": task, "trace": recorded, "score": score}


def result_file(*entries: Mapping[str, Any], summary: Mapping[str, Any] | None = None, **more: Any) -> bytes:
    """The whole file."""
    data = {
        "provider": "anthropic",
        "model": "claude-x",
        "timestamp": "2026-02-09T05:45:58Z",
        "max_turns": 10,
        "results": list(entries),
        "summary": summary or {},
        **more,
    }
    return json.dumps(data).encode()


# Two tasks of the worked examples: 4 of 5 checks with 2 of 3 calls in 4 turns; 2 of 2 with 1 of 1 in 2 turns.
FOUR_OF_FIVE = entry(
    "a",
    [
        call("echo a0 a1 a2 a3", "a0 a1 a2 a3\n"),
        call("nope", stderr="nope: command not found\n", exit_code=127),
        call("true"),
    ],
    [True, True, True, True, False],
)
TWO_OF_TWO = entry("b", [call("echo b0 b1", "b0 b1\n")], [True, True])
