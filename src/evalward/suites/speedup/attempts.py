"""pass@k: the chance that one of k attempts at a task succeeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from evalward.decide.statistics.passk import pass_at_k

ALSO = (5, 10)  # the specification's ks beside the powers of two


def sizes(attempts: int) -> list[int]:
    """The ks for so many attempts: 2, 4, 8, … up to it, and 5 and 10. Never 1."""
    powers = {2**exponent for exponent in range(1, max(attempts, 1).bit_length())}
    return sorted(k for k in powers | set(ALSO) if k <= attempts)


def pass_at(tasks: Mapping[str, Sequence[bool]]) -> dict[int, float]:
    """pass@k by k, the mean over the tasks; empty when a task has a single attempt, or there is none."""
    fewest = min(map(len, tasks.values()), default=0)
    return {
        k: fsum(pass_at_k(len(tried), sum(tried), k) or 0.0 for tried in tasks.values()) / len(tasks)
        for k in sizes(fewest)
    }


def why_not(tasks: Mapping[str, Sequence[bool]], k: int) -> str:
    """Why there is no pass@k."""
    if not tasks:
        return "no valid trial"
    task, tried = min(tasks.items(), key=lambda item: (len(item[1]), item[0]))
    return f"needs {k} attempts of every task; {task[:60]} has {len(tried)}"
