"""Which measurement moved what: steps are found where they are, noise is called noise, and only like is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from evalward.decide.history_file import case_lists
from evalward.decide.moves import LEVEL, MOST_CERTAIN, MOST_OTHERS, moves
from evalward.records.history import HistoryEntry
from evalward.records.metric import Metric
from evalward.records.past import Move
from support.histories import entry

CASES = 40


def days(chance: Callable[[int, int], float], count: int = 60, seed: int = 1, **more: Any) -> list[HistoryEntry]:
    """So many days; a case fails on a day with this chance."""
    found, random = [], Random(seed)
    for day in range(count):
        failed = [f"c{case:03d}" for case in range(CASES) if random.random() < chance(day, case)]
        found.append(entry(day, failed, CASES, **more))
    return found


def moved(entries: Sequence[HistoryEntry], *metrics: str) -> list[Move]:
    return moves(entries, case_lists(entries), metrics or ("pass_rate",))


def certain(entries: Sequence[HistoryEntry], *metrics: str) -> list[tuple[str, bool]]:
    """The days of what is no chance, and whether it went down."""
    return [(move.at[:10], move.after < move.before) for move in moved(entries, *metrics) if move.certain]


def with_cost(values: Sequence[float | None], **more: Any) -> list[HistoryEntry]:
    costs = [Metric(value=value, unit="usd", better="lower", reason="the price is unknown") for value in values]
    return [entry(day, metrics={"cost_usd": cost}, **more) for day, cost in enumerate(costs)]


def test_moves__a_step_down_and_up_again_are_found_on_their_days() -> None:
    found = days(lambda day, case: 0.6 if 20 <= day < 40 and case < 30 else 0.04)
    assert certain(found) == [("2026-02-10", False), ("2026-01-21", True)]


def test_moves__a_step_is_not_seen_again_in_the_windows_of_its_neighbours() -> None:
    found = days(lambda day, case: 0.5 if day >= 30 else 0.02)
    assert certain(found) == [("2026-01-31", True)]


def test_moves__two_steps_close_to_each_other_are_both_found() -> None:
    found = days(lambda day, case: 0.7 if 30 <= day < 34 else 0.02)
    assert certain(found) == [("2026-02-04", False), ("2026-01-31", True)]


@pytest.mark.parametrize("seed", range(8))
def test_moves__noise_is_called_so_and_only_the_largest_are_named(seed: int) -> None:
    found = moved(days(lambda day, case: 0.1, seed=seed))
    assert not any(move.certain for move in found)
    assert len(found) == MOST_OTHERS
    assert all(move.p is not None and move.p > LEVEL for move in found)


def test_moves__which_cases_moved_most_and_how_many_were_compared() -> None:
    (move,) = [
        m for m in moved(days(lambda day, case: 1.0 if day >= 30 and case in {3, 5, 7, 9} else 0.0)) if m.certain
    ]
    assert move.most == ["c003", "c005", "c007", "c009"]
    assert (move.before, move.after, move.cases) == (1.0, 0.9, CASES)
    assert (move.runs_before, move.runs_after) == (10, 5)


def test_moves__a_redefined_case_is_not_held_against_what_it_was() -> None:
    asked = {f"c{number:03d}": "as before" for number in range(CASES)}
    otherwise = asked | dict.fromkeys(["c000", "c001", "c002"], "otherwise")
    old = [entry(day, [], CASES) for day in range(20)]
    new = [entry(20 + day, ["c000", "c001", "c002"], CASES) for day in range(5)]
    assert moved([*old, *new])
    redefined = [each.model_copy(update={"cases": otherwise, "case_set": "new"}) for each in new]
    assert not moved([*(each.model_copy(update={"cases": asked}) for each in old), *redefined])


def test_moves__lost_case_lists_say_nothing() -> None:
    found = days(lambda day, case: 0.5 if day >= 30 else 0.0)
    assert not moved([each.model_copy(update={"cases": None}) for each in found])


def test_moves__a_target_that_always_does_the_same_moves_for_certain_with_one_run() -> None:
    found = [entry(day, ["c000"] if day == 2 else [], random=False) for day in range(5)]
    assert certain(found) == [("2026-01-04", False), ("2026-01-03", True)]
    assert {(move.runs_before, move.runs_after, move.p) for move in moved(found)} == {(1, 1, None)}


def test_moves__nothing_moved() -> None:
    assert moved([entry(day) for day in range(20)]) == moved([entry(1)]) == moved([]) == []


def test_moves__other_metrics_are_held_against_how_much_they_vary() -> None:
    random = Random(1)
    found = with_cost([random.gauss(0.14, 0.004) + (0.05 if day >= 25 else 0) for day in range(50)])
    (move,) = [move for move in moved(found, "cost_usd") if move.certain]
    assert (move.at[:10], move.better, move.cases, move.most) == ("2026-01-26", "lower", None, [])
    assert move.p is not None
    assert move.p < 1e-4


def test_moves__one_odd_run_at_the_end_is_not_yet_a_move() -> None:
    random = Random(1)
    found = moved(with_cost([*(random.gauss(0.14, 0.001) for _ in range(30)), 0.9, 0.9]), "cost_usd")
    assert not any(move.certain for move in found)
    assert found[0].p is None


def test_moves__runs_that_are_all_equal_say_nothing_of_how_much_they_vary() -> None:
    found = moved(with_cost([0.14] * 10 + [0.2] * 10), "cost_usd")
    assert [(move.at[:10], move.certain, move.p) for move in found] == [("2026-01-11", False, None)]


def test_moves__a_value_that_is_not_available_is_no_zero() -> None:
    found = moved(with_cost([0.14, None, 0.14, None, None]), "cost_usd")
    assert found == []


def test_moves__values_that_no_eval_measures_are_passed_over() -> None:
    assert moved(with_cost([1e308, -1e308, 0.1, 0.1]), "cost_usd") == []


def test_moves__branches_are_looked_at_alone() -> None:
    fine, bad = days(lambda day, case: 0.0, 20), days(lambda day, case: 0.5, 20, ref="other")
    mixed = [each for pair in zip(fine, bad, strict=True) for each in pair]
    assert not any(move.ref == "main" for move in moved(mixed))
    assert not any(move.certain for move in moved(mixed))


def test_moves__say_when_the_commit_or_the_subject_says_why() -> None:
    found = [entry(day, ["c000"] if day == 2 else [], random=False) for day in range(3)]
    same = [*found[:2], found[2].model_copy(update={"commit": found[1].commit})]
    changed = [*found[:2], found[2].model_copy(update={"subject": "fedcba987654"})]
    assert [(move.same_commit, move.subject) for each in (found, same, changed) for move in moved(each)] == [
        (False, False), (True, False), (False, True),
    ]  # fmt: skip


def test_moves__are_bounded() -> None:
    found = [entry(day, ["c000"] if day % 2 else [], random=False) for day in range(200)]
    assert len(moved(found)) == MOST_CERTAIN
