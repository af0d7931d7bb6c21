"""The test log of a run: three blocks of JSON between marker lines.

The first occurrence of each marker counts; more of them are told. Whatever is missing or malformed is a failure or an
error with a message, never a pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from evalward.records.base import clean_text
from evalward.suites.speedup.details import BenchmarkSpeed, BlockStatus, PytestSummary, SnapshotSummary
from evalward.suites.speedup.failure import FailureEvidence
from evalward.suites.speedup.values import benchmark_speeds, check_names, count, number, parse

MAX_LOG_BYTES = 256 * 1024 * 1024
MAX_BLOCK = 64 * 1024 * 1024
MAX_KEY = 500
MAX_AGENTS = 1000
REPEATED = "times in the log; the first one counts"  # in the note about a block that stands there again
NO_BENCHMARKS = "FORMULACODE_NO_BENCHMARKS"
_MARKER = re.compile(r"^[ \t]*FORMULACODE_(TESTS|RESULT|SNAPSHOT)_(START|END)[ \t\r]*$", re.MULTILINE)
_NO_BENCHMARKS = re.compile(rf"^[ \t]*{NO_BENCHMARKS}\b", re.MULTILINE)
_NUMBERED = re.compile(r"agent-[0-9]{1,4}-(?=.)")
_TEST_COUNTS = ("passed", "failed", "error", "skipped", "total", "warnings", "xfailed", "xpassed", "rerun")
_SNAPSHOT_COUNTS = ("pass-to-fail", "passed", "failed", "skipped", "total")
_FASTEST_LEGACY = -100.0  # per cent: nothing takes less than no time


@dataclass(frozen=True)
class ResultBlock:
    """What a RESULT block tells. `agent` is `None` where it doesn't say whose result it is.

    `by_agent`: the speedups of all agents that it tells of, by key. Where agents are measured one after the other, a
    log knows those before it, too, and the oracle's speedups only once the oracle was measured.
    """

    agent: str | None = None
    benchmarks: tuple[BenchmarkSpeed, ...] = ()
    by_agent: Mapping[str, tuple[BenchmarkSpeed, ...]] = field(default_factory=dict)
    legacy: bool = False
    legacy_percentage: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LogReading:
    """What a log tells of one agent on one task. `result` is `None` where its block is missing or malformed.

    `skipped`: the task has no benchmark, and nothing was measured.
    """

    tests: PytestSummary
    snapshot: SnapshotSummary
    result: ResultBlock | None
    skipped: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def agent(self) -> str | None:
        """The agent and model whose run it is, in full."""
        return self.result.agent if self.result else None

    @property
    def by_agent(self) -> Mapping[str, tuple[BenchmarkSpeed, ...]]:
        """The speedups of all agents that its RESULT block tells of, by key."""
        return self.result.by_agent if self.result else {}

    def evidence(self, key: str) -> FailureEvidence:
        """The same for the merge over agents."""
        result = self.result or ResultBlock()
        return FailureEvidence(
            key=key,
            benchmarks=result.benchmarks,
            tests=self.tests,
            snapshot=self.snapshot,
            legacy_percentage=result.legacy_percentage,
            notes=self.notes,
        )


@dataclass(frozen=True)
class _Block:
    """The JSON object of one block, or why there is none."""

    name: str
    value: dict[str, Any] | None = None
    status: BlockStatus = "passed"
    why: str = ""

    @property
    def notes(self) -> list[str]:
        return [f"{self.name}: {self.why}"] if self.why else []


def read_log(text: str | bytes) -> LogReading:
    """The blocks of a log. Raises `ValueError` only for a log of an absurd size."""
    if len(text) > MAX_LOG_BYTES:
        raise ValueError(f"it is larger than {MAX_LOG_BYTES // 1024 // 1024} MB")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    blocks, notes = _blocks(text)
    return _reading(blocks, notes, marked_empty=_NO_BENCHMARKS.search(text) is not None)


def read_parts(parts: Mapping[str, Any]) -> LogReading:
    """The same from a JSON object with `tests`, `result` and `snapshot` as a log has them."""
    blocks = {name: _part(name.upper(), parts.get(name)) for name in ("tests", "result", "snapshot")}
    return _reading({block.name: block for block in blocks.values()}, [], marked_empty=False)


def _part(name: str, value: Any) -> _Block:
    if value is None:
        return _Block(name, status="missing", why="the block is missing")
    if not isinstance(value, dict):
        return _Block(name, status="invalid", why=f"it is a {type(value).__name__}, not an object")
    return _Block(name, value)


def _blocks(text: str) -> tuple[dict[str, _Block], list[str]]:
    found: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for match in _MARKER.finditer(text):
        found[match[1]].append((match[2], match.start(), match.end()))
    notes = [
        f"{name}: the block occurs {starts} {REPEATED}"
        for name, marks in found.items()
        if (starts := sum(mark == "START" for mark, _, _ in marks)) > 1
    ]
    return {name: _block(name, text, found[name]) for name in ("TESTS", "RESULT", "SNAPSHOT")}, notes


def _block(name: str, text: str, marks: list[tuple[str, int, int]]) -> _Block:
    begin = next((end for mark, _, end in marks if mark == "START"), None)
    if begin is None:
        return _Block(name, status="missing", why="the block is missing")
    finish = next((start for mark, start, _ in marks if mark == "END" and start >= begin), None)
    if finish is None:
        return _Block(name, status="invalid", why="the block has no end")
    if finish - begin > MAX_BLOCK:
        return _Block(name, status="invalid", why="the block is too large")
    try:
        return _part(name, parse(text[begin:finish]))
    except ValueError as error:
        return _Block(name, status="invalid", why=f"it can't be read as JSON: {clean_text(str(error))[:200]}")


def _reading(blocks: Mapping[str, _Block], notes: list[str], *, marked_empty: bool) -> LogReading:
    tests, test_notes = _tests(blocks["TESTS"])
    snapshot, snapshot_notes = _snapshot(blocks["SNAPSHOT"])
    result, result_notes = _result(blocks["RESULT"])
    nothing = result is None or not result.benchmarks
    empty = result is not None and not result.benchmarks and not result.legacy and result.agent is None
    notes = [*notes, *test_notes, *snapshot_notes, *result_notes]
    if marked_empty and not nothing:
        notes.append(f"{NO_BENCHMARKS} is in the log, but there are benchmarks: they count")
    return LogReading(tests, snapshot, result, skipped=(marked_empty and nothing) or empty, notes=notes)


def _tests(block: _Block) -> tuple[PytestSummary, list[str]]:
    if block.value is None:
        return PytestSummary(status=block.status), block.notes
    counts, bad = _counts(block.value, _TEST_COUNTS, needed=("passed", "failed"))
    if bad:
        return PytestSummary(status="invalid"), [f"TESTS: {bad}"]
    failed, error = counts["failed"], counts["error"]
    summary = PytestSummary(
        passed=counts["passed"],
        failed=failed,
        error=error,
        skipped=counts["skipped"],
        total=counts["total"],
        status="failed" if failed + error else "passed",
    )
    return summary, [] if summary.passed or failed + error else ["TESTS: no test passed or failed: nothing was tested"]


def _snapshot(block: _Block) -> tuple[SnapshotSummary, list[str]]:
    if block.value is None:
        return SnapshotSummary(status=block.status), block.notes
    counts, bad = _counts(block.value, _SNAPSHOT_COUNTS, needed=("pass-to-fail",))
    if bad:
        return SnapshotSummary(status="invalid"), [f"SNAPSHOT: {bad}"]
    error = block.value.get("error")
    summary = SnapshotSummary(
        pass_to_fail=counts["pass-to-fail"],
        passed=counts["passed"],
        failed=counts["failed"],
        skipped=counts["skipped"],
        total=counts["total"],
        status="failed" if "error" in block.value or counts["pass-to-fail"] else "passed",
    )
    return summary, [f"SNAPSHOT: it reports an error: {clean_text(str(error))[:200]}"] if "error" in block.value else []


def _counts(
    value: Mapping[str, Any], names: tuple[str, ...], needed: tuple[str, ...]
) -> tuple[dict[str, int], str | None]:
    """The counts by name, 0 where one is not told; or why they can't be read."""
    missing = [name for name in needed if name not in value]
    if missing:
        return {}, f"it doesn't report {' and '.join(missing)}"
    counts = {name: count(value.get(name, 0)) for name in names}
    bad = [name for name, each in counts.items() if each is None]
    if bad:
        return {}, f"{bad[0]} is not a count"
    return {name: each or 0 for name, each in counts.items()}, None


def _result(block: _Block) -> tuple[ResultBlock | None, list[str]]:
    if block.value is None:
        return None, block.notes
    try:
        read = result_block(block.value)
    except ValueError as error:
        return None, [f"RESULT: {error}"]
    return read, [f"RESULT: {note}" for note in read.notes]


def result_block(value: Mapping[str, Any]) -> ResultBlock:
    """The object of a RESULT block, of today's or of the older form. Raises `ValueError` when it is neither."""
    if "agent_advantage" not in value and "per_benchmark_speedups" not in value:
        return _legacy(value)
    agent = value.get("last_agent")
    by_agent = value.get("per_benchmark_speedups_by_agent")
    by_agent = by_agent if isinstance(by_agent, dict) else {}
    if len(by_agent) > MAX_AGENTS or any(len(key) > MAX_KEY for key in by_agent):
        raise ValueError("it has too many agents, or one with an absurd name")
    if agent is None and len(by_agent) == 1:
        agent = next(iter(by_agent))
    if agent is not None and (not isinstance(agent, str) or not 0 < len(agent) <= MAX_KEY):
        raise ValueError("last_agent is not a name")
    mine = by_agent.get(agent) if agent is not None else None
    speeds = mine if isinstance(mine, dict) else value.get("per_benchmark_speedups", {})
    if not isinstance(speeds, dict):
        raise ValueError("per_benchmark_speedups is not an object")
    notes = []
    if not isinstance(mine, dict) and speeds:
        notes.append("no speedups by agent; per_benchmark_speedups are taken for the last agent's")
    return ResultBlock(
        agent=None if agent is None else _key(agent),
        benchmarks=tuple(benchmark_speeds(speeds)),
        by_agent={
            _key(key): tuple(benchmark_speeds(entries))
            for key, entries in by_agent.items()
            if isinstance(entries, dict)
        },
        notes=tuple(notes),
    )


def _key(written: str) -> str:
    """`agent:model`, without the number that FC-Eval puts before it where several agents work on a task."""
    return clean_text(_NUMBERED.sub("", written, count=1) if _NUMBERED.match(written) else written)


def _legacy(value: Mapping[str, Any]) -> ResultBlock:
    """`{benchmark: {change, delta_pct}}`: no oracle, so that no benchmark is valid and there is no advantage."""
    if not any(isinstance(entry, dict) and "change" in entry for entry in value.values()):
        raise ValueError("it has no per_benchmark_speedups, and is not of the older form either")
    check_names(value)
    entries = {clean_text(name): entry if isinstance(entry, dict) else {} for name, entry in value.items()}
    deltas = {name: _delta(entry) for name, entry in entries.items()}
    benchmarks = tuple(
        BenchmarkSpeed(name=name, agent=None if delta is None else number(1 / (1 + delta / 100)))
        for name, delta in deltas.items()
    )
    known = [-delta for delta in deltas.values() if delta is not None]
    broken = any(str(entry.get("change")).strip() == "!" for entry in entries.values())
    percentage = 0.0 if broken else fsum(known) / len(known) if known else None
    note = "a result of the older form: no oracle, so no advantage and no valid benchmark"
    return ResultBlock(benchmarks=benchmarks, legacy=True, legacy_percentage=percentage, notes=(note,))


def _delta(entry: Mapping[str, Any]) -> float | None:
    """The change of the time in per cent, where there is one that can be."""
    if str(entry.get("change", "")).strip() in {"!", "x"}:
        return None
    delta = number(entry.get("delta_pct"))
    return None if delta is None or delta <= _FASTEST_LEGACY else delta
