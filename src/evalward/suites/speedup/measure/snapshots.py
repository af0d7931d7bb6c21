"""Outputs before and after a change: are they the same, within tolerances?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evalward.suites.speedup.details import SnapshotSummary
from evalward.suites.speedup.values import parse

Outcome = Literal["passed", "failed", "skipped"]
OUTCOMES = ("passed", "failed", "skipped")
MAX_BYTES = 256 * 1024 * 1024
Statuses = Mapping[str, Outcome]
SHOWN = 3


def read_statuses(content: bytes | None) -> Statuses | None:
    """`{"name": "passed" | "failed" | "skipped"}` of a task's own comparison; `None` where that can't be read."""
    data = _object(content)
    if not data or any(value not in OUTCOMES for value in data.values()):
        return None
    return data


def read_capture(content: bytes | None) -> Mapping[str, Any] | None:
    """What the capture wrote; `None` where that can't be read."""
    data = _object(content)
    return data if data and all(isinstance(value, dict) for value in data.values()) else None


def _object(content: bytes | None) -> dict[str, Any] | None:
    if content is None or len(content) > MAX_BYTES:
        return None
    try:
        data = parse(content)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def before_statuses(first: Mapping[str, Any], second: Mapping[str, Any], rtol: float, atol: float) -> Statuses:
    """The untouched code's outputs, captured twice: `passed` where both are the same.

    What raises, and what never comes out the same, says nothing of a change: skipped.
    """
    return {name: _stable(output, second.get(name, {}), rtol, atol) for name, output in first.items()}


def _stable(one: Mapping[str, Any], two: Mapping[str, Any], rtol: float, atol: float) -> Outcome:
    if "value" not in one or "value" not in two:
        return "skipped"
    return "passed" if same(one["value"], two["value"], rtol, atol) else "skipped"


def after_statuses(before: Mapping[str, Any], now: Mapping[str, Any], rtol: float, atol: float) -> Statuses:
    """The change's outputs against those before it."""
    return {
        name: "passed"
        if "value" in output and "value" in now.get(name, {}) and same(output["value"], now[name]["value"], rtol, atol)
        else "failed"
        for name, output in before.items()
    }


def same(one: Any, two: Any, rtol: float, atol: float) -> bool:
    """Equal in all parts; floats within atol + rtol·|expected|, NaN unequal to everything."""
    if _is_number(one) and _is_number(two):
        return _close(one, two, rtol, atol)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(same(a, b, rtol, atol) for a, b in zip(one, two, strict=True))
    return type(one) is type(two) and bool(one == two)


def _is_number(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and value[0] in ("int", "float") and isinstance(value[1], str)


def _close(one: Sequence[str], two: Sequence[str], rtol: float, atol: float) -> bool:
    if one[0] == two[0] == "int":
        return one[1] == two[1]
    try:
        expected, found = float(one[1]), float(two[1])
    except (ValueError, OverflowError):
        return False
    if math.isinf(expected) or math.isinf(found):
        return expected == found
    return abs(found - expected) <= atol + rtol * abs(expected)


def transitions(before: Statuses | None, after: Statuses | None) -> tuple[SnapshotSummary, list[str]]:
    """How the outputs moved from the untouched code to the change, and which of them were right and no longer are."""
    if before is None or after is None:
        side = "the untouched code" if before is None else "the change"
        return SnapshotSummary(), [f"SNAPSHOT: nothing could be captured of {side}"]
    moved = {name: after.get(name, "skipped") for name in before}
    lost = [name for name, outcome in moved.items() if before[name] == "passed" and outcome != "passed"]
    counts = {outcome: sum(each == outcome for each in moved.values()) for outcome in OUTCOMES}
    summary = SnapshotSummary.model_validate(
        {**counts, "pass_to_fail": len(lost), "total": len(moved), "status": "failed" if lost else "passed"}
    )
    named = ", ".join(name[:80] for name in lost[:SHOWN])
    return summary, [f"SNAPSHOT: no longer the same: {named}"] if lost else []
