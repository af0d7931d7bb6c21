"""What a confirm stage tries again: which cases, how often, and when nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.confirm import Retrials
from evalward.records.comparison import CaseChange
from evalward.records.policy import Confirm, Rule
from support.outcomes import DROP, decided, known, measured, outcome_of, retried, steady, trials
from support.results import baseline, report, result, run

TWENTY = known(steady(20, "PPPPP", c9="FFFFF"))
BEFORE = known(steady(10, "PPPPP", c8="FFFFP", c9="FFFFF"))


def chosen(found: list[Retrials]) -> dict[str, int]:
    """The fresh trials of the only run."""
    (retry,) = found
    return dict(retry.trials)


def test_every_failed_case__is_tried_again_once_one_was_lost() -> None:
    now = measured(steady(10, c1="F", c8="F", c9="F"))
    assert chosen(retried(now, BEFORE)) == {"c1": 4, "c8": 3, "c9": 3}  # at most as many as were planned


def test_many_failed_cases__are_not_looked_for_in_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time would grow with their square: 5,000 failures of 50,000 took minutes."""

    def compared(one: CaseChange, other: object) -> bool:
        raise AssertionError(f"{one.id} is compared with {other}")

    monkeypatch.setattr(CaseChange, "__eq__", compared)
    assert len(chosen(retried(measured(steady(10, c1="F", c8="F", c9="F")), BEFORE))) == 3


def test_nothing_lost__nothing_to_try() -> None:
    assert retried(measured(steady(10, c8="F", c9="F")), BEFORE) == []
    assert retried(measured(steady(10)), BEFORE) == []


def test_case__that_passed_in_just_half_of_its_trials_is_not_lost() -> None:
    assert retried(measured(steady(4, c1="F")), known(steady(4, "PPPP", c1="PPFF"))) == []
    assert chosen(retried(measured(steady(4, c1="F")), known(steady(4, "PPPP", c1="PPPF")))) == {"c1": 4}


def test_several_trials_now__most_have_to_fail_or_half_of_them() -> None:
    now = measured(steady(10, "PPP", c1="PPF", c2="FFF", c3="PFF", c4="EPF"))
    assert chosen(retried(now, BEFORE)) == {"c2": 4, "c3": 4, "c4": 4}
    assert retried(measured(steady(10, "PPP", c1="PPF", c2="PFP")), BEFORE) == []


def test_known_case_that_broke__is_tried_again_whatever_else_there_is() -> None:
    assert chosen(retried(measured(steady(20, c1="E")), TWENTY)) == {"c1": 4}
    assert chosen(retried(measured(steady(20, c1="E", c9="F")), TWENTY)) == {"c1": 4}  # c9 never passed
    floors = [Rule(metric=name, goal=0.0) for name in ("pass_rate", "overall_rate", "tool_call_success_rate")]
    assert chosen(retried(measured(steady(20, c1="E", c2="F")), TWENTY, floors)) == {"c1": 4}
    assert retried(measured(steady(20, c1="S", new="E")), TWENTY) == []  # left out on purpose; not known
    assert retried(measured(steady(20, c1="E"), random=False), TWENTY) == []


def test_cases_that_broke_in_an_outage__are_not_tried_again() -> None:
    assert retried(measured(steady(20, c1="E", c2="E")), TWENTY) == []


def test_only_what_can_be_compared__is_tried_again() -> None:
    now = [
        *trials(steady(6, c1="F")),
        result("c7", "failed", definition="sha256:other"),
        result("new", "failed"),
    ]
    assert chosen(retried(report(run(now, target="anthropic/model", random=True)), BEFORE)) == {"c1": 4}


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [Rule(metric="pass_rate", floor=0.5)],
        [DROP.model_copy(update={"test": "off"})],
        [DROP.model_copy(update={"confirm": False})],
        [DROP.model_copy(update={"suite": "other"})],
        [DROP.model_copy(update={"target": "openai/*"})],
        [DROP.model_copy(update={"metric": "csr"})],
    ],
    ids=["none", "floor", "off", "unwanted", "suite", "target", "metric"],
)
def test_no_rule_asks__nothing_is_tried(rules: list[Rule]) -> None:
    quiet = [Rule(metric=name, goal=0.0) for name in ("pass_rate", "overall_rate", "tool_call_success_rate")]
    named = {rule.metric for rule in rules}
    quiet = [rule for rule in quiet if rule.metric not in named or rules[0].suite != "*" or rules[0].target != "*"]
    assert retried(measured(steady(10, c1="F")), BEFORE, [*rules, *quiet]) == []
    assert retried(measured(steady(10, c1="F")), BEFORE, [*quiet, DROP]) != []


def test_a_kinds_own_rules__ask_too() -> None:
    assert chosen(retried(measured(steady(10, c1="F")), BEFORE, [])) == {"c1": 4}


def test_switched_off__or_deterministic__or_interrupted__nothing_is_tried() -> None:
    now = measured(steady(10, c1="F"))
    assert retried(now, BEFORE, confirm=None) == []
    assert retried(measured(steady(10, c1="F"), random=False), BEFORE) == []
    assert retried(now.model_copy(update={"interrupted": "budget of $1 spent"}), BEFORE) == []
    assert retried(now, None) == []


def test_one_stage__is_all_there_is() -> None:
    assert retried(measured(steady(10, c1="F"), {"c1": "FFFF"}), BEFORE) == []


def test_runs__are_tried_each_by_its_own() -> None:
    names = ("model/a", "model/b", "model/c")
    before = baseline(*(run(trials(steady(10)), target=name, random=True) for name in names))
    now = [run(trials(steady(10, c1="F")), target=name, random=name != "model/c") for name in names[1:]]
    now = [run(trials(steady(10)), target="model/a", random=True), *now]
    (retry,) = retried(report(*now), before)
    assert (retry.name, retry.total) == ("bash-tools × model/b", 4)


@pytest.mark.parametrize(
    ("confirm", "failed", "expected"),
    [
        (Confirm(trials=1), 3, [1, 1, 1]),
        (Confirm(trials=20), 1, [10]),
        (Confirm(trials=20, at_most=10), 1, [20]),
        (Confirm(trials=4, at_most=0.5), 2, [3, 2]),
        (Confirm(trials=4, at_most=0.1), 3, [1, 1, 1]),  # fewer would leave a failed case out: no evidence at all
        (Confirm(), 8, [2, 2, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_fresh_trials__are_bounded_and_even(confirm: Confirm, failed: int, expected: list[int]) -> None:
    now = measured(steady(10, **{f"c{n}": "F" for n in range(failed)}))
    assert list(chosen(retried(now, BEFORE, confirm=confirm)).values()) == expected


outcomes = st.integers(1, 4).flatmap(lambda n: st.lists(st.text("PF", min_size=n, max_size=n), min_size=1, max_size=12))


@given(now=outcomes, each=st.integers(1, 20), at_most=st.floats(0.05, 1))
def test_fresh_trials__are_never_more_than_the_planned_ones(now: list[str], each: int, at_most: float) -> None:
    letters = {f"c{n}": each_now for n, each_now in enumerate(now)}
    planned = sum(map(len, now))
    failed = {case for case, each_now in letters.items() if 2 * each_now.count("F") >= len(each_now)}
    found = retried(
        measured(letters), known(dict.fromkeys(letters, "PPP")), confirm=Confirm(trials=each, at_most=at_most)
    )
    if not failed:
        assert found == []
        return
    trials_of = chosen(found)
    assert set(trials_of) == failed
    assert sum(trials_of.values()) <= planned
    assert max(trials_of.values()) - min(trials_of.values()) <= 1
    assert 1 <= min(trials_of.values()) <= max(trials_of.values()) <= each


def test_failures__that_were_tried_less_often_than_wanted_still_decide() -> None:
    now = measured(steady(10, **{f"c{n}": "F" for n in range(8)}), {f"c{n}": "F" for n in range(8)})
    found = outcome_of(decided(now, known(steady(10, "PPPPP"))))
    assert (found.status, found.evidence is not None and found.evidence.confirmed) == ("fail", True)
