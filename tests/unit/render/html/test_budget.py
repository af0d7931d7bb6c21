"""What is left out of a page: passing trials first, then long texts, and always the same for the same input."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from evalward.render.html.budget import TIERS, Filled, TrialBody, filled, fitting_first, size_of
from evalward.render.html.passages import TextLimits


@dataclass(frozen=True)
class Weighed:
    """A trial that is so many characters long."""

    size: int
    failed: bool = False


def body(trial: Weighed, limits: TextLimits) -> TrialBody:
    kept = min(trial.size, limits.text)
    return TrialBody("x" * kept, trial.size - kept)


def fill(trials: list[Weighed], room: int) -> Filled[Weighed]:
    return filled(trials, lambda trial: trial.failed, room, body)


def test_what_fits_is_there_in_full() -> None:
    found = fill([Weighed(100), Weighed(200, failed=True)], 300)
    assert list(found.bodies) == [0, 1]
    assert (found.dropped, found.cut) == (0, (0, 0))


def test_passing_trials_go_before_a_failed_one_is_cut() -> None:
    big = TIERS[0].text
    found = fill([Weighed(1_000), Weighed(big, failed=True), Weighed(1_000)], big + 1_500)
    assert list(found.bodies) == [0, 1]
    assert found.bodies[1].left_out == 0
    assert found.dropped == 1


def test_failed_trials_are_cut_alike_so_that_all_of_them_are_there() -> None:
    big = TIERS[0].text
    found = fill([Weighed(big, failed=True)] * 5 + [Weighed(10)], 3 * big)
    assert list(found.bodies) == [0, 1, 2, 3, 4, 5]
    assert {found.bodies[place].size for place in range(5)} == {TIERS[1].text}
    assert found.cut == (5, 5 * (big - TIERS[1].text))


def test_with_room_for_few_failed_ones_no_passing_one_takes_it() -> None:
    smallest = TIERS[-1].text
    found = fill([Weighed(1), *[Weighed(10**6, failed=True)] * 10], 3 * smallest + 5)
    assert list(found.bodies) == [1, 2, 3]
    assert found.dropped == 8


def test_trials_that_have_no_chance_are_not_made() -> None:
    made = []

    def counted(trial: Weighed, limits: TextLimits) -> TrialBody:
        made.append(trial)
        return body(trial, limits)

    filled([Weighed(100)] * 1_000, lambda trial: trial.failed, 1_000, counted)
    assert len(made) == 11


@given(
    trials=st.lists(st.builds(Weighed, size=st.integers(0, 300_000), failed=st.booleans()), max_size=30),
    room=st.integers(0, 2_000_000),
)
def test_the_room_holds_whatever_comes(trials: list[Weighed], room: int) -> None:
    found = fill(trials, room)
    assert found.size <= room
    assert len(found.bodies) + found.dropped == len(trials)
    assert list(found.bodies) == sorted(found.bodies)
    assert found == fill(trials, room)


def test_sizes_are_bytes() -> None:
    assert size_of("–x") == 4
    assert fitting_first(["–", "–", "a"], 6, str) == ["–", "–"]
