"""Which score decides whether a foreign trial passed."""

from __future__ import annotations

import pytest

from evalward.records.result import Status
from evalward.suites.external.choice import OUT_OF_BOUNDS, SCORER_BROKE, UNJUDGED, Bounds, Ending, ScoreChoice
from evalward.suites.external.formats.base import Score
from support.foreign.trials import foreign

MATCH = ScoreChoice("match")
HELPFUL = ScoreChoice(bounds={"helpful": Bounds(least=0.7)})


def test_without_a_choice__the_harness_decides() -> None:
    trial = foreign(status="failed", reason="assertion", message="no digits", scores={"match": Score(passed=True)})
    assert ScoreChoice().ending(trial) == Ending(Status.FAILED, "assertion", "no digits")


def test_without_a_choice__a_trial_of_which_nothing_says_whether_it_passed_is_an_error() -> None:
    ending = ScoreChoice().ending(foreign(status=None, scores={"helpful": 0.9}))
    assert (ending.status, ending.reason) == (Status.ERROR, UNJUDGED)


@pytest.mark.parametrize("status", ["error", "skipped"])
@pytest.mark.parametrize("choice", [ScoreChoice(), MATCH, HELPFUL])
def test_what_broke_or_was_not_run__stays_so_whatever_its_scores_say(status: str, choice: ScoreChoice) -> None:
    trial = foreign(status=status, scores={"match": Score(1.0, passed=True), "helpful": 1.0})
    assert choice.ending(trial).status == status


@pytest.mark.parametrize(
    ("score", "status", "reason"),
    [
        (Score(1.0, passed=True), Status.PASSED, None),
        (Score(0.0, passed=False, reason="wrong city"), Status.FAILED, "failed"),
        (Score(0.4), Status.ERROR, UNJUDGED),
        (Score(error="judge: 503"), Status.ERROR, SCORER_BROKE),
        (None, Status.ERROR, UNJUDGED),
    ],
)
def test_a_scorer_by_its_name__decides_alone(score: Score | None, status: Status, reason: str | None) -> None:
    trial = foreign(status="passed", scores={"other": 1.0, **({"match": score} if score else {})})
    assert MATCH.ending(trial)[:2] == (status, reason)


@pytest.mark.parametrize(
    ("value", "status", "reason"),
    [
        (0.7, Status.PASSED, None),
        (0.69, Status.FAILED, OUT_OF_BOUNDS),
        (None, Status.ERROR, UNJUDGED),
    ],
)
def test_a_bound__holds_at_its_end(value: float | None, status: Status, reason: str | None) -> None:
    assert HELPFUL.ending(foreign(status=None, scores={"helpful": value}))[:2] == (status, reason)


def test_a_bound_that_is_missed__is_said_with_both_numbers() -> None:
    ending = HELPFUL.ending(foreign(status=None, scores={"helpful": 0.25}))
    assert ending.message == "helpful is 0.25, not at least 0.7"


def test_both_ends_of_a_bound__hold() -> None:
    bounds = Bounds(least=0.2, most=0.4)
    assert [bounds.hold(value) for value in (0.19, 0.2, 0.4, 0.41)] == [False, True, True, False]
    assert str(bounds) == "at least 0.2 and at most 0.4"


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (0.9, 0.9, Status.PASSED),
        (0.9, 0.1, Status.FAILED),
        (0.9, None, Status.ERROR),
        (0.1, None, Status.FAILED),  # one that really failed is believed beside one that broke
    ],
)
def test_of_several_bounds__all_have_to_hold(first: float, second: float | None, status: Status) -> None:
    choice = ScoreChoice(bounds={"one": Bounds(least=0.5), "two": Bounds(least=0.5)})
    assert choice.ending(foreign(status=None, scores={"one": first, "two": second})).status is status


def test_what_the_harness_says_of_a_failure__is_kept_where_the_score_says_nothing() -> None:
    trial = foreign(status=None, reason="message_limit", message="5 messages", scores={"match": Score(passed=False)})
    assert MATCH.ending(trial) == Ending(Status.FAILED, "message_limit", "5 messages")
