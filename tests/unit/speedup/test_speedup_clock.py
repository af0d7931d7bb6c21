"""What benchmarks claim, held against the clock outside."""

from __future__ import annotations

import json

import pytest

from evalward.suites.speedup.measure.clock import Timed, can_be_checked, claimed, contradiction


def side(wall: float, told: float, count: int = 6) -> list[Timed]:
    """Rounds that took about so long and claim so much."""
    return [Timed(wall * (1 + (number % 3 - 1) / 100), told) for number in range(count)]


UNTOUCHED = side(4.2, 4.0)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (side(4.2, 0.1), "the clock is turned"),
        (side(150.0, 4.0), "a turned clock, and a tool that measures until its time is up"),
        (side(2.9, 0.5), "half of the work is done when nobody looks"),
    ],
)
def test_claims_that_the_clock_contradicts(change: list[Timed], why: str) -> None:
    assert contradiction(UNTOUCHED, change) is not None, why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (side(0.3, 0.1), "40 times as fast"),
        (side(4.2, 4.0), "no faster"),
        (side(9.0, 8.0), "slower"),
        (side(1.0, 0.1), "a little longer at its start"),
        ([], "nothing was measured"),
    ],
)
def test_claims_that_can_be_true(change: list[Timed], why: str) -> None:
    assert contradiction(UNTOUCHED, change) is None, why


def test_what_is_imported_longer_is_allowed_within_bounds() -> None:
    assert contradiction(UNTOUCHED, side(2.6, 0.1)) is not None
    assert contradiction(UNTOUCHED, side(2.6, 0.1), start_s=2.0) is None
    assert contradiction(UNTOUCHED, side(12.0, 0.1), start_s=60.0) is not None


@pytest.mark.parametrize(("rounds", "forged"), [(1, False), (2, False), (3, True)])
def test_of_few_rounds_nobody_knows_how_much_they_differ_by_chance(rounds: int, forged: bool) -> None:
    """A machine that stood still for half a second is no forgery; a second is one in any case."""
    assert (contradiction(side(1.5, 1.2, rounds), side(1.4, 0.6, rounds)) is not None) is forged
    assert (contradiction(side(0.5, 0.4, rounds), side(0.5, 0.01, rounds)) is not None) is forged
    assert contradiction(side(4.2, 4.0, rounds), side(4.2, 0.1, rounds)) is not None


@pytest.mark.parametrize("untouched", [side(0.2, 0.1), side(1.0, 4.0), []])
def test_what_can_not_be_checked_is_not_held_against_anybody(untouched: list[Timed]) -> None:
    assert not can_be_checked(untouched)
    assert contradiction(untouched, side(50, 0.001)) is None


@pytest.mark.parametrize(
    ("form", "data", "seconds"),
    [
        ("json", {"a": [0.5, 0.25], "b": 1.0}, 1.75),
        ("pytest-benchmark", {"benchmarks": [{"stats": {"data": [0.5, 0.25], "iterations": 10}}]}, 7.5),
        ("pytest-benchmark", {"benchmarks": [{"stats": 3}]}, 1.75),
        ("pyperf", {"benchmarks": [{"runs": [{"values": [0.5], "metadata": {"loops": 4}}, {}]}]}, 2.0),
        ("pyperf", [], 1.75),
    ],
)
def test_all_iterations_count(form: str, data: object, seconds: float) -> None:
    assert claimed(form, json.dumps(data).encode(), {"a": [0.5, 0.25], "b": [1.0]}) == pytest.approx(seconds)
