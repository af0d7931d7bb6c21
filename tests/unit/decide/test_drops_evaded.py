"""Ways around the decision on drops that are closed, and sentences that would not be true."""

from __future__ import annotations

import pytest

from evalward.commands.pipeline import decide_report
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report
from evalward.records.verdict import Outcome
from evalward.render import sentences as english
from evalward.suites.base import kind_named
from evalward.suites.bash.details import BashDetails
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.metrics import measure
from support.outcomes import DROP, TARGET, decided, evidence_of, known, measured, outcome_of, steady
from support.results import report, result, run
from support.written import make_baseline

FIVE = known(steady(37, "PPPPP"))


def lost(*cases: str, each: str = "F") -> dict[str, str]:
    return dict.fromkeys(cases, each)


# --- a drop over all cases ------------------------------------------------------------------------------------------


def every(count: int, each: str) -> dict[str, str]:
    return {f"c{number}": each for number in range(count)}


def test_drop_over_many_cases__fails_although_few_of_the_fresh_tries_fail() -> None:
    before = known(steady(200, "PPPPP"))
    now = measured(steady(200, **every(30, "F")), every(30, "PPPP") | every(15, "PPPF"))
    found = decided(now, before)
    assert found.outcome is Outcome.FAIL
    assert english.headline(found).startswith(
        "pass_rate fell 15.0 pp (100.0 % → 85.0 %), more than the 2 pp allowed: 15 of 120 retrials of the 30 "
        "failed cases failed again; chance would do that"
    )


def test_drop_over_many_cases__is_no_pass_where_the_fresh_tries_leave_room_for_chance() -> None:
    before = known(steady(200, "PPPPP"))
    now = measured(steady(200, **every(30, "F")), every(30, "PPPP") | {"c0": "PPPF"})
    assert decided(now, before).outcome is Outcome.INCONCLUSIVE


def test_drop_over_many_cases__passes_when_none_fails_again() -> None:
    before = known(steady(200, "PPPPP"))
    assert decided(measured(steady(200, **every(30, "F")), every(30, "PPPP")), before).outcome is Outcome.PASS


# --- a replay that is made unsteady -----------------------------------------------------------------------------------


def replayed(now: dict[str, str], *unsteady: str) -> Report:
    found = measured(now, random=False)
    calls = BashDetails(tool_calls=1, tool_calls_ok=1, replayed=True, deterministic=True)
    cases = [
        each.model_copy(update={"details": calls.model_copy(update={"deterministic": each.id not in unsteady})})
        for each in found.runs[0].cases
    ]
    return found.model_copy(update={"runs": [found.runs[0].model_copy(update={"cases": cases})]})


def test_unsteady_case__excuses_no_other_case_of_the_replay() -> None:
    before = known(steady(10), random=False)
    found = decided(replayed(steady(10, **lost("c1", "c2")), "c9"), before)
    assert found.outcome is Outcome.FAIL
    assert english.headline(found) == (
        "pass_rate fell 20.0 pp in cases that always give the same result, more than the 2 pp allowed: "
        "chance plays no part"
    )


def test_unsteady_case__may_have_failed_by_chance_itself() -> None:
    before = known(steady(10), random=False)
    assert decided(replayed(steady(10, c9="F"), "c9"), before).outcome is Outcome.INCONCLUSIVE


# --- fresh trials that are none ---------------------------------------------------------------------------------------


def test_fresh_trials_of_a_case_that_passed__are_no_evidence() -> None:
    assert decided(measured(steady(37), {"c6": "FFFF"}), FIVE).outcome is Outcome.PASS


@pytest.mark.parametrize(("definition", "confirmed"), [("sha256:c0", True), ("sha256:other", False)])
def test_fresh_trials_of_another_definition__are_no_evidence(definition: str, confirmed: bool) -> None:
    now = measured(steady(37, c0="F"), {"c0": "PPPP"})
    other = [each.model_copy(update={"definition": definition}) for each in now.runs[0].confirmation]
    now = now.model_copy(update={"runs": [now.runs[0].model_copy(update={"confirmation": other})]})
    assert evidence_of(decided(now, FIVE)).confirmed is confirmed


# --- sentences --------------------------------------------------------------------------------------------------------


def test_headline__doesnt_say_that_a_metric_fell_which_rose() -> None:
    before = known(steady(37, "PPPPP", c34="FFFFF", c35="FFFFF", c36="FFFFF"))
    found = decided(measured(steady(37, c0="F", c1="F"), {"c0": "FFFF", "c1": "FFFF"}), before)
    assert english.headline(found).startswith(
        "pass_rate rose 2.7 pp over all cases, which may be chance, but fell 5.4 pp in the cases that failed, "
        "confirmed by retrials, more than the 2 pp allowed: two of 37 cases that always passed now fail"
    )


def test_explanation__of_a_metric_that_rose_says_so() -> None:
    before = known(steady(37, "FFFFF", **every(20, "PPPPP")))
    loose = DROP.model_copy(update={"max_drop": 0.05})
    found = decided(measured(steady(37, c0="F"), {"c0": "FFFF"}), before, loose)
    assert english.explanation(outcome_of(found)).startswith("pass_rate rose 43.2 pp")


def test_headline__of_the_only_case() -> None:
    found = decided(measured({"c0": "F"}, {"c0": "FFFF"}), known({"c0": "PPPPP"}))
    assert ": the only case, which always passed, now fails in 4 of 4 retrials; " in english.headline(found)


def test_reasons_of_other_numbers__blame_no_failures() -> None:
    before = known(steady(10))
    dear = [result(f"c{n}", tokens=(1000, 100)) for n in range(10)]
    now = report(run(dear, target=TARGET, random=True))
    rules = [Rule(metric=name, max_rise=10) for name in ("total_input_tokens", "total_output_tokens")]
    reasons = decided(now, before, *rules).reasons
    assert len(reasons) == 2
    assert not any("same failures" in english.message(reason) for reason in reasons)


# --- how many questions -----------------------------------------------------------------------------------------------


def test_outcome_metrics_of_the_same_cases__are_one_question() -> None:
    found = decided(measured(steady(37, c0="F"), {"c0": "FFFF"}), FIVE, DROP)
    assert (evidence_of(found).tests, evidence_of(found, "overall_rate").tests) == (1, 1)


def test_rates_over_some_of_the_cases__are_questions_of_their_own() -> None:
    names = ("csr", "safety_accuracy", "posix_compliance_rate")
    found = decide_report(
        commands(1, failed=3), commands_baseline(5), Policy(rules=[Rule(metric=m, max_drop=0.0) for m in names])
    )
    tests = {rule.rule.metric: rule.evidence.tests for rule in found.verdict.rules if rule.evidence}
    assert tests == dict.fromkeys(names, 3)


def commands(count: int, failed: int = 0) -> Report:
    results = [
        result(
            f"c{index}",
            "failed" if index < failed else "passed",
            category=category,
            trial=number,
            details=CommandDetails(),
        )
        for index, category in enumerate(("safety", "posix", "file") * 4)
        for number in range(1, count + 1)
    ]
    found = run(results, kind="command", target=TARGET, trials=count, random=True)
    return report(found.model_copy(update={"metrics": measure(results).metrics, "categories": {}}))


def commands_baseline(count: int) -> Baseline:
    return make_baseline(commands(count), "report.json", None, {"command": kind_named("command")})
