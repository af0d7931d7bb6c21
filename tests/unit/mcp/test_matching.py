"""Which of the expected calls were made: maximum matchings, subsequences, equality of arguments."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.suites.mcp.case import ArgumentMatch, ExpectedCall, ForbiddenCall
from evalward.suites.mcp.matching import (
    Pairs,
    any_order,
    arguments_match,
    equal_json,
    holds_json,
    in_order,
    is_forbidden,
    one_after_the_other,
)
from support.mcp_calls import call, undeclared

Fitting = list[list[bool]]
grids = st.integers(0, 5).flatmap(
    lambda made: st.lists(st.lists(st.booleans(), min_size=made, max_size=made), max_size=5)
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2, width=16), st.sampled_from("aAb"))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=8,
)


def sizes(grid: Fitting) -> tuple[int, int]:
    return len(grid), len(grid[0]) if grid else 0


def by_any_order(grid: Fitting) -> Pairs:
    return any_order(*sizes(grid), lambda expected, made: grid[expected][made])


def by_order(grid: Fitting) -> Pairs:
    return in_order(*sizes(grid), lambda expected, made: grid[expected][made])


def paired(pairs: Pairs) -> int:
    return sum(each is not None for each in pairs)


def largest_matching(grid: Fitting) -> int:
    """By trying every assignment of partners."""
    expected, made = sizes(grid)
    slots: list[int | None] = [*range(made), *([None] * expected)]
    return max(
        sum(at is not None and grid[number][at] for number, at in enumerate(chosen))
        for chosen in permutations(slots, expected)
    )


def longest_subsequence(grid: Fitting, expected: int = 0, made: int = 0) -> int:
    """By trying to leave out each call."""
    most_expected, most_made = sizes(grid)
    if expected == most_expected or made == most_made:
        return 0
    without = max(longest_subsequence(grid, expected + 1, made), longest_subsequence(grid, expected, made + 1))
    both = 1 + longest_subsequence(grid, expected + 1, made + 1) if grid[expected][made] else 0
    return max(without, both)


@given(grids)
def test_a_matching_is_as_large_as_any(grid: Fitting) -> None:
    assert paired(by_any_order(grid)) == largest_matching(grid)


@given(grids)
def test_a_subsequence_is_as_long_as_any(grid: Fitting) -> None:
    assert paired(by_order(grid)) == longest_subsequence(grid)


@given(grids)
def test_pairs_fit_and_nothing_is_paired_twice(grid: Fitting) -> None:
    for pairs in (by_any_order(grid), by_order(grid)):
        chosen = [at for at in pairs if at is not None]
        assert len(set(chosen)) == len(chosen)
        assert all(grid[number][at] for number, at in enumerate(pairs) if at is not None)
    ordered = [at for at in by_order(grid) if at is not None]
    assert ordered == sorted(ordered)


@given(grids, st.randoms(use_true_random=False))
def test_which_expected_calls_were_made_does_not_depend_on_the_order_of_calls(grid: Fitting, random: Any) -> None:
    order = list(range(sizes(grid)[1]))
    random.shuffle(order)
    shuffled = [[row[at] for at in order] for row in grid]
    assert [at is not None for at in by_any_order(grid)] == [at is not None for at in by_any_order(shuffled)]


def test_greedy_pairing_would_be_wrong() -> None:
    """Expected {echo} and {echo, "tulip"}, called "tulip" and "x": both are made."""
    assert by_any_order([[True, True], [True, False]]) == [1, 0]


def test_calls_one_after_the_other() -> None:
    def stand(grid: Fitting) -> bool:
        return one_after_the_other(*sizes(grid), lambda expected, made: grid[expected][made])

    assert stand([[True, False], [False, True]])
    assert stand([[False, True, False], [False, False, True]])
    assert not stand([[True, False, False], [False, False, True]])
    assert not stand([[True], [True]])


# --- equality -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1), (False, 0), (1, "1"), ("a", "A"), (None, False), (None, 0), (None, ""), ([], {}), ([1, 2], [2, 1])],
)
def test_what_is_not_equal(one: Any, other: Any) -> None:
    for wrap in (lambda value: value, lambda value: [value], lambda value: {"key": value}):
        assert not equal_json(wrap(one), wrap(other))
        assert not equal_json(wrap(other), wrap(one))
        assert not holds_json(wrap(one), wrap(other))


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (0, -0.0), ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}), ([1.0], [1])])
def test_what_is_equal(one: Any, other: Any) -> None:
    assert equal_json(one, other)
    assert equal_json(other, one)
    assert holds_json(one, other)


@given(values)
def test_a_value_is_itself(value: Any) -> None:
    assert equal_json(value, value)
    assert holds_json(value, value)


@given(values, values)
def test_equality_has_no_direction_and_is_stronger_than_holding(one: Any, other: Any) -> None:
    assert equal_json(one, other) == equal_json(other, one)
    if equal_json(one, other):
        assert holds_json(one, other)


@given(st.dictionaries(st.sampled_from("abc"), values), st.dictionaries(st.sampled_from("xyz"), values, min_size=1))
def test_keys_beside_the_expected_ones_matter_to_exact_alone(expected: dict[str, Any], more: dict[str, Any]) -> None:
    assert holds_json(expected, {**expected, **more})
    assert not equal_json(expected, {**expected, **more})


def test_null_is_not_absent() -> None:
    assert not holds_json({"a": None}, {})
    assert not equal_json({"a": None}, {})
    assert holds_json({}, {"a": None})


def test_objects_within_objects_are_held_in_part_and_lists_whole() -> None:
    assert holds_json({"filter": {"city": "Rome"}}, {"filter": {"city": "Rome", "zip": "1"}})
    assert not holds_json({"tags": ["a"]}, {"tags": ["a", "b"]})
    assert not holds_json({"rows": [{"a": 1}]}, {"rows": [{"a": 1, "b": 2}]})


# --- calls ----------------------------------------------------------------------------------------------------------


def expected(match: ArgumentMatch = "partial", args: dict[str, Any] | None = None) -> ExpectedCall:
    return ExpectedCall(tool="echo", match=match, args=args)


def test_arguments_by_each_way_of_matching() -> None:
    more = call(arguments={"text": "tulip", "loud": True})
    assert arguments_match(expected(args={"text": "tulip"}), more)
    assert not arguments_match(expected("exact", {"text": "tulip"}), more)
    assert arguments_match(expected("exact", {"text": "tulip", "loud": True}), more)
    assert arguments_match(expected(), more)


def test_a_schema_that_judges_nobody_blames_nobody() -> None:
    assert arguments_match(expected("schema"), call(valid=True))
    assert arguments_match(expected("schema"), call(valid=None))
    assert not arguments_match(expected("schema"), call(valid=False))


@pytest.mark.parametrize("match", ["partial", "schema"])
def test_arguments_that_are_no_object_never_match(match: ArgumentMatch) -> None:
    assert not arguments_match(expected(match), call(arguments=None, raw="{text", valid=False))


def test_forbidden_by_name_or_by_arguments_among_others() -> None:
    by_name, by_arguments = ForbiddenCall(tool="drop"), ForbiddenCall(tool="drop", args={"all": True})
    assert is_forbidden(by_name, call("drop"))
    assert is_forbidden(by_name, undeclared("drop"))
    assert is_forbidden(by_name, call("drop", server="another"))
    assert is_forbidden(by_name, call("drop", arguments=None, raw="{"))
    assert not is_forbidden(by_name, call("drop_all"))
    assert is_forbidden(by_arguments, call("drop", arguments={"all": True, "table": "t"}))
    assert not is_forbidden(by_arguments, call("drop", arguments={"all": 1}))
    assert not is_forbidden(by_arguments, call("drop", arguments=None, raw="{"))
