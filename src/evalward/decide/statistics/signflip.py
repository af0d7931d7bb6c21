"""The exact sign-flip test of paired differences: scores, log ratios of tokens, cost or time."""

from __future__ import annotations

import math
from collections.abc import Sequence

STEP = 0.001
MOST_WORK = 50_000_000  # cells of the table × differences; about a third of a second
CELL_BITS = 192
KEPT_BITS = 128


def sign_flip_worse(differences: Sequence[float], step: float = STEP) -> float:
    """p_worse = P[Σ ±|d_i| ≤ Σ d_i], every sign a fair coin (Fisher's randomisation test); lower is worse.

    Differences are now minus before, where more is better: negate them for costs. They are rounded to `step`, and
    one that rounds to 0 counts as none; so give log ratios for tokens, money and milliseconds, or a fitting step.

    The table has one cell per step up to Σ|d_i|, after a common divisor is taken out. Where cells × differences
    would exceed 50 million, the step is made 2, 5, 10, 20, 50, … times as wide, the smallest that fits. That costs
    resolution, not validity: it is the exact test of the differences so rounded. From 192 differences on the counts are
    cut to 128 bits (error below 1e-30). ValueError for a difference that is no finite number.
    """
    units = _units(differences, step)
    if not units:
        return 1.0
    reached = sum(unit for unit in units if unit > 0)
    return _subsets_at_most(sorted(abs(unit) for unit in units), reached)


def _units(differences: Sequence[float], step: float) -> list[int]:
    """The differences as whole multiples of the step, without zeros, in a table that isn't too large."""
    if not (step > 0 and all(math.isfinite(difference) for difference in differences)):
        raise ValueError("differences have to be finite numbers, and the step above 0")
    factor = 1
    while True:
        units = [unit for difference in differences if (unit := round(difference / (step * factor)))]
        divisor = math.gcd(*units)
        if sum(abs(unit) for unit in units) * len(units) <= MOST_WORK * divisor:
            return [unit // divisor for unit in units]
        factor = _wider(factor)


def _wider(factor: int) -> int:
    """1, 2, 5, 10, 20, 50, …"""
    return factor * 5 // 2 if str(factor).startswith("2") else factor * 2


def _subsets_at_most(sizes: Sequence[int], most: int) -> float:
    """The share of all subsets whose sum is at most `most`: Σ ±size ≤ observed says just that of the positive ones.

    The table of counts by sum is one long integer, a cell of fixed width per sum: adding an element to
    every subset is a shift, and all cells are added up at once.
    """
    exact = len(sizes) < CELL_BITS
    width = len(sizes) + 1 if exact else CELL_BITS
    table, reach, bits = 1, 0, 0
    for size in sizes:
        if bits == width - 1:
            table, bits = _cut(table, width, reach + 1), KEPT_BITS
        table += table << (size * width)
        reach, bits = reach + size, bits + 1
    below = table & ((1 << ((most + 1) * width)) - 1)
    return _cells(below, width) / _cells(table, width)


def _cells(table: int, width: int) -> int:
    """The sum of all cells: the digits' sum in base 2^width is the remainder modulo 2^width − 1."""
    return table % ((1 << width) - 1)


def _cut(table: int, width: int, cells: int) -> int:
    """Every cell without its lowest bits. Neighbours' bits that a shift of the whole brings in are masked."""
    less = width - 1 - KEPT_BITS
    one = ((1 << (width - less)) - 1).to_bytes(width // 8, "little")
    return (table >> less) & int.from_bytes(one * cells, "little")
