"""The numbers that trials of a case get, in time that grows with their count alone."""

from __future__ import annotations

from evalward.suites.external.numbering import TrialNumbers
from support.patience import little_work


def test_a_trial_without_a_number_gets_the_next_after_all() -> None:
    numbers = TrialNumbers()
    assert [numbers.take(given) for given in (None, None, 7, None, 3, None)] == [1, 2, 7, 8, 3, 9]


def test_a_number_that_is_taken_is_another_trials() -> None:
    numbers = TrialNumbers()
    assert [numbers.take(given) for given in (2, 2, 1, 2)] == [2, 3, 1, 4]


def test_trials_before_these_have_the_first_numbers() -> None:
    numbers = TrialNumbers(3)
    assert [numbers.take(given) for given in (2, None)] == [4, 5]


def test_as_many_trials_of_one_case_as_are_read_are_numbered_quickly() -> None:
    numbers = TrialNumbers()
    with little_work(2):
        last = [numbers.take(None) for _ in range(200_000)][-1]
    assert last == 200_000
