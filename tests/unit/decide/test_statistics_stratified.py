"""The exact stratified test and McNemar's: worked examples, symmetry, and what scipy and statsmodels say."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom
from statsmodels.stats.contingency_tables import mcnemar

from evalward.decide.statistics.counting import EXACT_BITS, KEPT_BITS, NOTHING, Weights, convolve, convolved, power
from evalward.decide.statistics.stratified import (
    CaseTrials,
    stratified_worse,
)
from support.exact import mcnemar_worse, paired, stratified_better


@st.composite
def case_trials(draw: st.DrawFn, most: int = 8) -> CaseTrials:
    before, now = draw(st.integers(0, most)), draw(st.integers(0, most))
    return CaseTrials(draw(st.integers(0, before)), before, draw(st.integers(0, now)), now)


def many(count: int, before: int, now: int, seed: int = 1) -> list[CaseTrials]:
    """Cases that pass with a chance of their own, the same on both sides."""
    dice = random.Random(seed)

    def passed(chance: float, trials: int) -> int:
        return sum(dice.random() < chance for _ in range(trials))

    chances = [dice.random() for _ in range(count)]
    return [CaseTrials(passed(chance, before), before, passed(chance, now), now) for chance in chances]


def by_scipy(cases: list[CaseTrials]) -> tuple[float, float]:
    """P[S ≤ observed] and P[S ≥ observed] by convolving scipy's hypergeometric distributions."""
    pmfs = [
        hypergeom.pmf(
            np.arange(case.trials_now + 1),
            case.trials_before + case.trials_now,
            case.passed_before + case.passed_now,
            case.trials_now,
        )
        for case in cases
        if case.trials_before + case.trials_now  # scipy has no distribution of nothing
    ]
    pmf = reduce(np.convolve, pmfs, np.ones(1))
    observed = sum(case.passed_now for case in cases)
    return float(pmf[: observed + 1].sum()), float(pmf[observed:].sum())


@settings(deadline=None)
@given(st.lists(case_trials(), max_size=12))
def test_stratified__equals_scipys_hypergeometric_distributions_convolved(cases: list[CaseTrials]) -> None:
    worse, better = by_scipy(cases)
    assert stratified_worse(cases) == pytest.approx(worse, rel=1e-9, abs=0)
    assert stratified_better(cases) == pytest.approx(better, rel=1e-9, abs=0)


@pytest.mark.parametrize(("before", "now"), [(5, 5), (10, 5), (1, 4)])
def test_stratified__equals_scipy_where_the_weights_have_to_be_cut(before: int, now: int) -> None:
    cases = many(300, before, now)
    worse, better = by_scipy(cases)
    assert stratified_worse(cases) == pytest.approx(worse, rel=1e-9, abs=0)
    assert stratified_better(cases) == pytest.approx(better, rel=1e-9, abs=0)


def test_stratified__many_trials_of_one_case_equal_scipy() -> None:
    cases = [CaseTrials(1200, 2000, 1100, 2000)]
    assert stratified_worse(cases) == pytest.approx(hypergeom.cdf(1100, 4000, 2300, 2000), rel=1e-9, abs=0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_stratified__with_one_trial_a_side_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    lost = sum(before and not now for before, now in pairs)
    gained = sum(now and not before for before, now in pairs)
    cases = [CaseTrials(int(before), 1, int(now), 1) for before, now in pairs]
    assert stratified_worse(cases) == mcnemar_worse(lost, gained)
    assert stratified_better(cases) == mcnemar_worse(gained, lost)


@given(st.lists(case_trials(), max_size=12), st.randoms())
def test_stratified__takes_cases_in_any_order(cases: list[CaseTrials], dice: random.Random) -> None:
    shuffled = dice.sample(cases, len(cases))
    assert stratified_worse(shuffled) == stratified_worse(cases)
    assert 0 < stratified_worse(cases) <= 1
    assert stratified_worse(cases) + stratified_better(cases) >= 1 - 1e-12  # the observed value is in both


@given(st.lists(case_trials(), max_size=8), case_trials())
def test_stratified__another_pass_now_is_never_worse(cases: list[CaseTrials], case: CaseTrials) -> None:
    fewer = CaseTrials(case.passed_before, case.trials_before, 0, case.trials_now)
    for passed in range(1, case.trials_now + 1):
        more = CaseTrials(case.passed_before, case.trials_before, passed, case.trials_now)
        assert stratified_worse([*cases, more]) >= stratified_worse([*cases, fewer])
        fewer = more


@pytest.mark.parametrize(
    "silent",
    [CaseTrials(0, 0, 3, 5), CaseTrials(3, 5, 0, 0), CaseTrials(5, 5, 5, 5), CaseTrials(0, 5, 0, 3)],
)
def test_stratified__a_case_that_says_nothing_changes_nothing(silent: CaseTrials) -> None:
    cases = [CaseTrials(5, 5, 2, 5), CaseTrials(3, 5, 4, 4)]
    assert stratified_worse([*cases, silent, silent]) == stratified_worse(cases)
    assert stratified_worse([silent]) == stratified_better([silent]) == 1.0


def test_stratified__no_cases_is_no_evidence() -> None:
    assert stratified_worse([]) == stratified_better([]) == 1.0


def test_stratified__a_case_broken_after_one_trial_and_after_five() -> None:
    assert stratified_worse([CaseTrials(1, 1, 0, 4)]) == pytest.approx(0.2)
    assert stratified_worse([CaseTrials(5, 5, 0, 4)]) == pytest.approx(1 / 126)


def test_stratified__everything_broken_keeps_its_tiny_probability() -> None:
    assert stratified_worse([CaseTrials(5, 5, 0, 5)] * 37) == pytest.approx(252.0**-37, rel=1e-12, abs=0)
    assert stratified_worse([CaseTrials(5, 5, 0, 5)] * 1000) < 1e-27


@pytest.mark.parametrize(("lost", "gained"), [(340, 160), (355, 145)])
def test_stratified__cut_weights_are_right_far_out_too(lost: int, gained: int) -> None:
    cases = paired(lost, gained)
    assert mcnemar_worse(lost, gained) < 1e-15
    assert stratified_worse(cases) == pytest.approx(mcnemar_worse(lost, gained), rel=1e-9, abs=0)


@pytest.mark.parametrize("wrong", [(2, 1, 0, 1), (-1, 1, 0, 1), (0, 1, 2, 1), (0, 1, -1, 1)])
def test_case_trials__cannot_pass_more_often_than_tried(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="more passes than trials"):
        CaseTrials(*wrong)


@pytest.mark.parametrize(("lost", "gained"), [(5, 0), (7, 1), (9, 2)])
def test_one_trial_a_side__is_significant_from_here(lost: int, gained: int) -> None:
    assert stratified_worse(paired(lost, gained)) <= 0.05 < stratified_worse(paired(lost - 1, gained))


@given(st.integers(0, 300), st.integers(0, 300))
def test_one_trial_a_side__equals_scipy_and_statsmodels(lost: int, gained: int) -> None:
    if lost + gained:
        oracle = binomtest(gained, lost + gained, 0.5, alternative="less").pvalue
        assert stratified_worse(paired(lost, gained)) == pytest.approx(oracle, rel=1e-9, abs=0)
    oracle = mcnemar([[0, lost], [gained, 0]], exact=True).pvalue if lost + gained else 1.0
    smaller = min(stratified_worse(paired(lost, gained)), stratified_worse(paired(gained, lost)))
    assert min(1.0, 2 * smaller) == pytest.approx(oracle, rel=1e-9, abs=0)


def test_convolution__neighbours_never_run_into_each_other() -> None:
    ones = Weights(2, [1] * 100)
    product = convolve(ones, ones)
    assert product.first == 4
    assert list(product.weights) == [*range(1, 101), *range(99, 0, -1)]
    assert power(ones, 0) == NOTHING


def one_after_the_other(terms: Sequence[Weights]) -> Weights:
    """The sum of the terms, cut after each where it has grown too long: by the definition, weight by weight."""
    product = NOTHING
    for term in sorted(terms, key=lambda each: len(each.weights)):
        weights = [0] * (len(product.weights) + len(term.weights) - 1)
        for (i, one), (k, other) in itertools.product(enumerate(product.weights), enumerate(term.weights)):
            weights[i + k] += one * other
        product = Weights(product.first + term.first, weights)
        bits = sum(weights).bit_length()
        if bits > EXACT_BITS:
            cut = [weight >> (bits - KEPT_BITS) for weight in weights]
            present = [place for place, weight in enumerate(cut) if weight]
            product = Weights(product.first + present[0], cut[present[0] : present[-1] + 1])
    return product


def test_many_terms_at_once__give_what_one_after_the_other_does() -> None:
    dice = random.Random(7)
    for count in (0, 1, 2, 30, 90, 200):
        some = [
            Weights(dice.randint(-3, 3), [dice.getrandbits(20) for _ in range(dice.randint(1, 4))]) for _ in "abcdef"
        ]
        terms = [dice.choice(some) for _ in range(count)] + [Weights(0, [1, dice.getrandbits(500), 3])] * (count > 50)
        quick, slow = convolved(terms), one_after_the_other(terms)
        assert (quick.first, list(quick.weights)) == (slow.first, list(slow.weights))


def test_power__is_the_convolution_so_many_times() -> None:
    coin = Weights(0, [1, 3])
    five = power(coin, 5)
    assert (five.first, list(five.weights)) == (0, [1, 15, 90, 270, 405, 243])
