"""What holds for every decision, whatever the outcomes."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evalward.records.baseline import Baseline
from evalward.records.evidence import Evidence
from evalward.records.policy import Rule
from evalward.records.verdict import Outcome, Verdict
from support.outcomes import DROP, decided, evidence_of, known, measured, outcome_of, steady, trials
from support.results import baseline, report, run

Side = dict[str, str]
FEW = settings(max_examples=40, deadline=None)
RULES = (
    DROP,
    Rule(metric="overall_rate", max_drop=0.02),
    Rule(metric="tool_call_success_rate", max_drop=0.0),
    Rule(metric="total_input_tokens", max_rise=0.0),
)


@st.composite
def sides(draw: st.DrawFn, *, confirmed: bool | None = None) -> tuple[Side, Side, Side]:
    """Baseline, planned and fresh trials of a few cases. Fresh trials are of all failed cases, or there are none."""
    cases = [f"c{n}" for n in range(draw(st.integers(1, 14)))]
    old, new = draw(st.integers(1, 5)), draw(st.integers(1, 3))

    def letters(count: int) -> str:
        return draw(st.sampled_from(["P" * count, "F" * count]) | st.text("PF", min_size=count, max_size=count))

    before, now = {case: letters(old) for case in cases}, {case: letters(new) for case in cases}
    again = draw(st.booleans()) if confirmed is None else confirmed
    return before, now, {case: letters(4) for case in cases if again and "F" in now[case]}


def told(verdict: Verdict) -> list[tuple[str, str]]:
    return sorted((rule.rule.metric, rule.status) for rule in verdict.rules)


def _against(evidence: Evidence) -> float:
    """How much speaks for chance: p, for the share of alpha that the look at the trials has."""
    assert evidence.p is not None
    return evidence.p / evidence.share


@FEW
@given(given=sides(), seed=st.integers(0, 99))
def test_order_of_cases__decides_nothing(given: tuple[Side, Side, Side], seed: int) -> None:
    def shuffled(side: Side) -> Side:
        items = list(side.items())
        random.Random(seed).shuffle(items)
        return dict(items)

    before, now, fresh = given
    one = decided(measured(now, fresh), known(before), *RULES)
    other = decided(measured(shuffled(now), shuffled(fresh)), known(shuffled(before)), *RULES)
    assert (one.outcome, told(one)) == (other.outcome, told(other))
    assert evidence_of(one).p == pytest.approx(evidence_of(other).p)


@FEW
@given(given=sides(), seed=st.integers(0, 99))
def test_order_of_runs__decides_nothing(given: tuple[Side, Side, Side], seed: int) -> None:
    before, now, fresh = given
    names = ["model/a", "model/b", "model/c"]
    chance = random.Random(seed)
    other = {case: chance.choice("PF") for case in now}
    runs = {
        name: run(trials(side), target=name, random=True, confirmation=trials(again, 9))
        for name, side, again in zip(names, (now, other, now), (fresh, {}, {}), strict=True)
    }
    base = baseline(*(run(trials(before), target=name, random=True) for name in names))
    seen = [
        sorted((rule.target, rule.rule.metric, rule.status) for rule in decided(now_, base, *RULES).rules)
        for now_ in (report(*runs.values()), report(*(runs[name] for name in sorted(names, reverse=True))))
    ]
    assert seen[0] == seen[1]


@FEW
@given(given=sides(confirmed=False))
def test_metric_that_did_not_fall__never_fails_by_its_drop(given: tuple[Side, Side, Side]) -> None:
    before, now, _ = given
    found = outcome_of(decided(measured(now), known(before), Rule(metric="pass_rate", max_drop=0.0)))
    assume(found.delta is not None and found.delta >= 0)
    assert found.status == "ok"


@FEW
@given(given=sides(), allowed=st.floats(0, 1))
def test_drop_within_what_is_allowed__passes_and_one_that_fails_is_beyond_it(
    given: tuple[Side, Side, Side], allowed: float
) -> None:
    before, now, fresh = given
    found = outcome_of(decided(measured(now, fresh), known(before), Rule(metric="pass_rate", max_drop=allowed)))
    assert found.evidence is not None
    assert found.evidence.delta is not None
    beyond = -found.evidence.delta > allowed + 1e-9
    assert beyond or found.status == "ok"
    if found.status == "fail":
        assert found.evidence.corrected is not None
        assert found.evidence.corrected <= found.evidence.alpha


@FEW
@given(given=sides())
def test_evidence__is_probabilities_and_intervals_around_the_difference(given: tuple[Side, Side, Side]) -> None:
    before, now, fresh = given
    found = decided(measured(now, fresh), known(before), *RULES)
    evidences: list[Evidence] = [rule.evidence for rule in found.rules if rule.evidence is not None]
    assert evidences
    for rule in found.rules:
        evidence = rule.evidence
        if evidence is None:
            continue
        assert evidence.p is not None
        assert evidence.corrected is not None
        assert 0 <= evidence.p <= evidence.corrected <= 1
        assert evidence.detectable is None or evidence.detectable >= 0
        if evidence.interval is not None and rule.rule.metric == "total_input_tokens":
            assert rule.delta is not None
            assert evidence.interval.low - 1e-9 <= rule.delta <= evidence.interval.high + 1e-9


@FEW
@given(given=sides(), seed=st.integers(0, 99))
def test_one_more_failure__never_turns_a_failed_check_into_a_passed_one(
    given: tuple[Side, Side, Side], seed: int
) -> None:
    """One fresh trial that failed instead of passed: the loss grows. Its p may rise a little, for an exact test holds
    the number of passes fixed, and there is one less of them; it never makes a pass of it.
    """
    before, now, fresh = given
    where = [case for case, each in fresh.items() if "P" in each]
    assume(where)
    case = random.Random(seed).choice(where)
    worse = fresh | {case: fresh[case].replace("P", "F", 1)}
    first, second = (decided(measured(now, each), known(before)) for each in (fresh, worse))
    losses = [evidence_of(verdict).delta or 0.0 for verdict in (first, second)]
    assert losses[1] <= losses[0] + 1e-12
    assert first.outcome is not Outcome.FAIL or second.outcome is not Outcome.PASS


@cache
def all_passed(count: int) -> Baseline:
    """The baseline of so many trials of each case."""
    return known(steady(37, "P" * count))


@pytest.mark.parametrize("lost", [1, 2, 3, 5])
@pytest.mark.parametrize("confirmed", [True, False])
def test_more_baseline_trials__never_make_a_clear_regression_doubtful(lost: int, confirmed: bool) -> None:
    now = steady(37, **{f"c{n}": "F" for n in range(lost)})
    fresh = {f"c{n}": "FFFF" for n in range(lost)} if confirmed else {}
    seen = [decided(measured(now, fresh), all_passed(count)) for count in range(1, 12)]
    ps = [_against(evidence_of(verdict)) for verdict in seen]
    assert ps == sorted(ps, reverse=True)
    failed = [verdict.outcome is Outcome.FAIL for verdict in seen]
    assert failed == sorted(failed)  # once it fails, it keeps failing
    assert failed[-1] is (confirmed or lost > 1)
