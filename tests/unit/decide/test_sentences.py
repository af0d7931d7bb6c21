"""The sentences of a decision: worked examples, word for word."""

from __future__ import annotations

import pytest

from evalward.records.codes.rules import NotWorse
from evalward.records.metric import Unit
from evalward.records.policy import Rule
from evalward.render import sentences as english
from evalward.render.sentences.words import chance, number_word
from support.outcomes import DROP, decided, evidence_of, known, measured, outcome_of, steady

FIVE = known(steady(37, "PPPPP", c9="FPPPP"))


def test_confirmed_drop() -> None:
    now, fresh = steady(37, c1="F", c2="F", c3="F"), {"c1": "FFFF", "c2": "FFFF", "c3": "FFPF"}
    found = decided(measured(now, fresh), FIVE)
    # Two cases at 5 of 5 against 0 of 4, one at 5 of 5 against 1 of 4: 1/126 · 1/126 · 4/84 = 1/333,396; the look at
    # the fresh trials has half of alpha, which makes it one in 170,000.
    assert english.headline(found) == (
        "pass_rate fell 7.4 pp, confirmed by retrials, more than the 2 pp allowed: three of 37 cases that "
        "always passed now fail in 11 of 12 retrials; chance would do that once in 170,000 runs"
    )


def test_drop_of_the_planned_trials() -> None:
    found = decided(measured(steady(37, c1="F", c2="F", c9="F")), FIVE)
    assert english.headline(found) == (
        "pass_rate fell 7.6 pp (99.5 % → 91.9 %), more than the 2 pp allowed: three of 37 cases that passed "
        "14 of 15 times now fail in 3 of 3 trials; chance would do that once in 110 runs"
    )


def test_one_case() -> None:
    found = decided(measured(steady(37, c1="F"), {"c1": "FFFF"}), FIVE)
    assert english.headline(found) == (
        "pass_rate fell 2.7 pp, confirmed by retrials, more than the 2 pp allowed: one of 37 cases that "
        "always passed now fails in 4 of 4 retrials; chance would do that once in 63 runs"
    )


def test_baseline_of_one_trial() -> None:
    found = decided(measured(steady(5, c1="F")), known(steady(5)))
    assert english.headline(found) == (
        "pass_rate fell 20.0 pp (100.0 % → 80.0 %), more than the 2 pp allowed: one of 5 cases that passed once now "
        "fails in 1 of 1 trial; chance does that all the time, so it is not proof; this baseline (1 trial per case) "
        "can't prove a drop of fewer than five cases"
    )


def test_one_metric_proves_it_and_the_next_cant__says_so() -> None:
    now = measured(steady(37, c1="F", c2="F", c3="F"))
    weak = [DROP, Rule(metric="overall_rate", max_drop=0.02, alpha=0.001)]
    found = {each.metric: english.message(each) for each in decided(now, FIVE, *weak).reasons}
    assert "no proof" not in found["pass_rate"]
    assert ", which by itself is not proof; another metric of this run has it" in found["overall_rate"]


def test_size_that_would_have_been_seen__is_beyond_what_is_allowed() -> None:
    rule = DROP.model_copy(update={"max_drop": 0.3})
    small, large = (evidence_of(decided(measured(steady(37)), FIVE, each)).detectable for each in (DROP, rule))
    assert small is not None
    assert large == pytest.approx(small + 0.28)
    assert evidence_of(decided(measured(steady(5)), known(steady(5)), rule)).detectable is None  # more than everything


def test_nothing_happened() -> None:
    assert english.explanation(outcome_of(decided(measured(steady(37)), known(steady(37, "PPPPP"))))).startswith(
        "pass_rate is unchanged"
    )


def test_other_metrics_have_no_cases_to_count() -> None:
    rule = Rule(metric="total_input_tokens", max_rise=1, alpha=0.02)
    now, before = measured(steady(6)), known(steady(6))
    more = [
        case.model_copy(update={"usage": case.usage.model_copy(update={"input_tokens": 300})})
        for case in now.runs[0].cases
    ]
    found = decided(now.model_copy(update={"runs": [now.runs[0].model_copy(update={"cases": more})]}), before, rule)
    assert english.message(outcome_of(found, rule.metric)) == (
        "total_input_tokens rose 1,200 tokens (600 tokens → 1,800 tokens), more than the 1 token allowed: chance would "
        "do that once in 64 runs"
    )


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0, "chance would do that less than once in a million runs"),
        (1e-7, "chance would do that less than once in a million runs"),
        (1 / 4004, "chance would do that once in 4,000 runs"),
        (1 / 216, "chance would do that once in 220 runs"),
        (0.05, "chance would do that once in 20 runs"),
        (0.3, "chance would do that once in 3 runs"),
        (0.5, "chance does that all the time"),
        (1.0, "chance does that all the time"),
    ],
)
def test_chance_in_words(p: float, words: str) -> None:
    assert chance(p) == words


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (-0.123, 0.015, "ratio", "−12.3 pp to +1.5 pp"),
        (-200.0, -20.0, "tokens", "−200 tokens to −20 tokens"),
        (0.0, 0.0, "ratio", "±0 to ±0"),
    ],
)
def test_intervals_of_differences(low: float, high: float, unit: Unit, text: str) -> None:
    found = NotWorse(metric="m", unit=unit, delta=0.0, low=low, high=high)
    assert english.says(found) == f"m is unchanged (95 %: {text})"


def test_numbers_as_words() -> None:
    assert [number_word(n) for n in (0, 1, 3, 12, 13, 1200)] == ["no", "one", "three", "twelve", "13", "1,200"]
