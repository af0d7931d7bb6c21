"""What five benchmark tools write, as seconds per benchmark."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.suites.speedup.measure.adapters import dotted, read_times
from evalward.suites.speedup.task import Format


def times(form: Format, data: Any) -> dict[str, list[float]]:
    return read_times(form, json.dumps(data).encode())


def test_plain_json_has_a_number_or_a_list() -> None:
    assert times("json", {"m.a": 0.5, "m.b": [1, 2.5]}) == {"m.a": [0.5], "m.b": [1.0, 2.5]}


@pytest.mark.parametrize("bad", [0, -1, True, None, "0.5", float("nan"), float("inf"), {}, []])
def test_what_is_no_positive_number_is_no_time(bad: Any) -> None:
    assert times("json", {"m.a": bad, "m.b": 1.0}) == {"m.b": [1.0]}


def test_pytest_benchmark_has_rounds_or_a_median() -> None:
    data = {
        "benchmarks": [
            {"name": "test_a", "fullname": "bench/test_x.py::TestSort::test_a[64-x]", "stats": {"data": [0.1, 0.2]}},
            {"name": "test_b", "stats": {"median": 0.3}},
            {"name": "test_c", "stats": None},
        ]
    }
    assert times("pytest-benchmark", data) == {"bench.test_x.TestSort.test_a(64-x)": [0.1, 0.2], "test_b": [0.3]}


def test_names_of_pytest_become_dotted() -> None:
    assert dotted("test_x.py::test_a") == "test_x.test_a"
    assert dotted("no path") == "no path"


def test_asv_has_rows_by_columns_and_parameters() -> None:
    data = {
        "result_columns": ["result", "params", "version", "samples"],
        "results": {
            "m.S.time_sort": [[0.1, None, 0.3], [["1", "2", "3"]], "v", [[0.1, 0.11], None, None]],
            "m.time_one": [[0.5], []],
            "m.track_size": [[7.0], []],
            "m.peakmem_x": [[7.0], []],
            "m.time_failed": None,
        },
    }
    assert times("asv", data) == {"m.S.time_sort(1)": [0.1, 0.11], "m.S.time_sort(3)": [0.3], "m.time_one": [0.5]}


def test_asv_of_older_versions_has_bare_results_and_objects() -> None:
    data = {"results": {"m.time_a": 0.5, "m.time_b": {"result": [1.0, 2.0], "params": [["a", "b"]]}}}
    assert times("asv", data) == {"m.time_a": [0.5], "m.time_b(a)": [1.0], "m.time_b(b)": [2.0]}


def test_pyperf_leaves_warm_ups_and_other_units_out() -> None:
    runs = [{"warmups": [[1, 9.0]], "values": [0.1, 0.2]}, {"metadata": {}}]
    data = {
        "version": "1.0",
        "metadata": {"unit": "second"},
        "benchmarks": [
            {"metadata": {"name": "sort"}, "runs": runs},
            {"metadata": {"name": "size", "unit": "byte"}, "runs": runs},
        ],
    }
    assert times("pyperf", data) == {"sort": [0.1, 0.2]}


def test_hyperfine_leaves_failed_runs_out() -> None:
    data = {
        "results": [
            {"command": "prog", "times": [1.0, 9.0], "exit_codes": [0, 1], "parameters": {"n": "3"}},
            {"command": "other", "median": 0.7},
            {"command": "broken", "times": [1.0], "exit_codes": [1]},
        ]
    }
    assert times("hyperfine", data) == {"prog(n=3)": [1.0], "other": [0.7]}


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("json", b"[]"),
        ("json", b"{"),
        ("json", b'{"a": 1, "a": 2}'),
        ("json", b"[" * 100_000),
        ("asv", b"{}"),
        ("pyperf", b'{"benchmarks": {}}'),
        ("hyperfine", b"{}"),
        ("pytest-benchmark", b"{}"),
    ],
)
def test_what_is_no_such_file_is_told(form: Format, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_times(form, content)


def test_parameters_without_end_make_no_more_benchmarks_than_there_are_results() -> None:
    axes = [[str(number) for number in range(1000)]] * 6
    assert len(times("asv", {"results": {"m.time_a": {"result": [1.0, 2.0], "params": axes}}})) == 2
