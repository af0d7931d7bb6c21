"""Numbers and benchmark entries from JSON that somebody else wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalward.records.base import clean_text
from evalward.records.json_text import read_json
from evalward.suites.speedup.details import BenchmarkSpeed

MAX_BENCHMARKS = 100_000
MAX_NAME = 2_000
LARGEST = 1e12  # no speedup, no count; far below what a record can hold, so that sums and means fit too
AGENT, ORACLE, ADVANTAGE = "agent/nop", "oracle/nop", "advantage"


def number(value: Any) -> float | None:
    """A finite number of a size that something can have; `None` for all else: booleans, strings, NaN, Infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # comparing first: an integer may be too large for a float
    return float(value) if -LARGEST <= value <= LARGEST and not math.isnan(value) else None


def count(value: Any) -> int | None:
    """A whole number of things, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        return None
    return value


def parse(text: str | bytes) -> Any:
    """JSON in which no key occurs twice. NaN and Infinity are read, and refused where a number is needed.

    Raises `ValueError` that says what is wrong.
    """
    return read_json(text, once=True, lenient=True)


def benchmark_speeds(entries: Mapping[str, Any]) -> list[BenchmarkSpeed]:
    """The entries of `per_benchmark_speedups`; malformed ones stay, as invalid. Raises `ValueError` on absurd sizes."""
    check_names(entries)
    return [_speed(name, entry) for name, entry in entries.items()]


def check_names(entries: Mapping[str, Any]) -> None:
    """Raises `ValueError` when there are too many benchmarks, or one has an absurd name."""
    if len(entries) > MAX_BENCHMARKS:
        raise ValueError(f"it has {len(entries):,} benchmarks, more than {MAX_BENCHMARKS:,}")
    if any(len(name) > MAX_NAME for name in entries):
        raise ValueError(f"a benchmark's name is longer than {MAX_NAME:,} characters")
    if len({clean_text(name) for name in entries}) < len(entries):
        raise ValueError("two benchmarks have names that differ in nothing that can be written")


def _speed(name: str, entry: Any) -> BenchmarkSpeed:
    values = entry if isinstance(entry, dict) else {}
    return BenchmarkSpeed(name=clean_text(name), agent=number(values.get(AGENT)), oracle=number(values.get(ORACLE)))
