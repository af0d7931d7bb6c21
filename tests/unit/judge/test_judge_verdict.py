"""From answers to votes to an outcome: what counts, and what is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.judge import JudgeOutcome
from evalward.records.trace import Usage
from evalward.suites.judge.structured import answer_schema
from evalward.suites.judge.verdict import UnusableError, VoteOutcome, aggregate_votes, read_vote, weighted
from support.judging import COST, answer, rubric

RUBRIC = rubric()


def vote(value: Any, threshold: float = 0.7) -> Any:
    return read_vote(value if isinstance(value, str) else json.dumps(value), RUBRIC, threshold)


def why(value: Any) -> str:
    with pytest.raises(UnusableError) as caught:
        vote(value)
    return str(caught.value)


def scored(score: float, threshold: float = 0.7) -> VoteOutcome:
    found = read_vote(json.dumps(answer(score, only=score)), rubric(only=1.0), threshold)
    return VoteOutcome(found, COST)


def outcome(*asked: VoteOutcome, threshold: float = 0.7) -> JudgeOutcome:
    return aggregate_votes(asked, model="m", rubric=rubric(only=1.0), threshold=threshold)


def test_the_specifications_example_scores_0825() -> None:
    found = vote(answer())
    assert found.score == pytest.approx(0.825)  # the example itself says 0.83
    assert (found.claimed, found.passed, found.confidence) == (0.83, True, 0.8)
    assert aggregate_votes([VoteOutcome(found, COST)], model="m", rubric=RUBRIC, threshold=0.7).notes == []


def test_our_sum_counts_and_the_difference_is_told() -> None:
    low = answer(1.0, command_correctness=0, task_completion=0, efficiency=0.5)
    found = aggregate_votes([VoteOutcome(vote(low), COST)], model="m", rubric=RUBRIC, threshold=0.7)
    assert found.score == pytest.approx(0.15)
    assert found.passed is False
    assert found.notes == ["the judge claimed a weighted score of 1.00; by the rubric its scores give 0.15"]


@pytest.mark.parametrize(("score", "passed"), [(0.70, True), (0.69, False), (0.1 + 0.6, True), (1.0, True), (0, False)])
def test_the_threshold_is_reached_or_not(score: float, passed: bool) -> None:
    assert outcome(scored(score)).passed is passed


@pytest.mark.parametrize("bad", [True, False, "0.9", None, -0.01, 1.01, [], {}, 10**400])
def test_a_score_is_a_number_from_0_to_1(bad: Any) -> None:
    scores = {**answer()["scores"], "efficiency": bad}
    assert "the score of 'efficiency' is not a number from 0 to 1" in why({**answer(), "scores": scores})
    assert "`confidence` is not a number" in why({**answer(), "confidence": bad})
    assert "`weighted_score` is not a number" in why({**answer(), "weighted_score": bad})


@pytest.mark.parametrize("field", ["scores", "weighted_score", "confidence", "issues", "highlights"])
def test_every_wanted_field_has_to_be_there(field: str) -> None:
    assert f"the key {field!r} is missing" in why({k: v for k, v in answer().items() if k != field})


def test_every_criterion_has_to_be_scored_and_no_other() -> None:
    assert "lacks the criterion 'efficiency'" in why(answer(0.8, command_correctness=1, task_completion=1))
    assert "'bonus', which is not a criterion" in why({**answer(), "scores": {**answer()["scores"], "bonus": 1}})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("I think it is fine.", "not JSON"),
        ("[]", "not an object"),
        ('{"scores": NaN}', "NaN"),
        ('{"scores": {}, "scores": {}}', "twice"),
        ("[" * 100_000, "not JSON"),
        ('{"scores": [1]}', "`scores` is not an object"),
        (json.dumps({**answer(), "issues": "none"}), "`issues` is not a list of texts"),
        (json.dumps({**answer(), "highlights": [1]}), "`highlights` is not a list of texts"),
    ],
)
def test_what_is_no_answer(text: str, told: str) -> None:
    assert told in why(text)


def test_an_answer_in_a_code_block_is_one() -> None:
    assert vote(f"```json\n{json.dumps(answer())}\n```").passed


def test_fields_that_a_rubric_does_not_want_may_be_missing() -> None:
    few = RUBRIC.model_copy(update={"output": RUBRIC.output.model_copy(update={"require_fields": ["scores"]})})
    found = read_vote(json.dumps({"scores": answer()["scores"]}), few, 0.7)
    assert (found.claimed, found.confidence, found.issues) == (None, None, [])
    assert list(answer_schema(few)["properties"]) == ["scores"]


def test_long_and_many_lines_are_cut() -> None:
    found = vote({**answer(), "issues": ["x" * 10_000] * 100})
    assert len(found.issues) == 20
    assert {len(line) for line in found.issues} == {500}
    vote({**answer(), "issues": ["half \ud800"]}).model_dump_json()


def test_several_votes_are_averaged_and_their_agreement_is_shown() -> None:
    found = outcome(scored(0.9), scored(0.8), scored(0.5))
    assert found.score == pytest.approx(2.2 / 3)
    assert found.passed
    assert found.agreement == pytest.approx(2 / 3)
    assert found.spread == pytest.approx(0.4)
    assert found.usage.input_tokens == 2700
    assert found.sentence == "scored 0.73, 0.70 wanted; 67 % of 3 votes agree"


def test_most_votes_against_their_mean_are_told() -> None:
    found = outcome(scored(1.0), scored(0.6), scored(0.6))
    assert found.passed
    assert found.notes == ["most votes are on the other side of the threshold than their mean"]


def test_some_broken_votes_are_told_and_half_of_them_are_an_error() -> None:
    broken = VoteOutcome(None, Usage(), "no answer")
    found = outcome(scored(0.9), scored(0.9), broken)
    assert (found.passed, found.notes) == (True, ["1 of 3 votes could not be had: no answer"])
    assert found.usage.cost_usd is None  # what the broken one has used is unknown
    for asked in ([broken], [scored(0.9), broken], []):
        lost = outcome(*asked)
        assert (lost.score, lost.passed, lost.agreement) == (None, None, None)
        assert lost.error
        assert lost.sentence.startswith("not judged: ")


def test_a_baseline_keeps_no_words() -> None:
    kept = outcome(scored(0.9)).summary()
    assert "Retried" not in kept.model_dump_json()
    assert kept.score == 0.9


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_score_stays_within_0_and_1(one: float, other: float) -> None:
    assert 0 <= weighted(rubric(a=0.5, b=0.51), {"a": one, "b": other}) <= 1


@given(st.text(max_size=200))
def test_any_text_is_a_vote_or_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        read_vote(text, RUBRIC, 0.5)
