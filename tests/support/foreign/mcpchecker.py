"""Result files as mcpchecker writes them, by its source of July 2026."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def run(task: str = "create-pod", **changed: Any) -> dict[str, Any]:
    """A run that passed, where `changed` says nothing else."""
    return {
        "taskName": task,
        "taskPath": f"tasks/kubernetes/{task}.yaml",
        "taskPassed": True,
        "taskOutput": "The pod runs.",
        "difficulty": "easy",
        "totalRuns": 1,
        "assertionResults": {"toolsUsed": {"passed": True}, "minToolCalls": {"passed": True}},
        "allAssertionsPassed": True,
        "callHistory": {"ToolCalls": [call()], "ResourceReads": [], "PromptGets": []},
        "tokenEstimate": estimate(),
        "agentOutput": {"Steps": [], "Success": True, "Error": "", "agentDetails": {"outputSteps": steps()}},
        "verifyOutput": {"Steps": [{"type": "script", "success": True, "message": "ok"}], "Success": True, "Error": ""},
        **changed,
    }


def failed(error: str, **changed: Any) -> dict[str, Any]:
    """A run whose verification said no, or did not come to it."""
    return run(**{"taskPassed": False, "taskError": error, **changed})


def call() -> dict[str, Any]:
    """A call of an MCP server's tool, as the proxy saw it."""
    return {
        "serverName": "kubernetes",
        "timestamp": "2026-07-20T10:30:00Z",
        "success": True,
        "name": "pods_create",
        "result": {"content": [{"type": "text", "text": "created"}]},
        "request": {
            "Session": {},
            "Params": {"_meta": None, "name": "pods_create", "arguments": {"image": "nginx"}},
            "Extra": {"TokenInfo": None, "Header": {"Authorization": ["Bearer canary-of-the-header"]}},
        },
    }


def steps() -> list[dict[str, Any]]:
    """What an agent told of itself."""
    used = {"title": "pods_create", "status": "completed", "rawInput": {"image": "nginx"}, "rawOutput": {"pod": "web"}}
    return [
        {"type": "thinking", "content": "a pod, then"},
        {"type": "tool_call", "toolCall": used},
        {"type": "message", "content": "The pod runs."},
    ]


def estimate(**actual: int) -> dict[str, Any]:
    """The tokens: estimated by mcpchecker, or counted by the agent."""
    counted = {"source": "actual", "actual": actual} if actual else {"source": "estimated"}
    return {"inputTokens": 900, "outputTokens": 80, "totalTokens": 980, "mcpSchemaTokens": 300, **counted}


def output(runs: Sequence[Any]) -> dict[str, Any]:
    """The file."""
    tool = {"name": "pods_create", "description": "Creates a pod.", "inputSchema": {"type": "object"}}
    return {
        "summary": {
            "agent": {"type": "builtin.llm-agent", "name": "my-agent", "model": "openai:gpt-5"},
            "judge": {"type": "builtin.llm-agent", "model": "claude-sonnet-4"},
            "mcpServers": [{"name": "kubernetes", "type": "http", "url": "http://localhost:8080/mcp", "tools": [tool]}],
            "evals": {"names": ["create-pod"], "taskSets": [{"glob": "../tasks/kubernetes/*.yaml"}]},
            "parallelWorkers": 1,
            "runs": 1,
        },
        "results": list(runs),
    }
