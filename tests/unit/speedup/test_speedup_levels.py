"""Names, groups, levels: the reference's tables, and what holds for any benchmarks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.suites.speedup.details import BenchmarkSpeed
from evalward.suites.speedup.levels import gmean, levels, task_speedup
from evalward.suites.speedup.names import groups, split
from evalward.suites.speedup.values import MAX_BENCHMARKS, benchmark_speeds, number
from support.speedups import speeds

NAMES = [
    ("m.S.f(1, 'a')", ("m", "S", "f")),
    ("m.S.f (x)", ("m", "S", "f")),
    ("m.S.f(1.5, 'a.b(c)')", ("m", "S", "f")),
    ("m.f", ("m", None, "f")),
    ("f", (None, None, "f")),
    ("", (None, None, None)),
    (" .", (None, None, None)),
    ("(x)", (None, None, None)),
    ("a.b.C.f", ("a.b", "C", "f")),
    ("a.b.c.f", ("a.b.c", None, "f")),
    ("C.f", ("C", None, "f")),
    ("a.C.D.f", ("a.C", "D", "f")),
    ("a..b", ("a", None, "b")),
    ("m._S.f", ("m._S", None, "f")),
    ("m.f(1.5", ("m.f(1", None, "5")),
    ("f)", (None, None, "f)")),
]


@pytest.mark.parametrize(("name", "parts"), NAMES)
def test_a_name_is_split_as_the_reference_has_it(name: str, parts: tuple[str | None, ...]) -> None:
    assert tuple(split(name)) == parts


def pair(agent: Any, oracle: Any) -> dict[str, Any]:
    return {"agent/nop": agent, "oracle/nop": oracle}


S = "m.S.a"
GOLDENS: list[tuple[str, dict[str, Any], list[float], float | None, int]] = [
    ("F1", {"pkg.bench.Suite.time_a": pair(1.2, 1.5)}, [-0.3] * 4, 1.2, 1),
    ("F2", {"mod.Suite.time_a": pair(2, 1), "mod.Suite.time_b": pair(0.5, 1)}, [0, 0, 0.25, 0], 1.0, 2),
    (
        "F5",
        {
            S: pair(1.1, 1.2),
            "m.S.b": pair(0, 1),
            "m.S.c": pair(-1, 1),
            "m.S.d": pair(math.nan, 1),
            "m.S.e": pair(math.inf, 1),
            "m.S.f": pair(None, 1),
            "m.S.g": pair("1.5", 1),
            "m.S.h": {"agent/nop": 1.0},
        },
        [-0.1] * 4,
        1.1,
        1,
    ),
    ("F6", {S: pair(0, 1)}, [], None, 0),
    ("F7", {}, [], None, 0),
    ("F8", {S: pair(True, 2.0)}, [], None, 0),
    ("F10", {"time_a": pair(2, 1), "time_b": pair(1, 2)}, [0] * 4, 1.4142135624, 2),
    ("F12", {S: 1.5, "m.S.b": pair(1.5, 1)}, [0.5] * 4, 1.5, 1),
]


@pytest.mark.parametrize(("entries", "expected", "speedup", "valid"), [case[1:] for case in GOLDENS])
def test_levels_and_speedup_of_the_worked_examples(
    entries: dict[str, Any], expected: list[float], speedup: float | None, valid: int
) -> None:
    read = benchmark_speeds(entries)
    found = [level.advantage for level in levels(read)]
    assert found == pytest.approx(expected)
    assert task_speedup(read) == (None if speedup is None else pytest.approx(speedup))
    assert (len(read), sum(each.valid for each in read)) == (len(entries), valid)


def test_groups_are_counted_per_level_and_weigh_equally() -> None:
    found = levels(speeds(("a.S.f(1)", 2, 1), ("a.S.f(2)", 2, 1), ("a.S.g", 2, 1), ("b.h", 1, 2)))
    assert [level.groups for level in found] == [2, 2, 3, 1]
    assert found[0].advantage == pytest.approx((1 - 1) / 2)
    assert found[2].advantage == pytest.approx((1 + 1 - 1) / 3)


@pytest.mark.parametrize("value", [True, "1.5", None, math.nan, math.inf, -math.inf, 10**400, [], {}])
def test_what_is_no_number_is_refused(value: object) -> None:
    assert number(value) is None


def test_absurd_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="benchmarks"):
        benchmark_speeds(dict.fromkeys(map(str, range(MAX_BENCHMARKS + 1))))
    with pytest.raises(ValueError, match="longer"):
        benchmark_speeds({"x" * 3000: pair(1, 1)})


RATIO = st.floats(min_value=1e-6, max_value=1e6)
ENTRIES = st.lists(st.tuples(st.sampled_from(["m.S.a", "m.S.b(1)", "m.S.b(2)", "n.c", "d"]), RATIO, RATIO), min_size=1)


@given(ENTRIES)
def test_swapping_agent_and_oracle_turns_the_sign_of_every_level(entries: list[tuple[str, float, float]]) -> None:
    there, back = levels(speeds(*entries)), levels(speeds(*((name, o, a) for name, a, o in entries)))
    for one, other in zip(there, back, strict=True):
        assert one.advantage is not None
        assert other.advantage == pytest.approx(-one.advantage, rel=1e-6, abs=1e-6)


@given(ENTRIES, st.randoms())
def test_the_order_of_benchmarks_is_no_difference(entries: list[tuple[str, float, float]], random: Any) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    for one, other in zip(levels(speeds(*entries)), levels(speeds(*shuffled)), strict=True):
        assert one.groups == other.groups
        assert one.advantage == pytest.approx(other.advantage, rel=1e-9, abs=1e-9)


@given(st.lists(RATIO, min_size=1))
def test_a_geometric_mean_lies_between_the_smallest_and_the_largest(values: list[float]) -> None:
    mean = gmean(values)
    assert mean is not None
    assert min(values) * (1 - 1e-9) <= mean <= max(values) * (1 + 1e-9)


@given(st.text(max_size=60))
def test_any_name_has_groups_that_are_finer_with_every_level(name: str) -> None:
    module, with_class, function, overall = groups(name)
    assert (function[:1], function[:2], overall) == (module, with_class, ())


@given(st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.floats(), st.text(), st.booleans(), st.integers())))
def test_malformed_entries_are_counted_and_never_valid(entries: dict[str, Any]) -> None:
    try:
        read = benchmark_speeds(entries)
    except ValueError:
        return  # names that differ in nothing that can be written
    assert len(read) == len(entries)
    assert not any(each.valid for each in read)
    assert all(isinstance(each, BenchmarkSpeed) for each in read)
