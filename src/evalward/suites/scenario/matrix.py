"""A scenario's `tool_matrix`: which agents with which models it is meant for."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.config import PROVIDERS
from evalward.suites.scenario.model import ToolModels

ANY_MODEL = "default"
BUILT_IN = "builtin"
"""How a matrix calls the built-in loop, with the names of its models or of their targets."""
_SAME = {"claude": "claude-code", "claude_code": "claude-code"}
_YARDSTICKS = ("oracle", "nop")
_RECORDED = ("replay:", "scripted:")


def is_meant(matrix: Sequence[ToolModels], target: str) -> bool:
    """Whether the matrix names the target. Without a matrix every target is meant.

    It speaks of agents and models: what stands in for them (oracle, nop, recordings, scripts) is always meant.
    """
    if not matrix or target in _YARDSTICKS or target.startswith(_RECORDED):
        return True
    return any(_names(_SAME.get(entry.tool, entry.tool), entry.models, target) for entry in matrix)


def _names(tool: str, models: Sequence[str], target: str) -> bool:
    if target in {tool, f"agent:{tool}"}:
        return True
    program, _, model = target.partition("/")
    if tool != program and not (tool == BUILT_IN and program in PROVIDERS):
        return False
    known = {target, model, model.rpartition("/")[2], ANY_MODEL}
    return not models or bool(known & set(models))
