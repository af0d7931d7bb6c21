"""What benchmark tools write, as seconds per benchmark: asv, pytest-benchmark, pyperf, hyperfine, and plain JSON.

A time that is no positive number is left out: a benchmark without any is missing, which is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from evalward.records.base import clean_text
from evalward.suites.speedup.task import Format
from evalward.suites.speedup.values import check_names, number, parse

MAX_BYTES = 256 * 1024 * 1024
Times = dict[str, list[float]]


def read_times(form: Format, content: bytes) -> Times:
    """The seconds of each benchmark in a tool's file. Raises `ValueError` when it isn't one of that tool."""
    if len(content) > MAX_BYTES:
        raise ValueError("it is larger than 256 MB")
    data = parse(content)
    if not isinstance(data, dict):
        raise ValueError("it has no JSON object")
    found = _READERS[form](data)
    check_names(found)
    return {clean_text(name): times for name, times in found.items() if times}


def _seconds(values: Any) -> list[float]:
    """The positive numbers among these: one, or a list of them."""
    listed = values if isinstance(values, list) else [values]
    known = (number(value) for value in listed)
    return [value for value in known if value is not None and value > 0]


def _listed(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    entries = data.get(key)
    if not isinstance(entries, list):
        raise ValueError(f"it has no list {key!r}")
    return [entry for entry in entries if isinstance(entry, dict)]


def _plain(data: Mapping[str, Any]) -> Times:
    """`{"benchmark": seconds}`, or a list of seconds."""
    return {name: _seconds(value) for name, value in data.items()}


# ------------------------------------------------------------------------------------------- pytest-benchmark


def _pytest_benchmark(data: Mapping[str, Any]) -> Times:
    """`benchmarks[].stats.data`, seconds of each round; the median where the rounds weren't saved."""
    found: Times = {}
    for entry in _listed(data, "benchmarks"):
        stats = entry.get("stats")
        name = entry.get("fullname") or entry.get("name")
        if isinstance(stats, dict) and isinstance(name, str):
            times = _seconds(stats.get("data", []))
            found[dotted(name)] = times or _seconds(stats.get("median"))
    return found


def dotted(name: str) -> str:
    """`bench/test_a.py::TestSort::test_it[64-x]` as module.Class.function(parameters), by which levels are formed."""
    path, *parts = name.split("::")
    if not parts:
        return name
    last, bracket, parameters = parts[-1].partition("[")
    module = path.removesuffix(".py").strip("/").replace("/", ".")
    end = f"({parameters.removesuffix(']')})" if bracket else ""
    return ".".join([module, *parts[:-1], last]) + end


# ------------------------------------------------------------------------------------------- asv


def _asv(data: Mapping[str, Any]) -> Times:
    """`results`: per benchmark a row by `result_columns`; only `time…` benchmarks are in seconds."""
    results = data.get("results")
    if not isinstance(results, dict):
        raise ValueError("it has no object 'results'")
    columns = data.get("result_columns")
    names = columns if isinstance(columns, list) else ["result", "params"]
    found: Times = {}
    for name, row in results.items():
        if name.rpartition(".")[2].lower().startswith("time"):
            found |= _asv_row(name, _asv_values(row, names))
    return found


def _asv_values(row: Any, columns: Sequence[Any]) -> Mapping[str, Any]:
    """A row by column names; older files have an object, or the bare result."""
    if isinstance(row, dict):
        return row
    if isinstance(row, list):
        return dict(zip(map(str, columns), row, strict=False))  # trailing columns without a value are left out
    return {"result": [row]}


def _asv_row(name: str, row: Mapping[str, Any]) -> Times:
    results = row.get("result")
    results = results if isinstance(results, list) else [results]
    params = row.get("params")
    axes = [list(map(str, axis)) for axis in params if isinstance(axis, list)] if isinstance(params, list) else []
    samples = row.get("samples")
    combinations = list(_combinations(axes, len(results)))
    return {
        f"{name}({', '.join(chosen)})" if chosen else name: _asv_times(index, results, samples)
        for index, chosen in enumerate(combinations)
    }


def _combinations(axes: Sequence[Sequence[str]], most: int) -> Iterator[tuple[str, ...]]:
    """The parameters of each result; as many as there are results, whatever the axes claim."""
    yield from (chosen for chosen, _ in zip(product(*axes), range(most), strict=False))


def _asv_times(index: int, results: Sequence[Any], samples: Any) -> list[float]:
    recorded = samples[index] if isinstance(samples, list) and index < len(samples) else None
    return (_seconds(recorded) if isinstance(recorded, list) else []) or _seconds(results[index])


# ------------------------------------------------------------------------------------------- pyperf, hyperfine


def _pyperf(data: Mapping[str, Any]) -> Times:
    """`benchmarks[].runs[].values`, without warm-ups; only benchmarks in seconds."""
    common = data.get("metadata")
    found: Times = {}
    for number_, entry in enumerate(_listed(data, "benchmarks"), 1):
        metadata = {**(common if isinstance(common, dict) else {}), **_object(entry.get("metadata"))}
        if metadata.get("unit", "second") == "second":
            runs = _listed(entry, "runs")
            times = [time for run in runs for time in _seconds(run.get("values", []))]
            found[str(metadata.get("name") or f"benchmark {number_}")] = times
    return found


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _hyperfine(data: Mapping[str, Any]) -> Times:
    """`results[].times`, without those whose command failed; the median where times weren't exported."""
    found: Times = {}
    for entry in _listed(data, "results"):
        parameters = _object(entry.get("parameters"))
        end = f"({', '.join(f'{key}={value}' for key, value in parameters.items())})" if parameters else ""
        found[f"{entry.get('command', '')}{end}"] = _hyperfine_times(entry)
    return found


def _hyperfine_times(entry: Mapping[str, Any]) -> list[float]:
    times, codes = entry.get("times"), entry.get("exit_codes")
    if not isinstance(times, list):
        return _seconds(entry.get("median"))
    if isinstance(codes, list):
        times = [time for time, code in zip(times, codes, strict=False) if code == 0]
    return _seconds(times)


_READERS: Mapping[Format, Callable[[Mapping[str, Any]], Times]] = {
    "json": _plain,
    "pytest-benchmark": _pytest_benchmark,
    "asv": _asv,
    "pyperf": _pyperf,
    "hyperfine": _hyperfine,
}
