"""A scenario's `tool_matrix`: which agents with which models it is meant for."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.target_id import target_id
from evalward.suites.scenario.model import ToolModels

ANY_MODEL = "default"
BUILT_IN = "builtin"
"""How a matrix calls the built-in loop, with the names of its models or of their targets."""
_SAME = {"claude": "claude-code", "claude_code": "claude-code"}
_STAND_INS = ("oracle", "nop", "replay", "scripted")


def is_meant(matrix: Sequence[ToolModels], target: str) -> bool:
    """Whether the matrix names the target. Without a matrix every target is meant.

    It speaks of agents and models: what stands in for them (oracle, nop, recordings, scripts) is always meant.
    """
    if not matrix or target_id(target).form in _STAND_INS:
        return True
    return any(_names(_SAME.get(entry.tool, entry.tool), entry.models, target) for entry in matrix)


def _names(tool: str, models: Sequence[str], target: str) -> bool:
    if target in {tool, f"agent:{tool}"}:
        return True
    asked = target_id(target)
    if asked.mark == ":" or not (tool == asked.head or (tool == BUILT_IN and asked.form == "model")):
        return False
    known = {target, asked.name, asked.short, ANY_MODEL}
    return not models or bool(known & set(models))
