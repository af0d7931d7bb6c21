"""The run-level numbers as FC-Eval writes them: the specification's 1.0 and 0.0 where nothing is valid.

For export only. Metrics and rules use `evalward.suites.speedup.metrics`, where such a value is not available.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evalward.records.result import Result
from evalward.suites.speedup.payload import details_of, level_values, speedup_value


def agent_summary(results: Sequence[Result]) -> dict[str, Any]:
    """One agent's entry of `agent_metrics_summary`: over all tasks that have a payload."""
    details = [details_of(result) for result in results]
    cost = _mean([result.usage.cost_usd for result in results])
    levels = [level_values(each) for each in details]
    advantages = {name: _mean([each[name] for each in levels]) for name in (levels[0] if levels else {})}
    advantage = advantages.get("agent_advantage")
    return {
        "mean_speedup": _mean([speedup_value(each) for each in details]),
        "mean_success_rate": _mean([float(each.success) for each in details]),
        "num_benchmarks": sum(each.num_benchmarks for each in details),
        "num_valid_benchmarks": sum(each.num_valid_benchmarks for each in details),
        **advantages,
        "mean_cost_per_task": cost,
        "cost_weighted_advantage": None if advantage is None or cost is None else advantage / cost if cost else 0.0,
        "mean_trajectory_length": _mean(
            [each.trajectory_length for each in details if each.trajectory_length is not None]
        ),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    """The arithmetic mean; `None` of none, and when one is unknown."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def gmean_of_advantages(advantages: Sequence[float]) -> float | None:
    """gmean(1 + advantage) − 1; the arithmetic mean when one is −1 or less; `None` of none."""
    if not advantages:
        return None
    if min(advantages) <= -1:
        return math.fsum(advantages) / len(advantages)
    return math.exp(math.fsum(map(math.log1p, advantages)) / len(advantages)) - 1
